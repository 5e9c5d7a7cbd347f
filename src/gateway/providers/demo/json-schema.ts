import { isRecord, itemsOf, type Json, lookUp, recordOf } from '../../../kernel/schema.ts'

/** Schemas may be recursive: below this depth, only required properties are filled. */
const depthMax = 6
const depthEnd = 20
/** Characters of all schemas visited for one value, with repetitions. */
const charsMax = 500_000

/** Returns a fixed value that matches a JSON Schema. Endless recursion stops with null. */
export const sampleOfSchema = (schema: unknown): unknown =>
  new Sampler(recordOf(schema)).sample(schema, 'text', 0)

class Sampler {
  private charsLeft = charsMax

  /** `root`: the schema that references point into. */
  constructor(private readonly root: Json) {}

  /** Returns a value for the property `name`. */
  sample(schema: unknown, name: string, depth: number): unknown {
    if (!isRecord(schema) || depth > depthEnd || this.charsLeft <= 0) return null
    this.charsLeft -= JSON.stringify(schema).length + name.length
    if ('const' in schema) return schema.const
    if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
    if ('default' in schema) return schema.default
    const inner = (part: unknown): unknown => this.sample(part, name, depth + 1)
    if (typeof schema.$ref === 'string') return inner(resolve(this.root, schema.$ref))
    const options = schema.anyOf ?? schema.oneOf
    if (Array.isArray(options)) {
      const isNull = (one: unknown): boolean => isRecord(one) && one.type === 'null'
      return inner((depth > depthMax ? options.find(isNull) : undefined) ?? options[0])
    }
    if (Array.isArray(schema.allOf)) {
      return inner(Object.assign({}, schema, { allOf: undefined }, ...schema.allOf))
    }
    return this.sampleType(schema, name, depth)
  }

  private sampleType(schema: Json, name: string, depth: number): unknown {
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'string') return sampleText(schema, name)
    if (type === 'integer' || type === 'number') return sampleNumber(schema)
    if (type === 'boolean') return true
    if (type === 'array') {
      const length = Math.min(numberIn(schema.minItems) ?? (depth > depthMax ? 0 : 1), 10)
      return Array.from({ length }, () => this.sample(schema.items, name, depth + 1))
    }
    if (type === 'null' || !isRecord(schema.properties)) return type === 'object' ? {} : null
    const required = new Set(itemsOf(schema.required))
    return Object.fromEntries(
      Object.entries(schema.properties)
        .filter(([key]) => depth <= depthMax || required.has(key))
        .map(([key, part]) => [key, this.sample(part, key, depth + 1)]),
    )
  }
}

const formats: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'ann@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function sampleText(schema: Json, name: string): string {
  const text = (typeof schema.format === 'string' && lookUp(formats, schema.format)) || name
  const least = Math.min(numberIn(schema.minLength) ?? 0, 1_000)
  return text.padEnd(least, '.').slice(0, numberIn(schema.maxLength) ?? Infinity)
}

function sampleNumber(schema: Json): number {
  const above = numberIn(schema.exclusiveMinimum)
  const least = numberIn(schema.minimum) ?? (above === undefined ? 1 : above + 1)
  return Math.min(least, numberIn(schema.maximum) ?? Infinity)
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** Resolves a reference such as "#/$defs/name". */
function resolve(root: Json, ref: string): unknown {
  const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean)
  let at: unknown = root
  for (const step of steps)
    at = lookUp(recordOf(at), step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return at
}
