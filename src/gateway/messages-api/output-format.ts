import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'

/**
 * The tool that a model calls with its response where `output_config.format` cannot express the
 * schema. Its input is the text of the response.
 */
export const responseTool = 'berth_json_response'

/** More optional properties make Anthropic's grammar too large. */
const optionalMax = 10
/** References beyond this number are not followed. */
const referencesMax = 1_000

/** The size of a schema, as far as Anthropic's grammar depends on it. */
interface SchemaSize {
  /** Properties that may be missing, counted at every use. */
  optional: number
  /** True for a schema that refers to itself, or has objects with any fields. */
  isUnfit: boolean
}

/**
 * Returns whether `output_config.format` can express a schema. It closes all objects, and rejects
 * schemas that refer to themselves.
 */
export function canFormat(schema: Json): boolean {
  const { optional, isUnfit } = sizeOf(schema, schema, new Map([['#', unfit]]))
  return !isUnfit && optional <= optionalMax
}

const unfit: SchemaSize = { optional: 0, isUnfit: true }

/** Keywords whose values are data, or schemas that count only where they are referred to. */
const uncounted = new Set(['const', 'default', 'enum', 'examples', '$defs', 'definitions'])

/** Measures a schema. `known` has the references; one that is being measured is unfit. */
function sizeOf(node: unknown, root: Json, known: Map<string, SchemaSize>): SchemaSize {
  if (Array.isArray(node)) return sum(node.map((item: unknown) => sizeOf(item, root, known)))
  if (!isRecord(node)) return sum([])
  const { $ref: ref, properties } = node
  const inner = Object.entries(node)
    .filter(([name]) => !uncounted.has(name))
    .flatMap(([name, value]) => (name === 'properties' ? Object.values(recordOf(value)) : [value]))
  const names = Object.keys(recordOf(properties))
  const required = new Set(itemsOf(node.required))
  return sum([
    { optional: names.filter((name) => !required.has(name)).length, isUnfit: isOpen(node) },
    ...(typeof ref === 'string' && ref.startsWith('#') ? [sizeOfReference(ref, root, known)] : []),
    ...inner.map((value) => sizeOf(value, root, known)),
  ])
}

function sizeOfReference(ref: string, root: Json, known: Map<string, SchemaSize>): SchemaSize {
  const found = known.get(ref)
  if (found) return found
  if (known.size > referencesMax) return unfit
  known.set(ref, unfit)
  const size = sizeOf(resolve(ref, root), root, known)
  known.set(ref, size)
  return size
}

/** Returns the value at a JSON Pointer in a fragment (RFC 6901, section 6). */
const resolve = (ref: string, root: Json): unknown =>
  ref
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, name) => recordOf(value)[name], root)

const sum = (sizes: SchemaSize[]): SchemaSize => ({
  optional: sizes.reduce((total, { optional }) => total + optional, 0),
  isUnfit: sizes.some(({ isUnfit }) => isUnfit),
})

/** Returns whether a schema is of objects with any fields. */
function isOpen({ additionalProperties, patternProperties, properties, type }: Json): boolean {
  if (additionalProperties === true || isRecord(additionalProperties)) return true
  if (Object.keys(recordOf(patternProperties)).length > 0) return true
  const isObject = [type].flat().includes('object')
  return isObject && properties == null && additionalProperties !== false
}

/** Keywords that Anthropic's grammar knows, beside those with schemas in them. */
const plainKeywords = new Set(
  '$schema $id title description default const enum type required'.split(' '),
)
const listKeywords = new Set(['anyOf', 'oneOf', 'allOf'])
const mapKeywords = new Set(['properties', '$defs', 'definitions'])

/** Constraints that only the model can follow. They become a part of the description. */
const constraints = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems
  maxItems uniqueItems minProperties maxProperties not`.split(/\s+/),
)
const formats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/** Returns a schema for `output_config.format`, which rejects other keywords. */
export function toFormatSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const { $ref, $defs, definitions } = schema
  const all: Json = $ref == null ? schema : { $ref, $defs, definitions }
  const result: Json = $ref == null ? {} : { $ref }
  for (const [name, value] of Object.entries(all)) {
    if (value === undefined || value === null) continue
    if (plainKeywords.has(name)) result[name] = value
    else if (listKeywords.has(name)) {
      const key = name === 'oneOf' ? 'anyOf' : name
      result[key] ??= itemsOf(value).map(toFormatSchema)
    } else if (mapKeywords.has(name)) result[name] = mapSchemas(value)
    else if (name === 'items') {
      result.items = Array.isArray(value) ? value.map(toFormatSchema) : toFormatSchema(value)
    } else if (name === 'format' && formats.has(String(value))) result.format = value
  }
  if (all.type === 'object' || all.properties != null) result.additionalProperties = false
  const words = [result.description, describeConstraints(all)].filter((text) => text !== undefined)
  if (words.length > 0) result.description = words.join('\n')
  return result
}

const mapSchemas = (schemas: unknown): Json =>
  Object.fromEntries(
    Object.entries(recordOf(schemas)).map(([name, schema]) => [name, toFormatSchema(schema)]),
  )

function describeConstraints(schema: Json): string | undefined {
  const texts = Object.entries(schema).flatMap(([name, value]) => {
    const isFormat = name === 'format' && typeof value === 'string' && !formats.has(value)
    if (value == null || value === false || !(isFormat || constraints.has(name))) return []
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return [`${words}: ${typeof value === 'string' ? value : JSON.stringify(value)}`]
  })
  return texts.length > 0 ? `${texts.join('; ')}.` : undefined
}
