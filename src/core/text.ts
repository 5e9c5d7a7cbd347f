/** Controls, line ends and the marks that turn the direction of the text around them. */
const unplain = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u

/** Whether a text is one plain line of at most `max` characters (code points). */
export const isPlainLine = (text: string, max: number): boolean =>
  text.length <= max * 2 && [...text].length <= max && !unplain.test(text)

/** Like a plain line, but new lines and tabs may stand in it. */
export const isPlainText = (text: string, max: number): boolean =>
  isPlainLine(text.replace(/[\n\t\r]/g, ' '), max)

/** Whether there is something to see in a text: no spaces and joiners alone. */
export const isVisible = (text: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text)

const spaces =
  '\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000\ufeff'
const spaceCodes = new Set([...spaces].map((space) => space.charCodeAt(0)))

/** How many words stand in a text, without a list of them: a file may have millions. */
export function wordsIn(text: string): number {
  let words = 0
  let isInWord = false
  for (let at = 0; at < text.length; at += 1) {
    const isSpace = spaceCodes.has(text.charCodeAt(at))
    if (!isSpace && !isInWord) words += 1
    isInWord = !isSpace
  }
  return words
}

/** Text made safe for the inside of HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => Bun.escapeHTML(text)

/** What somebody wrote, ended as a sentence: with a full stop, where it has no end of its own. */
export const sentence = (text: string): string => (/[.!?…。！？]$/.test(text) ? text : `${text}.`)

/** What an error says; what was thrown else, as text. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** The code of an error of the system, "ENOENT"; empty where it has none. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''
