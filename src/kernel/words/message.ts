import { currentWords } from './words.ts'

/** Values of a message by name. */
type Values = Record<string, string | number | Message>

/** A message of a constant. Templates show it in the language of their page. */
export class Message {
  constructor(private readonly english: string) {}

  toString(): string {
    return currentWords()?.find(this.english) ?? this.english
  }
}

/** A text in the language of the page, or a message that will be. */
export type Text = string | Message

/** Marks a text of a constant as a message: constants exist before the language of a page. */
export const msg = (english: string): Message => new Message(english)

/**
 * Returns a message in the language of the page. English is the key; `{name}` in it is replaced by
 * a value. Translations may use all of ICU MessageFormat on the values.
 */
export function t(message: Text, values?: Values): string {
  if (typeof message !== 'string') return message.toString()
  const words = currentWords()
  if (words?.findPage(message) !== undefined) {
    return values ? words.format(message, plain(values)) : words.find(message)
  }
  return values ? fill(message, values) : message
}

const fill = (message: string, values: Values): string =>
  message.replace(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark))

/** A message with its values. It is stored, and shown in the language of each reader. */
export interface Sentence {
  message: string
  values: Record<string, string | number>
}

/** Creates a sentence from an English message, whose values are in it by `{name}`. */
export const sentence = (message: string, values: Sentence['values'] = {}): Sentence => ({
  message,
  values,
})

/** Returns messages in English, as programs read them. */
export const englishOf = (messages: readonly Sentence[]): string =>
  messages.map(({ message, values }) => fill(message, values)).join(' ')

/** Returns messages in the language of the page. */
export const textOf = (messages: readonly Sentence[]): string =>
  messages.map(({ message, values }) => t(message, values)).join(' ')

const plain = (values: Values): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : String(value),
    ]),
  )
