const root = document.documentElement
const source = document.querySelector('#words')?.textContent
/** Translations of the messages of scripts. An English page has none. */
let words: Record<string, string> = source ? JSON.parse(source) : {}

/** Returns a value as a sentence shows it: isolated where the sentence runs from right to left. */
const shown = (value: string | number): string =>
  root.dir === 'rtl' && typeof value === 'string' ? `\u2068${value}\u2069` : String(value)

/** Returns a message in the language of the page, with its values in the place of `{name}`. */
export const t = (message: string, values: Record<string, string | number> = {}): string =>
  (words[message] ?? message).replace(/\{(\w+)\}/g, (mark, name: string) =>
    name in values ? shown(values[name] ?? '') : mark,
  )

/** Returns an amount with its unit, isolated where the page runs from right to left. */
export const leftToRight = (amount: string): string =>
  root.dir === 'rtl' ? `\u2066${amount}\u2069` : amount

/** Formats a number in the language of the page: "1,234". Digits have one form in all languages. */
export const formatNumber = (value: number): string =>
  value.toLocaleString(root.lang, { numberingSystem: 'latn' })

/** A language with the messages of a page that learns it after it was loaded. */
export interface LoadedLanguage {
  tag: string
  dir: string
  words: Record<string, string>
}

/** Changes the language of the page. What it shows already stays as it is. */
export function setLanguage(language: LoadedLanguage): void {
  root.lang = language.tag
  root.dir = language.dir
  words = language.words
}
