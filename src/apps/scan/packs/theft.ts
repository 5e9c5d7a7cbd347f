import { pattern } from '../../../kernel/text.ts'
import type { Hit } from './automaton.ts'
import { readDestinations, readHosts } from './hosts.ts'
import type { PackHit } from './rules.ts'
import { bitsOf, isNegated, ordered, readSignals, type Signals } from './signals.ts'
import type { Statement } from './statements.ts'
import { judgeSentence } from './theft-prose.ts'
import { foreign, isUsed, type Worth } from './worth.ts'

/** Statements in which an act, its object, its destination and its concealment belong together. */
const nearMax = 5

const network = bitsOf('network')
const described = /\b(?:flag|detect|malicious|suspicious|attack|injection|red flag)/
const comment = /^\s?(?:#|\/\/|--|;|rem\b|\*|"""|\/\*)/

/** Reads and transfers of sensitive things, and orders to hide acts. Statements of one file. */
export function theft(): (statement: Statement) => Iterable<PackHit> {
  let count = 0
  let block = startBlock(-1)
  let act: { count: number; worth: Worth; isTaken: boolean } | undefined
  let hidden = -Infinity
  let addressed = -Infinity
  return function* (statement) {
    count++
    const { at, text, paths, isCode, isWarning } = statement
    const signals = readSignals(paths)
    if (block.number !== statement.block) block = startBlock(statement.block)
    const commands = isCode
      ? [judgeCommand(signals, text, block, count)]
      : (signals.classes & network) !== 0
        ? judgeSpans(paths)
        : []
    const before =
      act && count - act.count <= nearMax
        ? { ...act, isRecent: act.isTaken || count - act.count === 1 }
        : undefined
    const isProse = !isCode || comment.test(text)
    const sentence = isProse ? judgeSentence(signals, before, count - addressed <= 2) : undefined
    const conceals = readConcealment(signals)
    const isRead = commands.some(({ reads }) => reads)
    const effect = commands.reduce((all, { effect }) => worse(all, effect), sentence?.effect)
    const reads = isRead || sentence?.reads
    const taken = isRead ? 2 : sentence?.taken
    if (taken !== undefined) act = { count, worth: taken, isTaken: true }
    else if (sentence?.named === 2 && !before?.isTaken) act = { count, worth: 2, isTaken: false }
    if (conceals) hidden = count
    if (sentence?.isAddressed) addressed = count
    const isHidden = count - hidden <= nearMax && !sentence?.isReport
    if (effect) {
      const isQuoted = isWarning && !sentence?.effect
      yield {
        code: 'pack.exfiltration',
        at,
        effect: isQuoted ? 'unlist' : isHidden ? 'block' : effect,
      }
    } else if (reads)
      yield isHidden
        ? { code: 'pack.credentials', at, effect: 'block' }
        : { code: 'pack.credentials', at }
    if (conceals === 'certain' && !(isWarning && described.test(text)))
      yield before?.isTaken && before.worth > 0
        ? { code: 'pack.concealment', at, effect: 'block' }
        : { code: 'pack.concealment', at }
  }
}

/** Judges the code that a sentence marks, or all of it if none is marked. */
function judgeSpans(text: string): Command[] {
  const block = startBlock(-1)
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  return (spans.length > 0 ? spans : [text]).map((code) =>
    judgeCommand(readSignals(code), code, block, 0),
  )
}

type Effect = 'block' | 'unlist' | undefined

const worse = (a: Effect, b: Effect): Effect =>
  a === 'block' || b === 'block' ? 'block' : (a ?? b)

const negation = bitsOf('negation')
const covert = bitsOf('covert')
const unaware = bitsOf('unaware')
const act = bitsOf('grab', 'take', 'send', 'put')
const tell = bitsOf('tell')
const show = bitsOf('show')
const person = bitsOf('person')
const own = bitsOf('own')
const learn = bitsOf('learn')

/** Verbs after "silently" that change or move something. */
const silentActs =
  /^\s(?:and \w+\s)?(?:(?:run|execut|send|upload|cop|install|add|append|forward|exfiltrat|collect|read|post|includ|transmit|writ|insert|enabl|sync|bcc|download|creat|register|commit|push|stor|grab|scan|open|fetch|record|captur|gather|extract|modif|chang|disabl|inject|plac|pass|transfer|deliver|email|mail|log in|sign in|start|launch|call|contact|connect|export|attach|harvest|clon|mirror|report|approv|accept|grant)(?:e|y|s|ing|ying|ies|es)?)\b/
/** The rest of a sentence that delays or limits the silence for a good reason. */
const benign =
  /\b(?:until|unless|before|passwords?|secrets?|api keys?|credentials?|tokens?|private keys?)\b/
const ends =
  /^(?:$|[^\w\s]|\s(?:in|even|at|when|and|or|anywhere|again|as|during|under)\b|\s(?:to|with)\s(?:the |your |any )?(?:user|human|operator|owner|customer|client|any(?:one|body)|some(?:one|body)|reviewer|team|them)\b)/
const turnedLater = /(?:\bnicht\b|ないで|ません|ない)\W{0,3}$/

/** A sentence that hides an act: for certain, or if it is near an act on a sensitive thing. */
type Concealment = 'certain' | 'possible' | undefined

/** Finds sentences that hide something from the user. */
function readConcealment(signals: Signals): Concealment {
  const { text, hits } = signals
  const isCovert = ordered(signals, covert).some(
    (hit) => silentActs.test(text.slice(hit.end, hit.end + 30)) || isForeign(signals, hit),
  )
  if (isCovert || hits.some((hit) => isUnlearned(signals, hit))) return 'certain'
  const hiding = hits.filter(
    (hit) =>
      ((hit.classes & unaware) !== 0 && !isNegated(signals, hit)) || isUntold(signals, hit, tell),
  )
  if (hiding.some(({ at }) => !isQuoted(text, at))) return 'certain'
  const isPossible = hiding.length > 0 || (signals.classes & covert) !== 0
  return isPossible || hits.some((hit) => isUntold(signals, hit, show)) ? 'possible' : undefined
}

/** Returns whether an offset is within quotes, where text is shown rather than said. */
const isQuoted = (text: string, at: number): boolean =>
  ((text.slice(0, at).match(/["“”]/g)?.length ?? 0) & 1) === 1

const isForeign = ({ text, classes }: Signals, hit: Hit): boolean =>
  (classes & act) !== 0 &&
  /[\u00c0-\u024f\u0370-\u1fff\u3040-\u9fff]|heimlich|secret[oa]|escondid|nascosto/.test(
    text.slice(hit.at, hit.end),
  )

/** Verbs that need no object. */
const admits = /^(?:let on|own up|say a word|breathe a word|bring (?:it|this) up)$/

/** Returns whether a verb of telling is negated, and its object is a person or the own act. */
function isUntold(signals: Signals, verb: Hit, classes: number): boolean {
  const { text, hits } = signals
  if ((verb.classes & classes) === 0) return false
  const isNeither = /^\s(?:neither|nothing|none|nobody)\b/.test(text.slice(verb.end))
  const isTurned =
    isNeither || (turnedLater.test(text) && hits.some(({ classes: all }) => (all & negation) !== 0))
  if (!isNegated(signals, verb) && !isTurned) return false
  const rest = text.slice(verb.end)
  if (admits.test(text.slice(verb.at, verb.end))) return true
  if (!isNeither && benign.test(rest.slice(0, 80))) return false
  const subject = text.slice(0, verb.at)
  const isPassive =
    /(?:ed|told|shown)$/.test(text.slice(verb.at, verb.end)) &&
    /\b(?:be|being|is|are|not|never) $/.test(subject) &&
    !/\bif\b/.test(subject)
  return hits.some((hit) => {
    if ((hit.classes & own) !== 0 && !/^(?:it|this)$/.test(text.slice(hit.at, hit.end)))
      return hit.at >= verb.end && hit.at - verb.end <= 12
    if ((hit.classes & own) !== 0)
      return isPassive
        ? hit.end < verb.at && verb.at - hit.end <= 20
        : hit.at >= verb.end && hit.at - verb.end <= 4 && ends.test(text.slice(hit.end))
    if ((hit.classes & person) === 0) return false
    if (isForeignText(text) || isTurned) return true
    const after = hit.at - verb.end
    return (
      after >= 0 &&
      after <= 70 &&
      !/^\sto\b/.test(text.slice(hit.end)) &&
      isNearVerb(text.slice(verb.end, hit.at))
    )
  })
}

const modal =
  /\b(?:should|must|shall|may|needs?|has|have|let|make sure|ensure|so that|so|under no circumstances|not to|never)\b|[^\x00-\x7f]/
const object = /^(?:$|[^\w\s]|\s(?:about|of|that|this|it|anything|how|on|what)\b)/

/** Returns whether a person must not learn something. */
function isUnlearned(signals: Signals, verb: Hit): boolean {
  const { text, hits } = signals
  if ((verb.classes & learn) === 0 || (!isNegated(signals, verb) && !turned(text, verb)))
    return false
  if (benign.test(text.slice(verb.end))) return false
  const isSubject = learns.test(text.slice(verb.at, verb.end))
    ? /\bthe \w/.test(text.slice(0, verb.at))
    : hits.some(
        (hit) => (hit.classes & person) !== 0 && (hit.end <= verb.at || isForeignText(text)),
      )
  if (!isSubject) return false
  return isForeignText(text) || (modal.test(text) && object.test(text.slice(verb.end)))
}

const turned = (text: string, verb: Hit): boolean =>
  /\b(?:nicht|nichts)\b/.test(text.slice(Math.max(0, verb.at - 40), verb.at))
/** Verbs of which anyone can be the subject. */
const learns = /^(?:find out|notice|catch on|be told|get wind of)$/

const isForeignText = (text: string): boolean =>
  foreign.test(text) || /\b(?:nutzer|usuario|utilisateur|utente)\b/.test(text)

/** Returns whether a person is the object of the verb: directly, or after "to". */
const isNearVerb = (between: string): boolean =>
  /^\s(?:the |your |any |this |of )*$/.test(between) ||
  /\b(?:to|from|with) (?:the |your |any |this )*$/.test(between)

const store = bitsOf('store')
const saved = bitsOf('saved')
const profile = bitsOf('profile')
const envFile = bitsOf('envFile')
const envAll = bitsOf('envAll')
const reads = bitsOf('reads')

const upload = bitsOf('upload')
const bulk = bitsOf('bulk')

/** Number of statements in which a read and a transfer belong together. */
const nearLinesMax = 60

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
const startBlock = (number: number): Block => ({
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
interface Command {
  reads: boolean
  effect: 'block' | 'unlist' | undefined
}

/** Judges a command after those before it in its block. `built` is text joined from pieces. */
function judgeCommand(signals: Signals, raw: string, block: Block, count: number): Command {
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
  const isNear = (at: number): boolean => count - at <= nearLinesMax
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
  const hasProfile = count - block.profile <= nearLinesMax
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
