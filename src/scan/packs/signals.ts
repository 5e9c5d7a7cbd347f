import { lookUp } from '../../core/schema.ts'
import { pattern } from '../pattern.ts'
import { acts } from './acts.ts'
import { type Automaton, compile, type Hit, type Term } from './automaton.ts'
import { things } from './things.ts'

type Class = keyof typeof things | keyof typeof acts | 'cue'

/**
 * Terms for the rules that match regular expressions: each match has at least one of them. A test
 * runs these rules on all statements and compares the findings.
 */
const cues: readonly string[] = [
  // orders.ts
  'ignor*|disregard*|forget*|overrid*|bypass*|drop|discard|cancel|replace|supersede*|obey|do not follow|stop following|you are|* mode|<*|[inst]|[/inst]|system*|precedence|priority|hidden instructions|developer message|http*',
  '*phrase*|*mnemonic*|*words|*word|private key*|secret recovery*|eth|btc|sol|usdc|usdt|fund*|balance*|token*|coin*|crypto*|fee*|tip|tips|donation|royalty|approv*|pyperclip*|pbcopy|set-clipboard|clipboard*|xclip',
  // commands.ts
  'curl|wget|aria2c|iwr|irm|invoke-*|*download*|exec*|eval*|new function*|/dev/*|nc|ncat|netcat|socat|mkfifo|*socket*|fsockopen|*tcpclient|*sh -i*|rm|*rmtree*|rmsync*|rimraf*|*no-preserve-root|dd|mkfs*|:()*|*-delete|*-exec|del|erase|rd|rmdir|remove-item|format c:|format d:|format e:|format f:|format g:|format h:|diskpart|vssadmin*|wbadmin*|cipher*',
  'delete all|delete every*|erase all|erase every*|wipe all|wipe every*|destroy all|destroy every*|remove all|remove every*',
  // encoded.ts
  'base64|base32|*base64*|xxd|openssl|rev|tr|gunzip|printf*|settimeout*|os.system*|subprocess*|execsync*|vm.run*|*-e|*-en*|fromhex*|unhexlify*|atob*|zlib*|marshal*|codecs*|fromcharcode*|unescape*',
  // protection.ts
  'authorized_keys|crontab|*/cron*|.bashrc|.zshrc|.bash_profile|.profile|.zprofile|.zshenv|launchctl|*library/launch*|schtasks|currentversion*|systemctl|*.git/hooks*|*hookspath|.claude/*|.cursor/*|.codex/*|.gemini/*|.vscode/*|copilot-instructions*|git config --global*|pretooluse|posttooluse|sessionstart|userpromptsubmit|claude.md|agents.md|gemini.md|soul.md|memory.md|heartbeat.md|identity.md|*memory*|config set',
  '*--dangerously*|*--yolo|bypasspermissions|skip-permissions|spctl|xattr|*mppreference|setenforce|csrutil|*executionpolicy|-ep bypass|nopasswd*|ufw|iptables|netsh|chmod|docker|*--privileged|auto-approve|autoapprove|sandbox*|permission*|approval*|*virus|gatekeeper|firewall|defender|safety|security|"allow"*|"permission*|allowed-tools*|approval_policy*',
]

const tables: Readonly<Record<string, readonly string[]>> = { ...things, ...acts, cue: cues }
const bits = new Map(Object.keys(tables).map((name, index) => [name, 1 << index]))

/** Returns the bits of classes of the lexicon. */
export const bitsOf = (...classes: Class[]): number =>
  classes.reduce((all, name) => all | (bits.get(name) ?? 0), 0)

/** Classes of verbs whose other forms are added. */
const verbs = new Set(['grab', 'take', 'seek', 'send', 'put', 'tell', 'show'])
const passives = new Set(['send', 'put', 'tell', 'show'])

function terms(): Term[] {
  const all = new Map<string, number>()
  for (const [name, lists] of Object.entries(tables))
    for (const term of lists.flatMap((list) => list.split('|')))
      for (const form of verbs.has(name) ? formsOf(term, name) : [term])
        all.set(form, (all.get(form) ?? 0) | (bits.get(name) ?? 0))
  return [...all].map(([text, classes]) => ({ text, classes }))
}

/** Returns a verb with its forms: "send", "sending", and "sends" where others act. */
function formsOf(term: string, name: string): string[] {
  const [, verb = '', rest = ''] = /^([a-z-]+)(.*)$/.exec(term) ?? []
  if (verb === '' || rest.endsWith('*')) return [term]
  const stem = verb.replace(/e$/, '')
  const doubled = /[^aeiou][aeiou][bgptn]$/.test(verb) ? [`${verb}${verb.at(-1)}`] : []
  const forms = [verb, `${stem}ing`, ...doubled.map((base) => `${base}ing`)]
  if (name === 'grab' || name === 'take')
    forms.push(
      ...[lookUp(irregular, verb) ?? `${stem}ed`, ...doubled.map((base) => `${base}ed`)].map(
        (form) => `be ${form}`,
      ),
    )
  if (passives.has(name))
    forms.push(lookUp(irregular, verb) ?? `${stem}ed`, ...doubled.map((base) => `${base}ed`))
  if (name === 'send') forms.push(/(?:s|sh|ch)$/.test(verb) ? `${verb}es` : `${verb}s`)
  return forms.map((form) => form + rest)
}

