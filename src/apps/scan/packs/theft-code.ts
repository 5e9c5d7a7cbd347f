import { pattern } from '../../../kernel/text.ts'
import { readDestinations, readHosts } from './hosts.ts'
import { bitsOf, type Signals } from './signals.ts'
import { isUsed } from './worth.ts'

const store = bitsOf('store')
const saved = bitsOf('saved')
const profile = bitsOf('profile')
const envFile = bitsOf('envFile')
const envAll = bitsOf('envAll')
const reads = bitsOf('reads')
const network = bitsOf('network')
const upload = bitsOf('upload')
const bulk = bitsOf('bulk')

/** Number of statements in which a read and a transfer belong together. */
const nearMax = 60

const interpolated =
  /https?:\/\/[^\s"']{0,200}(?:\$\(|\$\{?\w|\{\w|\{\}|<\w|`|%s)|https?:\/\/[^\s"']{0,200}["']\s?\+|\b(?:dig|nslookup|host|ping)\b.{0,40}\$|\burlopen\([^()]{1,200},|\$\(.{1,120}\)\.[\w-]{2,60}\.\w{2,10}/
const intoSsh = /\|\s?ssh\s/
const dumpsEnvironment = /(?:^|[;&|(`{]\s?)(?:env|history)\s?(?:\||>|`|\))/
const defines = /[\w$\])]\s?(?::|\+)?=\s?[^=]|\bfor\b|\bjoin\b|path|=>|\breturn\b|^\s?["']/
const isListed = /\b(?:deny|denied|exclude|ignore|gitignore|forbid\w*)\b|^\s?!/
const readsFile = pattern(
  '',
  String.raw`\b(?:cat|less|more|head|tail|type|get-content|gc|base64|xxd|strings|cp|copy|grep|gzip|tar|zip|open|readfile(?:sync)?|`,
  String.raw`read_text|read|file_get_contents|glob|iglob|rglob|readalltext|select-string|get-childitem|gci|bun\.file|sqlite3|awk|sed|jq|tee|curl|scp|rsync|`,
  String.raw`mail|nc)\b[^|;&]{0,120}\.env|[@<]\s?\S{0,60}\.env|\.env\S{0,12}["'\u0060]\s?\)\.(?:read|open)|include='?\.env|\bfind\b[^|;&]{0,80}\.env\b[^|;&]{0,60}-exec`,
)
/** Uses of a file of variables that take no values out: loaders, names, checks. */
const loads =
  /\b(?:source|dotenv|load_env|grep -(?:q|c|l)|cut -d ?['"]?=['"]? -f ?1|export \$\()|\bcp \S{0,60}\.env\S{0,20} \S{0,60}\.env|\bset -a\b|>\s?\S{0,60}\.env|\.env\S{0,12}["'`]?\s?(?:\)\s?)?\.exists|console\.(?:log|error)|\becho\b|--from-env-file|secret set/
const secretVariable = /\$\{?\w{0,40}(?:key|token|secret|passw(?:or)?d|credential)s?\b/
/** A key of a wallet that a page has stored. */
const storedKey = /\bgetitem\(\s?["'`](?:mnemonic|seed|private_?key|wallet)/
const inHeader =
  /-h\s?(?:"[^"]{0,300}"|'[^']{0,300}')|-u\s\S{1,200}|api\.telegram\.org\/bot\$\{?\w+/g
const authEndpoint = /https?:\/\/\S{0,200}(?:token|oauth|login|auth|session|sign-?in)/

/** State of a block of code: the counts of the statements that did something last. */
export interface Block {
  number: number
  taken: number
  bulk: number
  network: number
  upload: number
  remote: number
  isDrop: boolean
  isInterface: boolean
  profile: number
}

/** Returns the state of a block of which nothing is known. */
export const startBlock = (number: number): Block => ({
  number,
  taken: -Infinity,
  bulk: -Infinity,
  network: -Infinity,
  upload: -Infinity,
  remote: -Infinity,
  profile: -Infinity,
  isDrop: false,
  isInterface: false,
})

/** Result for a command about sensitive things. */
export interface Command {
  reads: boolean
  effect: 'block' | 'unlist' | undefined
}

/** Judges a command after those before it in its block. `built` is text joined from pieces. */
export function judgeCommand(signals: Signals, raw: string, block: Block, count: number): Command {
  const { text, classes } = signals
  const found = taken(signals, raw, block, count)
  if (found !== undefined) block.taken = count
  if ((classes & bulk) !== 0) block.bulk = count
  const hosts = readHosts(text)
  const calls = (classes & network) !== 0 || intoSsh.test(text)
  const sends = (classes & upload) !== 0 || interpolated.test(text) || intoSsh.test(text)
  if (calls) block.network = count
  if (sends) block.upload = count
  if (
    (calls || hosts.remote) &&
    (hosts.remote || readDestinations(text).length > 0 || /\bnc\s\S+\s\d/.test(text))
  ) {
    block.remote = count
    block.isDrop ||= hosts.isDrop
    block.isInterface = hosts.isInterface
  }
  return {
    reads: found === 'reads',
    effect: effectOf(block, count) ?? (calls ? effectOfVariable(text, sends, hosts) : undefined),
  }
}

function effectOf(block: Block, count: number): Command['effect'] {
  const last = Math.max(block.taken, block.bulk)
  const isNear = (at: number): boolean => count - at <= nearMax
  if (![last, block.network, block.upload, block.remote].every(isNear)) return undefined
  if (![last, block.network, block.upload, block.remote].includes(count)) return undefined
  if (block.taken !== last) return block.isDrop ? 'block' : 'unlist'
  return block.isInterface && !block.isDrop ? 'unlist' : 'block'
}

function effectOfVariable(
  text: string,
  sends: boolean,
  { isDrop, remote }: { isDrop: boolean; remote: boolean },
): Command['effect'] {
  if (secretVariable.test(text.replace(inHeader, ''))) {
    if (isDrop) return 'block'
    if (sends && /-d|-f|data|body|form/.test(text) && remote && !authEndpoint.test(text))
      return 'unlist'
  }
  if (sends && remote && storedKey.test(text)) return 'block'
  return sends && isDrop ? 'unlist' : undefined
}

/** Returns whether a command reads a credential store, or takes something that matters if sent. */
function taken(
  signals: Signals,
  raw: string,
  block: Block,
  count: number,
): 'reads' | 'takes' | undefined {
  const { text, hits, classes } = signals
  if ((classes & profile) !== 0) block.profile = count
  if (isListed.test(text)) return undefined
  const isRead = (classes & reads) !== 0 || defines.test(text)
  const hasProfile = count - block.profile <= nearMax
  const stores = hits.filter(({ classes: all, at, end }) => {
    const isSaved =
      (all & saved) !== 0 && hasProfile && /["'`/]\s?$/.test(text.slice(Math.max(0, at - 2), at))
    return ((all & store) !== 0 || isSaved) && !isUsed(text, at, end)
  })
  if (stores.length > 0 && isRead) return 'reads'
  if ((classes & envFile) !== 0) {
    const isBuilt = !raw.includes('.env')
    const files = hits.filter(
      ({ classes: all, at, end }) =>
        (all & envFile) !== 0 && /[._]/.test(text.slice(at, end)) && !isUsed(text, at, end),
    )
    if (files.length > 0 && isBuilt && /\.env\b/.test(text)) return 'reads'
    if (
      files.length > 0 &&
      !loads.test(text) &&
      (readsFile.test(text) || (!/\.env/.test(text) && isRead))
    )
      return 'reads'
  }
  const dumps = hits.some(
    ({ classes: all, at, end }) => (all & envAll) !== 0 && !isUsed(text, at, end),
  )
  return dumps || dumpsEnvironment.test(text) ? 'takes' : undefined
}
