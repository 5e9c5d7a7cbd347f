import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

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

/** Returns the objects of a list. Throws `bad_request`; without a list it returns none. */
export function listOf(value: unknown, param: string): Json[] {
  const list: unknown = value ?? []
  if (Array.isArray(list) && list.every(isRecord)) return list.map(fieldsOf)
  throw invalidField(param, `${param} must be an array of objects.`)
}
