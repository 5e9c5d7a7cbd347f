import { isRecord } from '../../kernel/schema.ts'
import { fieldsOf } from './fields.ts'

/** Numbers that Google's clients send as strings, because they are 64 bits long there. */
const numbers = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** Converts a schema of Google (a subset of OpenAPI 3.0, types in capitals) to JSON Schema. */
export function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema)
  if (!isRecord(schema)) return schema
  const { nullable, type, properties, ...others } = fieldsOf(schema)
  const own = typeof type === 'string' ? type.toLowerCase() : type
  const nested = Object.entries(others).map(([name, value]) => [
    name,
    numbers.has(name) && typeof value === 'string'
      ? Number(value)
      : isSchema(name)
        ? toJsonSchema(value)
        : value,
  ])
  return {
    ...(own !== undefined && { type: nullable === true ? [own, 'null'] : own }),
    ...Object.fromEntries(nested.filter(([name]) => name !== 'propertyOrdering')),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, toJsonSchema(value)]),
      ),
    }),
  }
}

const isSchema = (name: string): boolean =>
  ['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(name)
