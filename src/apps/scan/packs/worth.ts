import { pattern } from '../../../kernel/text.ts'
import type { Hit } from './automaton.ts'
import { bitsOf, isNegated, ordered, type Signals } from './signals.ts'

const things = bitsOf(
  'store',
  'saved',
  'envFile',
  'envAll',
  'secret',
  'seed',
  'personal',
  'document',
)
const stores = bitsOf('store', 'envFile', 'envAll')
const secret = bitsOf('secret')
const seed = bitsOf('seed')
const saved = bitsOf('saved')
const personal = bitsOf('personal')
const documents = bitsOf('document')
const profile = bitsOf('profile')
const take = bitsOf('grab', 'take')
const seek = bitsOf('seek')
const give = bitsOf('send', 'put')
const edit = bitsOf('edit')

/** Words for all of a thing, or for its owner. */
export const whole =
  /\b(?:all|any|every|each|both|full|complete|entire|contents? of|user's|users|(?:of|from) (?:the|their|each|a) (?:user|human|person|customer|owner|operator)|their|found|collected|discovered|stored|stolen|saved|existing|verbatim|configured|whatever|everything|anything|what is inside|you have access to|what's inside|what they contain|what (?:it|they) (?:says?|holds?)|what it contains)\b/
const owned =
  /\b(?:user'?s?|saved|saves|stored|stores|remember\w*|profiles?|their|logged-in|existing|default|of|from|decrypt\w*|keeps?|holds?)\b/
const into =
  /\b(?:to|into|as)\s(?:(?:the|your|a|an|its|this|project'?s?|local|root|new|own|user'?s?)\s){0,3}["'`(.]{0,2}$/
const inside =
  /\b(?:in|inside|at|via|through|with|under)\s(?:(?:the|your|a|an|its|this|project'?s?|local|root|new|own|user'?s?)\s){0,3}["'`(.]{0,2}$/
/** Letters of languages whose verbs can follow their objects. */
export const foreign = /[\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** Worth of a thing: 2 for stores of credentials, 1 for credentials, 0 for other data. */
export type Worth = 2 | 1 | 0

/** Returns the things that a sentence names, apart from their proper use and places to write to. */
export function thingsOf(signals: Signals): Hit[] {
  return signals.hits.filter(
    (hit) =>
      (hit.classes & things) !== 0 &&
      !isUsed(signals.text, hit.at, hit.end) &&
      !isTarget(signals, hit) &&
      !isNegatedThing(signals, hit),
  )
}

/** Returns whether a thing is where something is written: "add the key to `.env`". */
function isTarget(signals: Signals, hit: Hit): boolean {
  if ((hit.classes & (stores | secret)) === 0) return false
  const { text, hits } = signals
  const before = text.slice(Math.max(0, hit.at - 50), hit.at)
  const verbs = hits.filter(
    ({ classes, end }) => (classes & (take | give | edit | seek)) !== 0 && end <= hit.at,
  )
  const last = verbs.at(-1)
  if (
    last &&
    (last.classes & take) !== 0 &&
    hit.at - last.end <= 12 &&
    !into.test(text.slice(last.end, hit.at))
  )
    return false
  if (into.test(before)) return true
  return (
    inside.test(before) &&
    last !== undefined &&
    (last.classes & (give | edit)) !== 0 &&
    (last.classes & take) === 0
  )
}

/** Returns whether a thing is excepted, or every verb about it is forbidden. */
const isNegatedThing = (signals: Signals, hit: Hit): boolean =>
  /\b(?:not|never|no|without|except|excluding|but not) ["'`(]{0,2}(?:the |your |any )?["'`]?[\w~/$.]{0,20}$/.test(
    signals.text.slice(Math.max(0, hit.at - 40), hit.at),
  ) ||
  (isNegated(signals, hit) && ordered(signals, take | give).every(({ at }) => at > hit.at))

export function worthOf(signals: Signals, named: Hit[]): Worth | undefined {
  if (named.some(({ classes }) => (classes & (stores | seed)) !== 0) || hasSaved(signals, named))
    return 2
  if (named.some(({ classes }) => (classes & secret) !== 0)) return 1
  if (named.some(({ classes }) => (classes & personal) !== 0)) return 0
  const isAll = named.some(({ classes }) => (classes & documents) !== 0) && whole.test(signals.text)
  return isAll || made.test(signals.text) ? 0 : undefined
}

/** Words for all that somebody writes or opens. */
const made =
  /\b(?:every|each|all|any|what(?:ever)?|everything|anything)\b[^.]{0,40}\b(?:the user|they|people|users)\s(?:types?|opens?|writes?|says?|pastes?|enters?|asks?|confides?|reads?|uploads?)\b/

/** Returns whether a sentence names what a browser has saved. */
const hasSaved = ({ text, hits }: Signals, named: Hit[]): boolean =>
  (owned.test(text) || foreign.test(text)) &&
  named.some(
    (thing) =>
      (thing.classes & saved) !== 0 &&
      hits.some(({ classes, at }) => (classes & profile) !== 0 && Math.abs(at - thing.at) <= 90),
  )

/** Options that use a key or a file of settings for its purpose, public keys, and examples. */
const proper = pattern(
  'g',
  String.raw`\s(?:-i|--key(?:-file)?|--netrc-file|--env-file|--kubeconfig|--userconfig|--cert|--cacert|`,
  String.raw`identityfile)[\s=]["'${'`'}]?\S{1,120}|\bkubeconfig=\S{1,120}|--exclude[\s=]\S{1,120}|`,
  String.raw`\s-v\s\S{1,120}:\S{1,120}|\bssh-(?:add|keygen|copy-id)\b[^|;&]{0,120}|--mount=\S{1,200}|`,
  String.raw`\.env\.(?:example|sample|template|dist|test|tpl)\b|\bos\.environ(?=\[|\.get\b)|[\w~$/.{}]{0,40}\.ssh/(?:config|known_hosts|authorized_keys)\b|[\w~/$.{}]{0,40}\.aws/config\b|`,
  String.raw`\b(?:chmod|chown|stat|test|ls|mkdir|touch|install|git check-ignore)\s[^|;&]{0,80}|\bssl_certificate\w*\s\S{1,120}|\bsecurity find-(?:generic|internet)-password\s[^|;&]{0,80}-s\s(?!["']?(?:chrom|brave|microsoft|opera|vivaldi))\S{1,60}(?:\s-w)?|\bkeepassxc-cli\s[^|;&]{0,120}|\b(?:key_filename|private_?key_?(?:path|file))\s?[:=]\s?[^\s,]{1,120}|\b(?:cp|mv)\s(\S{3,60})\s\1\S{0,20}|\bmv\s\S{1,80}\s\S{1,80}|\benv_?file\b["']?\s?[:=]\s?\S{1,80}`,
)

const beforeMax = 220
const afterMax = 60

/** Returns whether a part of a text is used for its purpose. */
export function isUsed(text: string, at: number, end: number): boolean {
  if (/^\S{0,60}\.pub\b/.test(text.slice(end, end + 70))) return true
  const from = Math.max(0, at - beforeMax)
  for (const found of text.slice(from, end + afterMax).matchAll(proper))
    if (from + found.index <= at && end <= from + found.index + found[0].length) return true
  return false
}
