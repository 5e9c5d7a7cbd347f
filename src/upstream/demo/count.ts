/**
 * How the demo counts, so that a test knows every number beforehand: a token is a word with the
 * space before it; a word of more than 16 characters is a token for each 16 begun.
 */
const token = /\s*\S{1,16}|\s+$/gu

/** A text as its tokens, which together are the text. */
export const tokensIn = (text: string): string[] => text.match(token) ?? []

export const count = (text: string): number => tokensIn(text).length

/** A picture, file, sound or film in a message. */
export const mediaTokens = 100
