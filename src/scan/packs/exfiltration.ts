import { pattern } from '../pattern.ts'
import type { PackHit } from './findings.ts'
import { readHosts } from './hosts.ts'
import { readSensitive, type Sensitive } from './sensitive.ts'
import type { Statement } from './statements.ts'

/** Number of statements in which a read and a transfer belong together. */
const nearMax = 40

const network = pattern(
  '',
  String.raw`\b(?:curl|wget|nc|ncat|netcat|socat|scp|rsync|sftp|ftp|iwr|irm|invoke-webrequest|`,
  String.raw`invoke-restmethod|requests?\.(?:post|put|get|request)|httpx\.\w|aiohttp|urlopen|http\.client|`,
  String.raw`axios|got\.post|fetch\(|xmlhttprequest|websocket|sendbeacon|https?\.request|net\.connect|`,
  String.raw`dig\s|nslookup\s|sendmail|mail\s-s|smtplib|gh gist|aws s3 (?:cp|sync|mv)|gsutil|rclone|`,
  String.raw`git push|uploadstring|uploadfile|telegram)`,
)
const upload = pattern(
  '',
  String.raw`\s(?:-d|-f|-t|--data(?:-\w{1,12})?|--form|--upload-file|--post-(?:data|file)|--body-file)[\s=@"']|`,
  String.raw`\b(?:post|put)\(|method["']?\s?[:=]\s?["']?(?:post|put)|-method\s(?:post|put)|-infile\s|`,
  String.raw`-body\s|\|\s?(?:curl|nc|ncat|netcat)\b|\b(?:nc|ncat|netcat)\b.{0,80}<|\b(?:scp|rsync|sftp)\s|`,
  String.raw`smtplib|sendmail|gh gist create|aws s3 (?:cp|sync|mv)|rclone copy|uploadstring|uploadfile|sendbeacon`,
)
const interpolated =
  /https?:\/\/\S{0,200}(?:\$\(|\$\{?\w|\{\w|<\w|`|%s)|\b(?:dig|nslookup|host|ping)\b.{0,40}\$\(|\$\(.{1,120}\)\.[\w-]{2,60}\.\w{2,10}/
const secretVariable = /\$\{?\w{0,40}(?:key|token|secret|passw(?:or)?d|credential)s?\b/
const authEndpoint = /https?:\/\/\S{0,200}(?:token|oauth|login|auth|session|sign-?in)/

const send = pattern(
  'g',
  String.raw`\b(?:send|sends|post|posts|upload|uploads|forward|forwards|transmit|exfiltrate|submit|e-?mail|`,
  String.raw`mail|share|relay|sync|copy|leak|deliver|push|publish|report|beacon|include|append|embed|encode|`,
  String.raw`pass|put|attach|bcc|cc|paste|back ?up|backup|mirror|log)\b`,
)
const destination = pattern(
  '',
  String.raw`https?:\/\/|\b[\w.+-]{1,60}@[\w-]{1,60}\.\w{2,10}\b|\b(?:webhook|remote (?:server|host|endpoint)|`,
  String.raw`external (?:server|host|endpoint|service|url|address)|our (?:server|endpoint|api|backend|collector)|`,
  String.raw`(?:collector|collection|telemetry|tracking|logging|attacker'?s?) (?:server|endpoint|url|host|service)|`,
  String.raw`(?:query|url) (?:string|parameter)s?|image url|pastebin|gist|discord|telegram|dns)\b|`,
  String.raw`\b(?:to|at|via)\s${'`'}?[\w-]{2,60}\.(?:com|net|org|io|dev|xyz|site|ru|cn|top|info|co|me|sh|app|cc)\b`,
)
const address = /https?:\/\/|\b[\w.+-]{1,60}@[\w-]{1,60}\.\w{2,10}\b/
const negated = pattern(
  '',
  String.raw`\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|may not|avoid|refuse to|`,
  String.raw`without|instead of|rather than|attackers?|malware|not|no|nor|forbid|prohibit|prevent)\b(?!\s(?:forget|hesitate|fail|worry|`,
  String.raw`skip|miss|only|stop|omit|neglect|just|need|ask|tell|wait|exceptions?|matter|longer))[^.;:!?]{0,80}$`,
)
const authentication =
  /\b(?:header|authori[sz]ation|bearer|oauth|authenticat\w*|log ?in|sign ?in|x-api-key|token endpoint)\b/
const whole =
  /\b(?:all|any|every|each|contents? of|user'?s|users'|their|found|collected|discovered|stored|stolen|saved|existing)\b/
const pronoun =
  /\b(?:them|it|this|these|those|results?|output|contents?|data|findings|files?|values?|archive|response)\b/
const readVerb = pattern(
  'g',
  String.raw`\b(?:cat|less|more|head|tail|type|get-content|open|readfile(?:sync)?|read_text|read|cp|copy|base64|`,
  String.raw`xxd|strings|grep|tar|zip|7z|collect|gather|extract|find|locate|list|harvest|dump|scan|steal|`,
  String.raw`load|print|show|display|include|sqlite3|exfiltrate|search|retrieve|access|fetch|archive|enumerate|query|pass|gc)\b`,
)

/** Transfers of keys and private files, and reads of credentials. Statements of one file. */
export function exfiltration(): (statement: Statement) => Iterable<PackHit> {
  let count = 0
  let read = { count: -Infinity, block: -1 }
  let mention = -Infinity
  return function* (statement) {
    count++
    const { text, at, isCode, isWarning } = statement
    const sensitive = readSensitive(text)
    const found = isCode || network.test(text) ? commandEffect(text, sensitive) : undefined
    const prose = isCode ? undefined : proseEffect(text, sensitive, count - mention <= 3)
    const reads = isRead(text, sensitive, isCode)
    const follows = count - read.count <= nearMax && (read.block === statement.block || !isCode)
    const moves = isCode ? network.test(text) && upload.test(text) : prose !== undefined
    const later = follows && moves && readHosts(text).remote
    const effect = found === 'block' || prose === 'block' || later ? 'block' : (found ?? prose)
    if (effect)
      yield { code: 'pack.exfiltration', at, effect: isWarning && !prose ? 'unlist' : effect }
    else if (reads) yield { code: 'pack.credentials', at }
    if (reads && !isWarning && !sensitive.isEnvFile) read = { count, block: statement.block }
    if (
      reads ||
      ((sensitive.isWord || sensitive.isPrivate) &&
        /\b(?:collect|gather|copy|find|read|search|get|list|summari[sz]e|save)\b/.test(text))
    )
      mention = count
  }
}

type Effect = 'block' | 'unlist' | undefined

/** Judges a command that names secrets and reaches another host. */
function commandEffect(text: string, sensitive: Sensitive): Effect {
  if (!network.test(text)) return undefined
  const hosts = readHosts(text)
  const sends = upload.test(text) || interpolated.test(text)
  if (sensitive.isPlace && sends) return 'block'
  if (
    sensitive.isEnvFile &&
    upload.test(text) &&
    /[@<]\S{0,60}\.env|cat\s\S{0,60}\.env|open\(/.test(text)
  )
    return 'block'
  if (
    secretVariable.test(text.replace(/-h\s?(?:"[^"]{0,300}"|'[^']{0,300}')|-u\s\S{1,200}/g, ''))
  ) {
    if (hosts.isDrop) return 'block'
    if (upload.test(text) && hosts.remote && !authEndpoint.test(text)) return 'unlist'
  }
  return sends && hosts.isDrop ? 'unlist' : undefined
}

/** Judges a sentence that asks to send secrets. A sentence that forbids it has no effect. */
function proseEffect(text: string, sensitive: Sensitive, follows: boolean): Effect {
  const named = sensitive.isPlace || sensitive.isEnvFile || sensitive.isWord || sensitive.isPrivate
  const refers = follows && pronoun.test(text)
  if (!(named || refers) || !destination.test(text) || !isOrdered(send, text)) return undefined
  const hosts = readHosts(text)
  if (hosts.isDrop || sensitive.isPlace) return 'block'
  if (!address.test(text)) return sensitive.isWord && whole.test(text) ? 'unlist' : undefined
  if (sensitive.isEnvFile) return 'block'
  if (sensitive.isWord) {
    if (authentication.test(text)) return whole.test(text) ? 'unlist' : undefined
    return whole.test(text) ? 'block' : 'unlist'
  }
  return sensitive.isPrivate || refers ? 'unlist' : undefined
}

function isRead(text: string, sensitive: Sensitive, isCode: boolean): boolean {
  if (sensitive.isPlace) return isCode || isOrdered(readVerb, text)
  if (!sensitive.isEnvFile) return false
  return (
    /\b(?:cat|less|more|head|tail|type|get-content|base64|xxd|strings)\s[^|;&]{0,60}\.env\b(?![^|]{0,10}\|\s?(?:xargs|grep -v))|\bopen\([^)]{0,60}\.env\b|\breadfile(?:sync)?\([^)]{0,60}\.env\b|\b(?:print|show|dump|extract|display|collect|read)\s(?:\w{1,12}\s){0,5}[^\s]{0,20}\.env\b/.test(
      text,
    ) &&
    !/(?:export \$\(|source )/.test(text) &&
    (isCode || isOrdered(readVerb, text))
  )
}

/** Returns whether a text has the verb without a negation before it in the same clause. */
function isOrdered(verb: RegExp, text: string): boolean {
  for (const found of text.matchAll(verb))
    if (!negated.test(text.slice(Math.max(0, found.index - 120), found.index))) return true
  return false
}
