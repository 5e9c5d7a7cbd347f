import { newId } from '../../kernel/ids.ts'
import { asString } from '../providers/response.ts'

/**
 * Ids of tool calls. Anthropic takes letters, digits, "-" and "_", OpenAI 40 characters, Mistral 9
 * letters and digits. An id of another form is sent in the form that the API takes.
 */
const prefix = 'call64_'
const portable = /^[\w-]{1,40}$/
const encoded = new RegExp(`^${prefix}([\\w-]+)$`)

/** Returns an id that every client takes and sends back. `originalId` reverses it. */
export const portableId = (id: string): string =>
  portable.test(id) ? id : prefix + Buffer.from(id).toString('base64url')

/** Returns the id of the upstream that `portableId` was given. */
export function originalId(id: string): string {
  const [, text = ''] = encoded.exec(id) ?? []
  return text === '' ? id : Buffer.from(text, 'base64url').toString()
}

/** Returns the id that an upstream sent, or a new one: calls of several turns need different ids. */
export const callIdOf = (...sent: unknown[]): string =>
  sent.map(asString).find((id) => id !== '') ?? `call_${newId()}`
