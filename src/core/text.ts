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

/** Text made safe for the inside of HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => Bun.escapeHTML(text)
