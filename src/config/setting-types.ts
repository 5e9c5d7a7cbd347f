/** Schemas of setting values. Some have a decoder, which returns the value in its final form. */
import { FormatRegistry, type TSchema, type TString, Type } from '@sinclair/typebox'

import { ipVersion } from '../core/address.ts'
import { fromUsd, zero } from '../core/money.ts'

/** `expected` completes "must be …" in an error message. A secret is never displayed. */
interface Options {
  default?: unknown
  description: string
  expected?: string
  secret?: true
}

export const integer = (minimum: number, maximum: number, initial: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    default: initial,
    description,
    expected: `a whole number from ${minimum} to ${maximum}`,
  })

export const optionalInteger = (maximum: number, description: string) =>
  Type.Union([Type.Null(), Type.Integer({ minimum: 0, maximum })], {
    default: null,
    description,
    expected: `empty, or a whole number from 0 to ${maximum}`,
  })

export const onOff = (isOn: boolean, description: string) =>
  Type.Boolean({ default: isOn, description, expected: 'on or off' })

export const choice = <const T extends string>(words: T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { default: words[0], description, expected: words.join(' or ') },
    ),
  )

export const text = (options: Options & { pattern?: string; minLength?: number }) =>
  Type.String({
    maxLength: 1_000,
    default: '',
    expected: 'text of at most 1,000 characters',
    ...options,
  })

/** A text that its format checks; empty where the setting is not set. */
const formatted =
  (format: string, expected: string) =>
  (description: string, options = {}) =>
    Type.String({ format, default: '', expected, description, ...options })

const decoded = <T>(schema: TString, decode: (value: string) => T) =>
  Type.Transform(schema).Decode(decode).Encode(String)

const parseUrl = (value: string): URL | undefined => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash ? url : undefined
}
const withoutSlash = (value: string): string => parseUrl(value)?.href.replace(/\/$/, '') ?? ''

export const isPostgresUrl = (value: string): boolean => /^postgres(ql)?:\/\//.test(value)

/** Completes an address as OLLAMA_HOST may have it: "127.0.0.1" is http on port 11434. */
function ollamaUrl(value: string): string {
  if (value.includes('://')) return value
  return /:\d+$/.test(value) ? `http://${value}` : `http://${value}:11434`
}

const checks: Record<string, (value: string) => boolean> = {
  'ip-address': (value) => ipVersion(value) !== 0,
  'http-url': (value) => value === '' || parseUrl(value) !== undefined,
  'http-origin': (value) => value === '' || parseUrl(value)?.pathname === '/',
  'ollama-host': (value) => value === 'off' || parseUrl(ollamaUrl(value)) !== undefined,
  'postgres-url': (value) => value === '' || isPostgresUrl(value),
}
for (const [format, check] of Object.entries(checks)) FormatRegistry.Set(format, check)

const urlText = formatted('http-url', 'an http:// or https:// address, without a query')
const originText = formatted('http-origin', 'an http:// or https:// address without a path')
const ollamaText = formatted('ollama-host', 'an address, or off')

/** A URL, stored without a slash at its end. */
export const url = (description: string) => decoded(urlText(description), withoutSlash)
/** The URL of a whole host, because its pages know no path prefix. */
export const origin = (description: string) => decoded(originText(description), withoutSlash)
/** The URL of an OpenID Connect issuer, unchanged: a slash at its end is part of the name. */
export const issuer = urlText
const databaseText = formatted(
  'postgres-url',
  'a postgres:// address, or empty for SQLite in the data folder',
)
/** The URL of a database. It contains a password. */
export const databaseUrl = (description: string) => databaseText(description, { secret: true })
/** The URL of an Ollama; empty for "off". */
export const ollamaHost = (description: string) =>
  decoded(ollamaText(description, { default: 'http://127.0.0.1:11434' }), (value) =>
    value === 'off' ? '' : withoutSlash(ollamaUrl(value)),
  )

export const addressList = (description: string) =>
  Type.Array(Type.String({ format: 'ip-address' }), {
    default: [],
    description,
    expected: 'IP addresses (no ranges), separated by commas',
  })

/** USD per unit, as text because a price may have more digits than a balance. */
export const usdPrice = (initial: string, description: string) =>
  text({
    pattern: '^\\d{1,4}(\\.\\d{1,15})?$',
    default: initial,
    description,
    expected: 'USD, such as 0.005',
  })

export const usdAmount = (initial: string, description: string) =>
  decoded(
    text({
      pattern: '^\\d{1,6}(\\.\\d{1,9})?$',
      default: initial,
      description,
      expected: 'USD, such as 5 or 0.50',
    }),
    (value) => fromUsd(value) ?? zero,
  )

export const secret = (description: string) => text({ description, secret: true })
/** Calls that are allowed in a period; 0 turns the limit off. */
export const rate = (initial: number, description: string) =>
  integer(0, 1_000_000, initial, description)
export const seconds = (initial: number, description: string) =>
  integer(1, 86_400, initial, description)
export const retentionDays = (description: string) =>
  integer(0, 36_500, 400, `${description} 0 keeps them forever.`)

const booleans: Record<string, boolean> = {
  on: true,
  off: false,
  true: true,
  false: false,
  1: true,
  0: false,
}

/** Converts the text of a setting to what its schema checks; the text itself where it cannot. */
export function fromText(schema: TSchema, value: string): unknown {
  const types = [schema, ...(schema.anyOf ?? [])].map(({ type }: TSchema) => type)
  if (types.includes('null') && value === '') return null
  if (types.includes('integer') && /^\d{1,16}$/.test(value)) return Number(value)
  if (types.includes('boolean')) return booleans[value] ?? value
  if (types.includes('array')) return value.split(',').flatMap((part) => part.trim() || [])
  return value
}

/** Returns a value of a setting as text: the inverse of `fromText`. */
export function toText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return Array.isArray(value) ? value.join(',') : String(value ?? '')
}

/** The name of a setting in code: "DATA_DIR" is "dataDir". */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>

export const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
