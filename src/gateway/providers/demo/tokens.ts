/** A token of the demo: a word with the space before it, per 16 characters or part of them. */
const token = /\s*\S{1,16}|\s+$/gu

/** Splits a text into its first `max` tokens. Joined, all tokens are the text. */
export const splitTokens = (text: string, max: number): string[] =>
  [...text.matchAll(token).take(max)].map(([one]) => one)

/** Counts tokens without a list of them: a text may have 40 MB. */
export function countTokens(text: string): number {
  let tokens = 0
  while (token.test(text)) tokens += 1
  return tokens
}

/** Tokens of an image, file, audio or video in a message. */
export const mediaTokens = 100
