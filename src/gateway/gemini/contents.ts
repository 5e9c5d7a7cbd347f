import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

const invalidContents = (problem: string) => invalidField('contents', problem)

/**
 * Fields of parts by role. The chat has the same content. Others are ignored: they may raise the
 * cost of media above the hold, such as mediaResolution.
 */
export const partFields = {
  model: new Set(['text', 'thought', 'thoughtSignature', 'functionCall']),
  user: new Set(['text', 'inlineData', 'fileData', 'functionResponse']),
}

const knownPartFields = partFields.model.union(partFields.user)

/** Returns the names of ignored fields of parts, such as "contents.mediaResolution". */
export function ignoredPartFields(contents: unknown): string[] {
  const names = contentsOf(contents).flatMap((content) => partsOf(content).flatMap(Object.keys))
  return [...new Set(names)]
    .filter((name) => !knownPartFields.has(name))
    .map((name) => `contents.${name}`)
}

/** Returns the contents of a list, or of a text. Google reads an object as a list of one. */
export function contentsOf(contents: unknown): unknown[] {
  const list =
    typeof contents === 'string'
      ? [{ parts: [{ text: contents }] }]
      : isRecord(contents)
        ? [contents]
        : contents
  if (Array.isArray(list) && list.length > 0) return list
  throw invalidContents('Send "contents": an array with at least one content.')
}

/** Returns the parts of a content, of a list of parts or of a text. */
export function partsOf(content: unknown): Json[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ text: content }]
  if (Array.isArray(content)) return listOf(content, 'contents')
  if (!isRecord(content)) throw invalidContents('A content must be an object with parts.')
  return listOf(content.parts, 'contents')
}

/** Returns the texts of parts, without those of thoughts. */
export const textsOf = (parts: Json[]): string[] =>
  parts.flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true && text !== '' ? [text] : [],
  )

/** Returns the whole text of a content, for an embedding. Throws `bad_request`. */
export function textOfContent(content: unknown): string {
  const parts = partsOf(content)
  const texts = textsOf(parts)
  if (texts.length === parts.length && texts.length > 0) return texts.join('\n')
  throw invalidField('content', 'content must have parts with text.')
}

/** Returns the body that a token count or a generation has in common. */
export const innerRequest = (raw: unknown): Json => {
  const body = fieldsOf(raw)
  return isRecord(body.generateContentRequest)
    ? fieldsOf(body.generateContentRequest)
    : recordOf(body)
}

/**
 * Returns an object of Google's API with its fields in camelCase, or an empty one. Google accepts
 * both spellings of a field.
 */
export const fieldsOf = (value: unknown): Json =>
  Object.fromEntries(
    Object.entries(recordOf(value)).map(([name, field]) => [toCamelCase(name), field]),
  )

const toCamelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the objects of a list, or of one object. Throws `bad_request`; without any: none. */
export function listOf(value: unknown, param: string): Json[] {
  const list: unknown = isRecord(value) ? [value] : (value ?? [])
  if (Array.isArray(list) && list.every(isRecord)) return list.map(fieldsOf)
  throw invalidField(param, `${param} must be an array of objects.`)
}
