import { isRecord, itemsOf, recordOf } from '../../core/schema.ts'

/** Schemas may refer to themselves: deeper than this, only what is required is filled. */
const depthMax = 6
const depthEnd = 20
/** The characters of all schemas that are followed for a value, each as often as it is. */
const charsMax = 500_000

/** A value on its way: the schema its parts refer to, and how far they may still be followed. */
interface Filling {
  root: Record<string, unknown>
  left: number
}

/**
 * A value that fits a JSON Schema, the same each time: texts are named after their property. Where
 * it would have no end it stops with null.
 */
export const sampleOfSchema = (schema: unknown): unknown =>
  fillIn(schema, { root: recordOf(schema), left: charsMax }, 'text', 0)

function fillIn(schema: unknown, filling: Filling, name: string, depth: number): unknown {
  if (!isRecord(schema) || depth > depthEnd || filling.left <= 0) return null
  filling.left -= JSON.stringify(schema).length + name.length
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  if ('default' in schema) return schema.default
  const inner = (part: unknown): unknown => fillIn(part, filling, name, depth + 1)
  if (typeof schema.$ref === 'string') return inner(referred(filling.root, schema.$ref))
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) {
    const plain =
      depth > depthMax ? options.find((one) => isRecord(one) && one.type === 'null') : undefined
    return inner(plain ?? options[0])
  }
  if (Array.isArray(schema.allOf))
    return inner(Object.assign({}, schema, { allOf: undefined }, ...schema.allOf))
  return fillType(schema, filling, name, depth)
}

function fillType(
  schema: Record<string, unknown>,
  filling: Filling,
  name: string,
  depth: number,
): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'string') return fillText(schema, name)
  if (type === 'integer' || type === 'number') return fillNumber(schema)
  if (type === 'boolean') return true
  if (type === 'array') {
    const least = numberIn(schema.minItems) ?? (depth > depthMax ? 0 : 1)
    return Array.from({ length: Math.min(least, 10) }, () =>
      fillIn(schema.items, filling, name, depth + 1),
    )
  }
  if (type === 'null' || !isRecord(schema.properties)) return type === 'object' ? {} : null
  const required = new Set(itemsOf(schema.required))
  const wanted = Object.entries(schema.properties).filter(
    ([key]) => depth <= depthMax || required.has(key),
  )
  return Object.fromEntries(
    wanted.map(([key, part]) => [key, fillIn(part, filling, key, depth + 1)]),
  )
}

const formats: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'ann@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function fillText(schema: Record<string, unknown>, name: string): string {
  const text = (typeof schema.format === 'string' && formats[schema.format]) || name
  const least = Math.min(numberIn(schema.minLength) ?? 0, 1_000)
  return text.padEnd(least, '.').slice(0, numberIn(schema.maxLength) ?? Infinity)
}

function fillNumber(schema: Record<string, unknown>): number {
  const above = numberIn(schema.exclusiveMinimum)
  const least = numberIn(schema.minimum) ?? (above === undefined ? 1 : above + 1)
  return Math.min(least, numberIn(schema.maximum) ?? Infinity)
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** The part of the schema that "#/$defs/name" points to. */
function referred(root: Record<string, unknown>, ref: string): unknown {
  const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean)
  let at: unknown = root
  for (const step of steps)
    at = isRecord(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return at
}
