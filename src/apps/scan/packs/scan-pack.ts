import { findSlur } from '../../../kernel/forbidden-text.ts'
import { pattern } from '../../../kernel/text.ts'
import { findSecrets } from '../secret-patterns.ts'
import { destructive, persistence, protectionOff, remoteCode, reverseShell } from './commands.ts'
import { decodedRuns, decodedTexts, hiddenCharacters, hiddenComments, outOfView } from './hidden.ts'
import { readHosts } from './hosts.ts'
import { getPackRule, type PackHit, type PackScan, toFindings, toPackScan } from './rules.ts'
import { type PackFile, readStatements, type Statement } from './statements.ts'
import { theft } from './theft.ts'

const target = String.raw`(?:instructions?|prompts?|rules?|guidelines?|messages?|directions?|directives?|context|constraints?|polic(?:y|ies)|safeguards?|training|programming|guardrails?)`
const overrides = [
  pattern(
    'g',
    String.raw`\b(?:ignore|disregard|forget|override|bypass|drop|discard|cancel|replace|supersedes?|do not (?:follow|obey)|stop following)\s`,
    String.raw`(?:(?:all|any|every|of|the|your|my|user's|those|these|and|other)\s){0,5}(?:previous|prior|above|earlier|`,
    String.raw`preceding|system|existing|original|initial|former|developer|safety|security|foregoing|current)\s`,
    String.raw`(?:(?:and|or|system|safety|security|user|developer|previous|content|set of)\s){0,3}${target}\b`,
  ),
  pattern(
    'g',
    String.raw`\b(?:ignore|disregard|forget)\s(?:everything|anything|all)\s(?:that\s)?(?:(?:you|the user|we)\s(?:were|was|have been|had been|are)\s(?:told|taught|given)|`,
    String.raw`(?:above|before|so far|previously)\b)`,
  ),
  /\byou are (?:now|no longer) (?:in )?(?:an? )?(?:dan\b|jailbroken|unrestricted|unfiltered|bound by|developer mode|god mode|root\b|evil)/g,
  /\b(?:enter|enable|activate|switch to) (?:developer|god|jailbreak|unrestricted|dan) mode\b/g,
  /<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>/g,
  /(?:^|[^\w`'"])<\/?(?:system|system[-_ ](?:prompt|message|instruction|reminder)|important|admin|developer)>/g,
  /^\W{0,6}(?:new |updated )?system (?:message|prompt|override|update|notice|instructions?)\s?(?::|-)/g,
  /\b(?:these|this|the following|skill) (?:instructions?|rules?|skill)? ?(?:take|have|has|takes) (?:absolute |highest |top )?(?:precedence|priority) over (?:the |all |any |your )?(?:user|system|developer|other|previous|safety)/g,
  /\b(?:reveal|print|output|repeat|disclose) (?:me )?(?:your|the) (?:full |entire |hidden |complete )?(?:system prompt|hidden instructions|developer message)/g,
]
const quotedBefore = /["'`“‘«]\s?[^"'`”]{0,60}$/
const negatedBefore =
  /\b(?:never|do not|don't|must not|should not|cannot|can't|refuse to|not|to) (?:\w+ ){0,2}$/

/** Sentences that replace the instructions of the agent. */
function* override({ text, at, isWarning }: Statement): Generator<PackHit> {
  for (const shape of overrides)
    for (const found of text.matchAll(shape)) {
      const before = text.slice(Math.max(0, found.index - 60), found.index)
      const quoted = quotedBefore.test(before) || negatedBefore.test(before)
      yield { code: 'pack.override', at, effect: quoted || isWarning ? 'unlist' : 'block' }
      return
    }
}

const remoteOrders = [
  /\b(?:fetch|download|load|retrieve|read|get|open|visit|curl|check|pull|browse)\b.{0,200}https?:\/\/\S{1,300}.{0,120}\b(?:follow|execute|obey|apply|run|perform|carry out|adopt|treat|do what)\b.{0,60}\b(?:instruct\w*|steps?|commands?|directions?|it|them|says|contents?|text|prompt|rules|tasks?)\b/,
  /\b(?:follow|execute|obey|apply|run|perform)\b.{0,60}\b(?:instruct\w*|steps?|commands?|directions?|prompt|rules|tasks?)\b.{0,60}\b(?:at|from|in|on|found at|hosted at)\s\W{0,3}https?:\/\//,
  /\b(?:latest|current|updated|remote|live)\s(?:agent\s)?(?:instructions|prompt|directives|tasks|commands)\b.{0,80}https?:\/\//,
]

/** Instructions that another host provides. */
function* remoteInstructions({ text, at, isWarning }: Statement): Generator<PackHit> {
  if (!remoteOrders.some((shape) => shape.test(text))) return
  const hosts = readHosts(text)
  if (!hosts.remote) return
  yield {
    code: 'pack.remote_instructions',
    at,
    effect: hosts.isDrop && !isWarning ? 'block' : 'unlist',
  }
}

const walletWords = String.raw`(?:seed ?phrases?|recovery ?phrases?|secret recovery|mnemonics?(?: phrases?)?|(?:12|24|twelve|twenty-four)[- ]words?|(?:wallet'?s? )?private keys?)`
const asksWallet = [
  pattern(
    '',
    String.raw`\b(?:ask|request|prompt|have|get|require|tell|instruct)\b.{0,60}\b(?:user|human|owner|them|customer)\b.{0,80}\b${walletWords}\b`,
  ),
  pattern(
    '',
    String.raw`\b(?:enter|paste|type|provide|share|give|supply|submit)\s(?:me\s|us\s)?(?:your|their|the user'?s?|the wallet'?s?)\s(?:\w+\s){0,3}${walletWords}\b`,
  ),
]
const movesFunds =
  /\b(?:transfer|send|sweep|move|withdraw|forward|drain|pay)\b.{0,80}\b(?:eth|btc|sol|usdc|usdt|funds?|balances?|tokens?|coins?|crypto\w*|fees?|tips?|donation|royalty)\b.{0,120}(?:\b0x[\da-f]{40}\b|\bbc1[\da-z]{25,60}\b|\b[1-9a-hj-np-z]{43,44}\b)/
const unlimitedApproval =
  /\bapprove\(.{0,120}(?:maxuint|max_uint|2\s?\*\*\s?256|uint256\)\.max)|\bapprov\w+ (?:an? |the )?(?:unlimited|infinite|maximum) (?:token )?(?:allowance|spend\w*|amount|approval)|(?:pyperclip\.copy|pbcopy|set-clipboard|clipboard\.write\w*|xclip)\b.{0,80}\b(?:0x[\da-f]{40}|bc1[\da-z]{25,60}|[13][a-km-z\d]{25,34})\b|\b(?:seed ?phrase|recovery phrase|mnemonic|private key)\b.{0,120}\bsign\b.{0,80}\b0x[\da-f]{40}\b|\b(?:swap|replace|change|exchange|substitute)\b.{0,60}\baddress(?:es)?\b.{0,80}\b(?:0x[\da-f]{40}|bc1[\da-z]{25,60})\b/
const neverAsks = /\b(?:never|do not|don't|must not|should not|refuse to|cannot|without)\b/

/** Requests for the keys of a wallet, and payments to an address of the maker. */
function* wallet({ text, at, isWarning }: Statement): Generator<PackHit> {
  const isNegated = neverAsks.test(text)
  if (!isNegated && asksWallet.some((shape) => shape.test(text)))
    yield { code: 'pack.wallet', at, effect: isWarning ? 'unlist' : 'block' }
  else if (movesFunds.test(text) || unlimitedApproval.test(text))
    yield { code: 'pack.wallet', at, effect: 'unlist' }
}

/** Statements of one pack. More make it `pack.too_dense`. */
const statementsMax = 12_000
const hitsMax = 2_000
const hiddenMax = 4_000
/** Statements between two turns of the event loop: about 2 ms. */
const turnLength = 20

/** Yields the findings of a statement. */
type StatementRule = (statement: Statement) => Iterable<PackHit>

/** Rules that match regular expressions. Each match has a term of the cues in signals.ts. */
export const statementRules: readonly StatementRule[] = [
  override,
  remoteInstructions,
  wallet,
  remoteCode,
  reverseShell,
  decodedRuns,
  destructive,
  persistence,
  protectionOff,
]

/**
 * Scans the text files of a pack (docs/spec/packs-and-runs.md, "Packs"). Linear in their length and
 * bounded; never throws. Returns to the event loop every few milliseconds.
 */
export async function scanPack(files: readonly PackFile[]): Promise<PackScan> {
  const budget = { statements: statementsMax }
  const findings = []
  for (const file of files) {
    const hits: PackHit[] = []
    for (const found of scanFile(file, budget)) {
      if (found !== 'turn') hits.push(found)
      else await new Promise((resolve) => setImmediate(resolve))
      if (hits.length >= hitsMax) break
    }
    findings.push(...toFindings(file, hits))
  }
  return toPackScan(findings)
}

interface Budget {
  statements: number
}

/** Yields the hits of a file, and `turn` where others may run. */
function* scanFile(file: PackFile, budget: Budget): Generator<PackHit | 'turn'> {
  yield* hiddenCharacters(file)
  yield* outOfView(file)
  for (const { name, at } of findSecrets(file.text))
    yield {
      code: 'secret.leak',
      at,
      help: `This looks like a live ${name}. ${getPackRule('secret.leak').help}`,
    }
  const slur = findSlur(file.text)
  if (slur !== undefined) yield { code: 'pack.text_policy', at: slur }
  yield 'turn'
  yield* scanComments(file)
  yield* scanDecoded(file)
  yield 'turn'
  const findTheft = theft()
  for (const statement of readStatements(file)) {
    if (statement === 'turn') {
      yield statement
      continue
    }
    if (budget.statements-- <= 0) return yield { code: 'pack.too_dense', at: statement.at }
    yield* judgeStatement(statement, findTheft)
    if (budget.statements % turnLength === 0) yield 'turn'
  }
}

/** Judges comments: instructions in them are kept off Explore, dangerous ones are blocked. */
function* scanComments(file: PackFile): Generator<PackHit | 'turn'> {
  for (const { at, text, isAddressed } of hiddenComments(file)) {
    yield 'turn'
    const isDangerous = judge(text).length > 0
    if (isDangerous || isAddressed)
      yield { code: 'pack.hidden_comment', at, effect: isDangerous ? 'block' : 'unlist' }
  }
}

function* scanDecoded(file: PackFile): Generator<PackHit | 'turn'> {
  const texts = decodedTexts(file)
  for (let next = texts.next(); ; next = texts.next()) {
    if (next.done) return next.value ? undefined : yield { code: 'pack.too_dense', at: 0 }
    yield 'turn'
    const { at, text, isDangerous } = next.value
    if (isDangerous || judge(text).length > 0)
      yield { code: 'pack.encoded_command', at, effect: 'block' }
  }
}

/** Applies the rules for statements to a text that readers do not see. */
function judge(text: string): PackHit[] {
  const findTheft = theft()
  const statements = [...readStatements({ path: 'hidden.md', text: text.slice(0, hiddenMax) })]
  return statements.flatMap((statement) =>
    statement === 'turn' ? [] : [...judgeStatement(statement, findTheft)],
  )
}

function* judgeStatement(statement: Statement, findTheft: StatementRule): Generator<PackHit> {
  if (statement.hasCue) for (const rule of statementRules) yield* rule(statement)
  yield* findTheft(statement)
}
