import {
  FormatRegistry,
  type ObjectOptions,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { ValueErrorType } from '@sinclair/typebox/errors'

import { idPattern } from './ids.ts'
import { jsonDepthMax } from './limits.ts'
import { unplainMarks } from './text.ts'

/** Creates an enumeration. */
export const oneOf = <const T extends string>(words: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(words.map((word) => Type.Literal(word))))

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An id of document 1, section 2. */
export const IdSchema = Type.String({ pattern: idPattern.source })
// The framework's formats accept dates in many forms and dominate the time of a response check.
const dateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
const uri = /^[a-z][a-z\d+.-]*:[^\s]+$/
FormatRegistry.Set('date-time', (text) => dateTime.test(text))
FormatRegistry.Set('uri', (text) => uri.test(text))
// A number in a query is in plain digits. The framework's own format accepts 0x10 and 1e1, too.
FormatRegistry.Set('numeric', (text) => /^\d{1,15}(\.\d{1,20})?$/.test(text))

/** RFC 3339. Responses have UTC to the millisecond; requests may have any offset. */
export const TimeSchema = Type.String({ format: 'date-time' })

/** `TimeSchema` of a request. The pattern is for clients that do not check formats. */
export const TimeRequestSchema = Type.String({
  format: 'date-time',
  described: { pattern: dateTime.source },
})

/** A day or a moment of ISO 8601 in a query. The operation parses it. */
export const momentSchema = (description: string) =>
  Type.String({
    maxLength: 40,
    description,
    described: { anyOf: [{ format: 'date' }, { format: 'date-time' }] },
  })
export const LinkSchema = Type.String({ format: 'uri' })

/** Creates the schema of a response that is not JSON. */
export const mediaSchema = (contentMediaType: string, more: { description?: string } = {}) =>
  Type.Unsafe<never>(Type.String({ ...more, contentMediaType }))

/** A response of any media type: bytes, or the value of a JSON file. */
export const anyMediaSchema = Type.Unsafe<never>(Type.Any({ contentMediaType: '*/*' }))

/** The 416 for a range behind the end, which the runtime sends without a body. */
export const RangeNotSatisfiableSchema = Type.Void()

/** The 304 for an If-None-Match that still matches. */
export const NotModifiedSchema = Type.Void()

/** A JSON object of unknown fields. */
export type Json = Record<string, unknown>

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the fields of a JSON value; none where it is not an object. */
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** Returns the fields of an object that have one of the names. */
export const pickFields = (object: Json, names: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => names.has(name)))

/**
 * Returns what a table of constants has for a JSON value, and undefined for all that is not among
 * its names. `table[name]` would also find the members of every object, such as "constructor".
 */
export const lookUp = <T>(table: Readonly<Record<string, T>>, name: unknown): T | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined

/**
 * Returns a JSON value as text, an object as JSON. `String` would call its field "toString", and
 * throw where that is not a function.
 */
export const toText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)

const none: readonly unknown[] = []

/** Returns the items of a JSON value; none where it is not a list. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : none)

/** Returns the objects in a JSON list; an empty list for any other value. */
export const recordsIn = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

/** Returns a JSON string; '' for any other value. */
export const asString = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A shorter text cannot be nested too deep to serialize. */
const deepCharsMin = 8_192

/**
 * Parses a JSON object. Returns undefined for any other text, and for one nested more than 64 deep:
 * it could be parsed but not serialized again.
 */
export function parseRecord(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isShallow = text.length < deepCharsMin || isNestedWithin(value, jsonDepthMax)
    return isShallow && isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isNestedWithin = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 &&
    (Array.isArray(value) ? value : Object.values(value)).every((part) =>
      isNestedWithin(part, depth - 1),
    ))

/** An object with any fields, for the OpenAPI description: generated clients send only those. */
export const anyObject = { type: 'object', additionalProperties: {} } as const

/** Creates the schema of an object with no other fields, such as a request. */
export const strictObject = <Fields extends TProperties>(fields: Fields, more?: ObjectOptions) =>
  Type.Object(fields, { additionalProperties: false, ...more })

/** Creates the schema of an object that the description of an API names. */
export const namedObject = <Fields extends TProperties>(
  title: string,
  fields: Fields,
  more?: ObjectOptions,
) => Type.Object(fields, { title, ...more })

/** Creates an object schema that ignores unknown fields, because clients send many. */
export const lenientObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: true })

/**
 * Creates fields that are always null, from their names in one text: their schemas and their
 * values. Clients of other APIs require fields of which this server knows nothing.
 */
