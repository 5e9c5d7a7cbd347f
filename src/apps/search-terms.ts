/** Scripts without spaces between words. Each letter is a search term. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/gu
/** Emoji. The engines index only letters, so each is spelled out. */
const emoji = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

const spelled = (sign: string): string => ` u${sign.codePointAt(0)?.toString(16).padStart(6, '0')} `

/** Returns lowercase terms without diacritics and punctuation, the same for both engines. */
export const searchTerms = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(unspaced, ' $& ')
    .replace(emoji, spelled)
    .match(/[\p{L}\p{N}]+/gu) ?? []

export const searchText = ({
  title,
  description,
  name,
}: {
  title: string
  description: string
  name?: string | null
}): string => [...new Set(searchTerms(`${title} ${name ?? ''} ${description}`))].join(' ')