const irregular: Record<string, string> = {
  send: 'sent',
  tell: 'told',
  give: 'given',
  hand: 'handed',
  feed: 'fed',
  write: 'written',
  keep: 'kept',
  hide: 'hidden',
  show: 'shown',
  copy: 'copied',
  supply: 'supplied',
  sell: 'sold',
  bring: 'brought',
  read: 'read',
  take: 'taken',
  get: 'got',
  steal: 'stolen',
  leave: 'left',
}

let lexicon: Automaton | undefined

/** Returns the automaton of all classes, compiled at first use. */
const getLexicon = (): Automaton => (lexicon ??= compile(terms()))

const alone = bitsOf(
  'cue',
  'store',
  'saved',
  'envFile',
  'envAll',
  'secret',
  'seed',
  'personal',
  'outside',
  'covert',
  'unaware',
  'tell',
  'learn',
  'network',
  'bulk',
)

/** Characters that `plain` changes so that other terms appear, and emphasis within words. */
const disguised = pattern(
  'i',
  String.raw`[\u00ad\u0300-\u036f\u061c\u180e\u1d00-\u1dbf\u200b-\u200f\u2060-\u209f\u2100-\u214f\u2460-\u24ff`,
  String.raw`\ufb00-\ufb06\ufeff\uff01-\uff5e\ud835\udb40]|[a-z][\u0370-\u058f]|[\u0370-\u058f][a-z]|`,
  String.raw`[a-z]\*{1,3}[a-z]|\\\s*\n`,
)

const sensitive = bitsOf('store', 'saved', 'envFile', 'envAll', 'secret', 'seed')

const cue = bitsOf('cue')

/** Terms of a text that make it worth its normal form. */
export interface Interest {
  /** Names a thing to which the text after it can refer. */
  isSensitive: boolean
  /** The rules that match regular expressions can match. */
  hasCue: boolean
}

/** Returns the interest of a text, or undefined if no rule can match it by itself. */
export function interestOf(text: string): Interest | undefined {
  const classes = getLexicon().classesOf(text)
  const hasCue = (classes & cue) !== 0 || disguised.test(text)
  if (!hasCue && (classes & alone) === 0) return undefined
  return { isSensitive: (classes & sensitive) !== 0, hasCue }
}

/** The terms of a statement, in order. */
export interface Signals {
  text: string
  hits: readonly Hit[]
  classes: number
}

/** Finds the terms of a text in lower case. */
export function readSignals(text: string): Signals {
  const hits = getLexicon().find(text)
  return { text, hits, classes: hits.reduce((all, hit) => all | hit.classes, 0) }
}

const negation = bitsOf('negation')
const verb = bitsOf('grab', 'take', 'send', 'put', 'tell', 'show')
const asks =
  /^\s(?:forget|hesitate|fail|worry|skip|miss|only|stop|omit|neglect|just|need|wait|exceptions?|matter|longer|mind|be afraid)\b/
const affirms =
  /\b(?:why not|whether or|if not|not only|no matter|no longer|no problem|no worries)\b/
const exclusive = /^(?:rather than|instead of|without)$/
const turned = /^(?:ない|ません|ず)/

/** Returns whether a term is negated by words before it in its clause. */
export function isNegated({ text, hits }: Signals, hit: Hit): boolean {
  if (turned.test(text.slice(hit.end, hit.end + 3))) return true
  return hits.some((other) => {
    if ((other.classes & negation) === 0 || other.end > hit.at || hit.at - other.end > 90)
      return false
    if (asks.test(text.slice(other.end, other.end + 14))) return false
    if (affirms.test(text.slice(Math.max(0, other.at - 12), other.end + 8))) return false
    const between = text.slice(other.end, hit.at)
    if (exclusive.test(text.slice(other.at, other.end)) && /[,，]/.test(between)) return false
    if (/[.;:!?。；：！)]\s|[。；！]|\bbut\b|\bthen\b|\binstead\b/.test(between)) return false
    return (
      !/[,，、](?!\s?(?:or|nor|and|not|under|ever|at)\b)/.test(between) ||
      !hasVerb(hits, other, hit, text)
    )
  })
}

/** Returns whether the negation has its verb before a comma, so that the next clause is free. */
function hasVerb(hits: readonly Hit[], from: Hit, to: Hit, text: string): boolean {
  return hits.some(
    (hit) =>
      (hit.classes & verb) !== 0 &&
      hit.at >= from.end &&
      hit.end < to.at &&
      /^[^,，、]{4,80}[,，、]/.test(text.slice(hit.end, to.at)),
  )
}

/** Returns the terms of classes that are not negated. */
export const ordered = (signals: Signals, classes: number): Hit[] =>
  (signals.classes & classes) === 0
    ? []
    : signals.hits.filter((hit) => (hit.classes & classes) !== 0 && !isNegated(signals, hit))
