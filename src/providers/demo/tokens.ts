/**
 * How the demo counts, so that a test knows every number beforehand: a token is a word with the
 * space before it; a word of more than 16 characters is a token for each 16 begun.
 */
const token = /\s*\S{1,16}|\s+$/gu

/** The first tokens of a text, `most` of them; all of them together are the text. */
export const splitTokens = (text: string, most: number): string[] =>
  [...text.matchAll(token).take(most)].map(([one]) => one)

/** How many tokens a text has, without a list of them: a text may have 40 MB. */
export function countTokens(text: string): number {
  let tokens = 0
  while (token.test(text)) tokens += 1
  return tokens
}

/** A picture, file, sound or film in a message. */
export const mediaTokens = 100
