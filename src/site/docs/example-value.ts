import type { Schema } from '../guide/read-description.ts'

/** Nested values of an example below this depth are left out. */
const depthMax = 6

/** Returns the record that a schema names, or the schema itself. */
export function resolveSchema(given: unknown, records: Record<string, Schema>): Schema {
  const schema: Schema = Object(given)
  const { $ref } = schema
  if (typeof $ref !== 'string') return schema
  return Object(records[$ref.replace(/.*\//, '')])
}

/**
 * Returns a value that a schema allows, for an example: one that the schema has, or else its
 * required fields.
 */
export function exampleOf(
  given: unknown,
  records: Record<string, Schema>,
  depth = depthMax,
): unknown {
  const schema = resolveSchema(given, records)
  const { examples, default: initial, enum: values, properties, items, type } = schema
  for (const list of [examples, values]) if (Array.isArray(list)) return list[0]
  if (initial !== undefined) return initial
  const [variant] = [schema['anyOf'] ?? schema['oneOf'] ?? []].flat()
  if (variant !== undefined && !properties) return exampleOf(variant, records, depth - 1)
  if (properties) {
    const required = [schema['required'] ?? []].flat()
    const fields = Object.entries(Object(properties)).filter(([name]) => required.includes(name))
    return Object.fromEntries(
      depth > 0 ? fields.map(([name, field]) => [name, exampleOf(field, records, depth - 1)]) : [],
    )
  }
  if (items) return depth > 0 ? [exampleOf(items, records, depth - 1)] : []
  return plainExample(type, schema)
}

function plainExample(type: unknown, { minimum, format }: Schema): unknown {
  const [name] = [type].flat()
  if (name === 'integer' || name === 'number') return typeof minimum === 'number' ? minimum : 1
  if (name === 'boolean') return true
  if (name === 'string') return format === 'binary' ? '@file' : '...'
  return name === 'object' || name === undefined ? {} : null
}
