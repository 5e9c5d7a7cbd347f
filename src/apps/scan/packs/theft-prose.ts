import type { Hit } from './automaton.ts'
import { readDestinations, readHosts } from './hosts.ts'
import { bitsOf, ordered, type Signals } from './signals.ts'
import { foreign, thingsOf, whole, type Worth, worthOf } from './worth.ts'

const store = bitsOf('store')
const envAll = bitsOf('envAll')
const seed = bitsOf('seed')
const secret = bitsOf('secret')
const grab = bitsOf('grab')
const take = bitsOf('grab', 'take')
const seek = bitsOf('seek')
const give = bitsOf('send', 'put')
const send = bitsOf('send')
const edit = bitsOf('edit')
const outside = bitsOf('outside')
const somewhere = bitsOf('somewhere')

const strong =
  /(?<!\w)(?:private keys?|passwords?|cookies?|ssh keys?|session\w*|secret keys?|credentials?|refresh tokens?|github token|keychain|keystore|personal key|key files?|\.(?:key|pem|p12|pfx|ovpn)|host keys?|\w+_(?:api_key|token|secret|password))(?!\w)/
const authentication =
  /\b(?:header|authori[sz]ation|bearer|oauth|authenticat\w*|log ?in|sign ?in|x-api-key|token endpoint)\b/
const pronoun =
  /\b(?:them|it|its|this|these|those|both|rows?|results?|output|contents?|data|findings|files?|values?|archive|response|csv|json|copy|copies|dump|export|database|bundle|report|digest|summary|list|log|recordings?|numbers|words|answers?|names|attach\w*|everything|whatever|anything|what you \w+)\b|它|内容|结果|их|его|それ/
