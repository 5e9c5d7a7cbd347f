import type { Json } from '../../kernel/schema.ts'
import { asString, recordsIn } from '../providers/response.ts'

/** Returns the text of a content: a string, or parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsIn(content)
        .map(({ text }) => asString(text))
        .join('')

/** Returns the reasoning of a message or a delta, under either of its names. */
export const reasoningOf = (message: Json): string =>
  textOf(message.reasoning_content ?? message.reasoning)

/** Returns the text of a message or a delta with its field `refusal`. */
export const contentTextOf = (message: Json): string =>
  textOf(message.content) + asString(message.refusal)

/** Returns a token count of a usage; 0 for anything but a positive whole number. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