export const nullFields = (names: string) => {
  const fields = names.trim().split(/\s+/)
  const schemas: Record<string, TSchema> = Object.fromEntries(
    fields.map((name) => [name, Type.Unsafe<unknown>(Type.Null())]),
  )
  return { schemas, values: Object.fromEntries(fields.map((name) => [name, null])) }
}

/** The characters of whole groups of base64 (RFC 4648, section 4). */
export const base64Pattern = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?'

/**
 * Describes an amount of a request: six decimals are a nano-USD of credits. Responses do without:
 * validators that divide floating-point numbers reject 0.001.
 */
export const sixDecimals: Described = { described: { multipleOf: 0.000_001 } }

// Some generators of clients do not know classes such as \p{Cc}.
const plainLine = `^[^\\u0000-\\u001f\\u007f-\\u009f${unplainMarks}]*$`
const plainText = `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${unplainMarks}]*$`

/**
 * Keywords of the description only (server/http/openapi.ts): the operation checks them, with errors
 * that say more than those of the schema.
 */
export interface Described {
  described: Record<string, unknown>
}

/** Describes an object that must have exactly one of these fields. */
export const exactlyOne = (...names: string[]): Described => ({
  described: { oneOf: names.map((name) => ({ required: [name] })) },
})

/** Describes an object that must have a field. */
export const notEmpty: Described = { described: { minProperties: 1 } }

/**
 * Creates the schema of a plain text with at most `charsMax` characters. JSON Schema counts code
 * points, TypeBox UTF-16 units. So the operation checks length and characters (kernel/text.ts), and
 * the description has `maxLength` and a pattern.
 */
export const textSchema = (
  charsMax: number,
  more: { minLength?: number; description?: string } = {},
) => Type.String({ ...more, charsMax, described: { pattern: plainText } })

/** Creates the schema of a plain text in one line. */
export const lineSchema = (...[charsMax, more]: Parameters<typeof textSchema>) =>
  Type.String({ ...more, charsMax, described: { pattern: plainLine } })

/** Completes the error of a field: "must be a string", "is missing: it must be a string". */
export const mustBe = (type: ValueErrorType, expected: string): string =>
  `${type === ValueErrorType.ObjectRequiredProperty ? 'is missing: it ' : ''}must be ${expected}`

/** Descriptions of the formats of strings, with an example of each. */
const formats: Record<string, string> = {
  'date-time': 'a date-time such as 2026-12-31T00:00:00Z',
  date: 'a date such as 2026-12-31',
  uri: 'a URL such as https://example.com/page',
}

/** Describes the values that a schema accepts: "a string (8 to 64 characters)". */
export function describeSchema(schema: TSchema): string {
  const { anyOf, type, pattern, minLength, maxLength, charsMax = maxLength } = schema
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(anyOf)) return describeUnion(anyOf)
  const { minimum, maximum, minItems, maxItems, multipleOf, exclusiveMinimum: floor } = schema
  const matching = pattern === undefined ? '' : ` that matches ${pattern}`
  const formatted = lookUp(formats, schema.format)
  if (formatted !== undefined) return formatted
  if (type === 'string') return `a string${between(minLength, charsMax, ' characters')}${matching}`
  if (type === 'integer') return `an integer${between(minimum, maximum)}`
  const above = floor === undefined ? '' : ` above ${floor}`
  const number = multipleOf === 1 ? 'a whole number' : 'a number'
  if (type === 'number') return `${number}${above}${between(minimum, maximum)}`
  const distinct = schema.uniqueItems === true ? ', without duplicates' : ''
  if (type === 'array') return `an array${between(minItems, maxItems, ' items')}${distinct}`
  if (type === 'boolean') return 'true or false'
  return type === 'null' ? 'null' : 'an object'
}

const quote = (word: string): string => JSON.stringify(word)

function describeUnion(branches: TSchema[]): string {
  // The framework's number is a union of a number and its text.
  const kinds = branches.filter(({ format }) => !/^(numeric|integer)$/.test(format ?? ''))
  const words = kinds.flatMap((kind) =>
    typeof kind.const === 'string' && kind.const !== '' ? [kind.const] : [],
  )
  const others = kinds.filter((kind) => typeof kind.const !== 'string').map(describeSchema)
  const known = words.length > 1 ? [`one of ${words.join(', ')}`] : words.map(quote)
  return [...new Set([...known, ...others])].join(' or ')
}

function between(min?: number, max?: number, unit = ''): string {
  if (min === undefined) return max === undefined ? '' : ` (at most ${max}${unit})`
  if (max === undefined) return min === 1 && unit ? ', not empty' : ` (${min}${unit} or more)`
  return ` (${min} to ${max}${unit})`
}
