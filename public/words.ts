/** Translations of the messages of scripts. An English page has none. */
const source = document.querySelector('#words')?.textContent
const words: Record<string, string> = source ? JSON.parse(source) : {}
const { lang, dir } = document.documentElement

/** Returns a value as a sentence shows it: isolated where the sentence runs from right to left. */
const shown = (value: string | number): string =>
  dir === 'rtl' && typeof value === 'string' ? `\u2068${value}\u2069` : String(value)

/** Returns a message in the language of the page, with its values in the place of `{name}`. */
export const t = (message: string, values: Record<string, string | number> = {}): string =>
  (words[message] ?? message).replace(/\{(\w+)\}/g, (mark, name: string) =>
    name in values ? shown(values[name] ?? '') : mark,
  )

/** Formats a number in the language of the page: "1,234". Digits have one form in all languages. */
export const formatNumber = (value: number): string =>
  value.toLocaleString(lang, { numberingSystem: 'latn' })
