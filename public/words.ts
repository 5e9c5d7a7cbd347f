/** Translations of the messages of scripts. An English page has none. */
const source = document.querySelector('#words')?.textContent
const words: Record<string, string> = source ? JSON.parse(source) : {}

/** Returns a message in the language of the page, with its values in the place of `{name}`. */
export const t = (message: string, values: Record<string, string | number> = {}): string =>
  (words[message] ?? message).replace(/\{(\w+)\}/g, (mark, name: string) =>
    String(values[name] ?? mark),
  )