const refers = /\b(?:it|them|both|this|these|those|that file|its contents?)\b/
const fromStore =
  /\bfrom (?:the |their |a |its |your )?(?:user's )?(?:wallet|keystore|keychain|browser|password manager|credential store|profile)\b/
const moved = /^(?:deliver|forward|upload|transmit|exfiltrat|leak)/
const contentOf = /\b(?:contents?|values?|base64|text|cop(?:y|ies)|lines?|body|rest) of\b/
const inQuery = /https?:\/\/\S{1,200}[?&]\w{0,20}=\S{0,40}passw/
const shared = /^(?:shar|forward|leak|exfiltrat|transmit|upload|hand|send|deliver|transfer)/
/** Sentences that report what others do or ask for. */
const reported =
  /\b(?:attackers?|malware|malicious|stealers?|infostealers?|phish\w*|scam\w*|inject\w*|do not comply|reject|refuse|flag any|red flag|if (?:it|a page|a file|a pack|a skill|someone|somebody|anyone|text) (?:says|asks|tells|requests|wants)|asks (?:you )?(?:to|for)|adversar\w*|compromised|suspicious|den(?:y|ies|ied)|refuses)\b/
const toward =
  /\b(?:to|at|in|into|on|via|with|as|of|through|against|by|for)\b[^.]{0,60}$|[:=?]["'`(<]{0,2}$/
/** Result for a sentence about sensitive things. */
export interface Sentence {
  /** The worth of the thing that it reads, or names for a later sentence. */
  taken: Worth | undefined
  named: Worth | undefined
  /** Reads a credential store. */
  reads: boolean
  effect: 'block' | 'unlist' | undefined
  isReport: boolean
  /** Names an address for a later sentence. */
  isAddressed: boolean
}

/** A thing that sentences before took, or only named. */
export interface Before {
  worth: Worth
  isTaken: boolean
  /** Taken, or named by the sentence just before. */
  isRecent: boolean
}

/** Judges a sentence after those before it. */
export function judgeSentence(
  signals: Signals,
  earlier: Before | undefined,
  isAddressedBefore: boolean,
): Sentence {
  const before = earlier?.worth
  const named = thingsOf(signals)
  const worth = worthOf(signals, named)
  const isReport = reported.test(signals.text)
  const isContent = contentOf.test(signals.text) || /\b(?:user's|their)\b/.test(signals.text)
  const taking = ordered(signals, isContent ? take | seek : take).filter(
    (verb) => !isDescribed(signals, verb),
  )
  const isTaken = named.some((thing) => taking.some((verb) => isObject(signals, verb, thing)))
  const later =
    earlier !== undefined && earlier.isRecent && refers.test(signals.text) && taking.length > 0
  const effect =
    effectOf(signals, named, worth, earlier) ??
    (isAddressedBefore ? effectAtAddress(signals, worth) : undefined)
  const editing = ordered(signals, edit).length > 0 && onlyFile(named)
  const isGrabbed = worth === 1 && hasGrab(signals, named)
  return {
    taken:
      !isReport && (isTaken || ordered(signals, seek).length > 0 || later)
        ? (worth ?? (later ? before : undefined))
        : undefined,
    named: isReport ? undefined : worth,
    reads:
      !isReport && ((isTaken && worth === 2 && !editing) || (later && before === 2) || isGrabbed),
    effect:
      isReport && effect
        ? readDestinations(signals.text).length > 0
          ? 'unlist'
          : undefined
        : effect,
    isReport,
    isAddressed: !isReport && hasAddress(signals.text),
  }
}

/** Returns whether somebody else is the subject of a verb. */
const isDescribed = ({ text }: Signals, verb: Hit): boolean =>
  /\b(?:(?:we|they|it|he|she|who|which|anyone|others|users|apps?|programs?|attackers?)(?: (?:can|could|may|might|would|will|also|then))?|could|would|might) $/.test(
    text.slice(Math.max(0, verb.at - 30), verb.at),
  )

const onlyFile = (named: Hit[]): boolean => named.every(({ classes }) => (classes & store) === 0)

const hasGrab = (signals: Signals, named: Hit[]): boolean =>
  (fromStore.test(signals.text) || whole.test(signals.text)) &&
  ordered(signals, fromStore.test(signals.text) ? take : grab).some(
    (verb) =>
      !authentication.test(signals.text) &&
      named.some(
        (thing) => (thing.classes & (secret | seed)) !== 0 && isObject(signals, verb, thing),
      ) &&
      strong.test(signals.text),
  )

const isObject = ({ text }: Signals, verb: Hit, thing: Hit): boolean =>
  (verb.end <= thing.at && thing.at - verb.end <= 150) || foreign.test(text)

const attached = /^(?:attach|upload|forward|transmit|mail|e-?mail|hand|deliver|send|includ)/

/** Judges a transfer to an address that a sentence before names. */
function effectAtAddress(signals: Signals, own: Worth | undefined): Sentence['effect'] {
  const { text } = signals
  if (own === undefined || own === 0 || authentication.test(text)) return undefined
  const isSent = ordered(signals, give).some(({ at, end }) => attached.test(text.slice(at, end)))
  return isSent && (own === 2 || strong.test(text)) ? 'unlist' : undefined
}

/** Judges a transfer of the things that this sentence, or one before it, names. */
function effectOf(
  signals: Signals,
  named: Hit[],
  own: Worth | undefined,
  earlier: Before | undefined,
): Sentence['effect'] {
  const { text } = signals
  const before = earlier?.worth
  const referred = before !== undefined && pronoun.test(text) ? before : undefined
  const worth = own === undefined || (referred ?? 0) > own ? referred : own
  if (worth === undefined) return undefined
  if (named.length > 0 && inQuery.test(text)) return 'unlist'
  const giving = ordered(signals, worth === 0 ? send : give)
  if (giving.length === 0) return isNamedAtAddress(text, own) ? 'unlist' : undefined
  const addresses = readDestinations(text).filter((at) =>
    giving.some((verb) => reaches(text, verb, at)),
  )
  const isOutside = ordered(signals, outside).some(({ at }) => giving.some(({ end }) => end <= at))
  const { isDrop } = readHosts(text)
  if (addresses.length > 0 || isOutside) {
    if (isDrop) return 'block'
    if (worth === 2) return addresses.length > 0 ? 'block' : 'unlist'
    if (worth === 0 || own === undefined) return 'unlist'
    return effectOfSecret(text, addresses.length > 0)
  }
  const orders = giving.filter(({ at, end }) => !/[^s]s$/.test(text.slice(at, end)))
  const isSomewhere = signals.hits.some(
    (hit) =>
      (hit.classes & somewhere) !== 0 &&
      !isPartOfSecret(signals, hit) &&
      orders.some(({ end }) => end <= hit.at),
  )
  if (worth === 2 && isSomewhere && (own !== undefined || earlier?.isTaken)) return 'unlist'
  if (named.some(({ classes }) => (classes & envAll) !== 0)) return 'unlist'
  if (own === 2 && contentOf.test(text)) return 'unlist'
  const isSent = orders.some(({ at, end }) => shared.test(text.slice(at, end)))
  const isMoved = isSent || (isSomewhere && (earlier?.isTaken || ordered(signals, take).length > 0))
  if (
    earlier?.isTaken &&
    worth > 0 &&
    isSomewhere &&
    orders.some(({ at, end }) => moved.test(text.slice(at, end)))
  )
    return authentication.test(text) ? undefined : 'unlist'
  return own === 1 && isMoved && whole.test(text) && strong.test(text) && !authentication.test(text)
    ? 'unlist'
    : undefined
}

/** Returns whether a word is part of the name of a credential, as in "API key". */
const isPartOfSecret = ({ hits }: Signals, { at, end }: Hit): boolean =>
  hits.some((hit) => (hit.classes & secret) !== 0 && hit.at <= at && end <= hit.end)

function effectOfSecret(text: string, isToAddress: boolean): Sentence['effect'] {
  const isWhole = whole.test(text)
  if (authentication.test(text)) return isWhole && strong.test(text) ? 'unlist' : undefined
  if (isWhole) return isToAddress ? 'block' : 'unlist'
  return strong.test(text) ? 'unlist' : undefined
}

const acquires =
  /\b(?:creat\w+|generat\w+|get|obtain|sign ?up|register|manag\w+|revok\w+|rotat\w+|chang\w+|reset|issue[sd]?|request|need|apply)\b/

/** Returns whether a text without a verb of giving names a thing together with an address. */
const isNamedAtAddress = (text: string, own: Worth | undefined): boolean =>
  hasAddress(text) &&
  (own === 2 ||
    (own === 1 &&
      (whole.test(text) || strong.test(text)) &&
      !authentication.test(text) &&
      !acquires.test(text)))

/** Returns whether a text has an address that is not one to read about. */
const hasAddress = (text: string): boolean =>
  readDestinations(text).length > 0 &&
  !/\b(?:see|docs?|documentation|learn|more|guide|reference)\b/.test(text)

/** Returns whether a verb moves something to an address. */
const reaches = (text: string, verb: Hit, at: number): boolean =>
  foreign.test(text) ||
  (verb.end <= at && ((verb.classes & send) !== 0 || toward.test(text.slice(verb.end, at)))) ||
  (verb.at > at && /\b(?:to|into|at)\s["'`(<]{0,2}$/.test(text.slice(Math.max(0, at - 8), at)))
