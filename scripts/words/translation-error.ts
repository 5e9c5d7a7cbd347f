/** Finds errors of a translation that would break a page. */
import {
  isLiteralElement,
  isPluralElement,
  isPoundElement,
  isSelectElement,
  isTagElement,
  type MessageFormatElement,
  parse,
} from '@formatjs/icu-messageformat-parser'

const namesIn = (text: string, pattern: RegExp): string =>
  [...new Set(text.match(pattern) ?? [])].sort().join(' ')

const tags = /<\/?\w+\/?>/g
const numbered = /\{\d+\}/g

/** Returns the names of the values that an ICU message uses. Throws a SyntaxError. */
function valuesOf(text: string): Set<string> {
  const names = new Set<string>()
  const read = (elements: MessageFormatElement[]): void => {
    for (const element of elements) {
      if (isLiteralElement(element) || isPoundElement(element) || isTagElement(element)) continue
      names.add(element.value)
      if (isPluralElement(element) || isSelectElement(element)) {
        for (const { value } of Object.values(element.options)) read(value)
      }
    }
  }
  read(parse(text, { ignoreTag: true }))
  return names
}

/** Returns what is wrong with a translation; undefined where nothing is. */
export function translationError(message: string, text: string): string | undefined {
  if (text !== text.trim()) return 'has a translation that begins or ends with a space.'
  if (namesIn(message, tags) !== namesIn(text, tags)) {
    return `has the tags ${namesIn(message, tags) || 'none'}, its translation ${namesIn(text, tags) || 'none'}.`
  }
  if (/\{\d+\}/.test(message)) {
    return namesIn(message, numbered) === namesIn(text, numbered)
      ? undefined
      : `has the parts ${namesIn(message, numbered)}, its translation ${namesIn(text, numbered) || 'none'}.`
  }
  if (!/\{\w+\}/.test(message)) return undefined
  try {
    const allowed = valuesOf(message)
    if (message.startsWith('{shown} ')) allowed.add('count')
    const unknown = [...valuesOf(text)].filter((name) => !allowed.has(name))
    return unknown.length > 0 ? `has no value ${unknown.join(', ')}.` : undefined
  } catch (error) {
    return `has a translation that is no ICU message: ${String(error)}`
  }
}
