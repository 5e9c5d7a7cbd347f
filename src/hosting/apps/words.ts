/** Letters of scripts that put no spaces between words: each of them is a word here. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/gu

/**
 * The words of a text as searches compare them: small letters without marks and signs. Both engines
 * are given these, so that they find the same; what looks like search syntax is words, too.
 */
export const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(unspaced, ' $& ')
    .match(/[\p{L}\p{N}]+/gu) ?? []
