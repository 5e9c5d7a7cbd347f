/** Line ends and marks that change the direction of text, for a class of a pattern. */
export const unplainMarks = '\\u2028\\u2029\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff'

const unplain = new RegExp(`[\\p{Cc}${unplainMarks}]|\\p{Cs}`, 'u')

/** Checks for one plain line of at most `max` characters (code points). */
export const isPlainLine = (text: string, max: number): boolean =>
  text.length <= max * 2 && [...text].length <= max && !unplain.test(text)

/** Checks for plain text, which may contain line ends and tabs. */
export const isPlainText = (text: string, max: number): boolean =>
  isPlainLine(text.replace(/[\n\t\r]/g, ' '), max)

/** Checks whether a text has visible characters, not only spaces and joiners. */
export const hasVisibleText = (text: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text)

const spaces =
  '\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000\ufeff'
const spaceCodes = new Set([...spaces].map((space) => space.charCodeAt(0)))

/** Counts words without a list of them, because a file may have millions. */
export function countWords(text: string): number {
  let words = 0
  let isInWord = false
  for (let at = 0; at < text.length; at += 1) {
    const isSpace = spaceCodes.has(text.charCodeAt(at))
    if (!isSpace && !isInWord) words += 1
    isInWord = !isSpace
  }
  return words
}

/** Escapes text for HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => Bun.escapeHTML(text)

/** Adds a full stop to a text that ends without punctuation. */
export const endWithStop = (text: string): string =>
  /[.!?…。！？]$/.test(text) ? text : `${text}.`

/** Returns the message of an error, or another thrown value as text. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Returns the code of a system error, such as "ENOENT"; empty where it has none. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Joins pieces into one regular expression, for word lists longer than a line. */
export function pattern(flags: string, ...pieces: readonly string[]): RegExp {
  return new RegExp(pieces.join(''), flags)
}

/** First words of sentences that tell a reader what to do. */
const verbs =
  'Add|Ask|Authorize|Change|Check|Choose|Confirm|Connect|Contact|Copy|Correct|Create|Delete|' +
  'Describe|Encode|End|Enter|Fix|Follow|Give|Go|Have|Leave|List|Look|Lower|Make|Name|Open|Pay|Press|' +
  'Publish|Put|Raise|Read|Register|Reload|Remix|Remove|Rename|Repeat|Reply|Report|Resume|Retry|Review|' +
  'Revoke|Search|See|Select|Send|Set|Shorten|Sign|Start|Stop|Store|Submit|Try|Turn|Unfollow|Unlink|Upload|' +
  'Use|Wait|Write'

/** A sentence, or a part after a colon, that starts with such a verb or names an operation. */
const advice = new RegExp(
  `(?:^|[.:;!?”"] |, )(?:Or |or |and |then |Then |Instead, |First )?(?:${verbs}|${verbs.toLowerCase()}|(?:GET|POST|PUT|PATCH|DELETE) )(?![\\w-])`,
)
/** A rule, which says how a value must be. */
const rule =
  /\b(must|needs?|requires?|at most|at least|exactly|one of|either|or fewer|up to|only|has to|can (?:appeal|raise|resume|change|send)|is (?:an?|one) |are (?:an?|one) |has (?:one|1) to|have (?:one|1) to)\b/

/** Checks whether the text of an error tells its reader what to do, or how a value must be. */
export const saysWhatToDo = (text: string): boolean => advice.test(text) || rule.test(text)
