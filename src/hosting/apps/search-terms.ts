/** Letters of scripts that put no spaces between words: each of them is a word here. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/gu
/** So is each emoji, whatever its colour; the engines know letters alone, so it is spelled. */
const emoji = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

const spelled = (sign: string): string => ` u${sign.codePointAt(0)?.toString(16).padStart(6, '0')} `

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
    .replace(emoji, spelled)
    .match(/[\p{L}\p{N}]+/gu) ?? []
