/** Schemas of setting values. Some have a decoder, which returns the value in its final form. */
import { FormatRegistry, type TSchema, type TString, Type } from '@sinclair/typebox'

import { ipVersion } from '../address.ts'
import { fromUsd, zero } from '../money.ts'
import { describeSchema } from '../schema.ts'
import { priceParts } from './tables.ts'

/** `expected` completes "must be …" where the schema alone does not. A secret is not displayed. */
interface TextOptions {
  default?: string
  minLength?: number
  maxLength?: number
  pattern?: string
  expected?: string
  secret?: true
}

export const integer = (minimum: number, maximum: number, initial: number, description: string) =>
  Type.Integer({ minimum, maximum, default: initial, description })

export const optionalInteger = (maximum: number, description: string) =>
  Type.Union([Type.Null(), Type.Integer({ minimum: 0, maximum })], {
    default: null,
    description,
    expected: `empty, or an integer (0 to ${maximum})`,
  })

/** Calls that are allowed in a period; 0 turns the limit off. */
export const rate = (initial: number, description: string) =>
  integer(0, 1_000_000, initial, description)
export const seconds = (initial: number, description: string) =>
  integer(1, 86_400, initial, description)
export const retentionDays = (description: string) =>
  integer(0, 36_500, 400, `${description} 0 keeps them forever.`)

export const onOff = (isOn: boolean, description: string) =>
  Type.Boolean({ default: isOn, description, expected: 'on or off' })

export const choice = <const T extends string>(words: T[], description: string) => {
  const literals = words.map((word) => Type.Literal(word))
  return Type.Unsafe<T>(Type.Union(literals, { default: words[0], description }))
}

export const text = (description: string, options: TextOptions = {}) =>
  Type.String({ maxLength: 1_000, default: '', description, ...options })
export const secret = (description: string, options: TextOptions = {}) =>
  text(description, { ...options, secret: true })

const parseUrl = (value: string): URL | undefined => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash ? url : undefined
}
/** Parses the URL of an RPC server, which may carry its key in the path or the query. */
const parseRpcUrl = (value: string): URL | undefined => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && !url.hash ? url : undefined
}
const withoutSlash = (value: string): string => parseUrl(value)?.href.replace(/\/$/, '') ?? ''

export const isPostgresUrl = (value: string): boolean => /^postgres(ql)?:\/\//.test(value)

/** Completes the value of OLLAMA_HOST: "127.0.0.1" is http on port 11434. */
function ollamaUrl(value: string): string {
  if (value.includes('://')) return value
  return /:\d+$/.test(value) ? `http://${value}` : `http://${value}:11434`
}

const formats = {
  'ip-address': {
    expected: 'IP addresses (no ranges), separated by commas',
    check: (value: string) => ipVersion(value) !== 0,
  },
  'host-name': {
    expected: 'names of hosts such as berth.example, separated by commas',
    check: (value: string) => /^(?!-)[a-z\d-]{1,63}(\.[a-z\d-]{1,63})+$/.test(value),
  },
  'http-url': {
    expected: 'an http:// or https:// address, without a query',
    check: (value: string) => value === '' || parseUrl(value) !== undefined,
  },
  'http-origin': {
    expected: 'an http:// or https:// address without a path',
    check: (value: string) => value === '' || parseUrl(value)?.pathname === '/',
  },
  'ollama-host': {
    expected: 'an address, or off',
    check: (value: string) => value === 'off' || parseUrl(ollamaUrl(value)) !== undefined,
  },
  'http-urls': {
    expected: 'http:// or https:// addresses, separated by commas',
    check: (value: string) => parseRpcUrl(value) !== undefined,
  },
  'postgres-url': {
    expected: 'a postgres:// address, or empty for SQLite in the data folder',
    check: (value: string) => value === '' || isPostgresUrl(value),
  },
}
for (const [format, { check }] of Object.entries(formats)) FormatRegistry.Set(format, check)

const formatted = (format: keyof typeof formats, description: string, options: TextOptions = {}) =>
  Type.String({ format, default: '', expected: formats[format].expected, description, ...options })

const decoded = <T>(schema: TString, decode: (value: string) => T) =>
  Type.Transform(schema).Decode(decode).Encode(String)

/** A URL, stored without a slash at its end. */
export const url = (description: string, initial = '') =>
  decoded(formatted('http-url', description, { default: initial }), withoutSlash)
/** A URL with a secret in its path, such as that of a chat channel. It is not displayed. */
export const secretUrl = (description: string) =>
  decoded(formatted('http-url', description, { secret: true }), withoutSlash)
/** The URL of a whole host, because its pages know no path prefix. */
export const origin = (description: string) =>
  decoded(formatted('http-origin', description), withoutSlash)
/** The URL of an OpenID Connect issuer, unchanged: a slash at its end is part of the name. */
export const issuer = (description: string) => formatted('http-url', description)
/** The URL of a database. It contains a password. */
export const databaseUrl = (description: string) =>
  formatted('postgres-url', description, { secret: true })
/** The URL of an Ollama; empty for "off". */
export const ollamaHost = (description: string) =>
  decoded(formatted('ollama-host', description, { default: 'http://127.0.0.1:11434' }), (value) =>
    value === 'off' ? '' : withoutSlash(ollamaUrl(value)),
  )

/** A region of AWS. It becomes a part of a host name. */
export const awsRegion = (description: string) =>
  text(description, {
    default: 'us-east-1',
    pattern: '^[a-z0-9-]{1,30}$',
    expected: 'a region such as eu-central-1',
  })

export const addressList = (description: string) =>
  Type.Array(Type.String({ format: 'ip-address' }), {
    default: [],
    description,
    expected: formats['ip-address'].expected,
  })

export const hostList = (description: string) =>
  Type.Array(Type.String({ format: 'host-name' }), {
    default: [],
    maxItems: 2,
    description,
    expected: `at most two ${formats['host-name'].expected}`,
  })

/** URLs in the order of their use. They may contain keys, so they are not displayed. */
export const urlList = (description: string) =>
  Type.Array(Type.String({ format: 'http-urls' }), {
    default: [],
    maxItems: 10,
    description,
    expected: formats['http-urls'].expected,
    secret: true,
  })

/** Names without white space. */
export const nameList = (description: string) =>
  Type.Array(Type.String({ pattern: '^\\S{1,200}$' }), {
    default: [],
    maxItems: 500,
    description,
    expected: 'at most 500 names, separated by commas',
  })

/** Models, each with the parts of its price. */
export const priceList = (description: string) => {
  const part = `(${priceParts.join('|')})=\\d{1,9}(\\.\\d{1,15})?`
  const pattern = `^[^\\s:,]{1,200}( ${part}){1,${priceParts.length}}$`
  return Type.Array(Type.String({ pattern }), {
    default: [],
    maxItems: 500,
    description,
    expected:
      'at most 500 models with prices in USD per unit, such as x/y prompt=0.000002 completion=0.00001, separated by commas',
  })
}

/** An address of an EVM chain. */
export const evmAddress = (description: string) =>
  text(description, {
    pattern: '^(0x[0-9a-fA-F]{40})?$',
    expected: 'an address, 0x and 40 hexadecimal digits',
  })

/** A private key of an EVM chain. */
export const evmPrivateKey = (description: string) =>
  text(description, {
    pattern: '^(0x[0-9a-fA-F]{64})?$',
    expected: 'a private key, 0x and 64 hexadecimal digits',
    secret: true,
  })

/** An EVM chain by its name or its CAIP-2 identifier. */
export const evmNetwork = (initial: string, description: string) =>
  text(description, {
    default: initial,
    pattern: '^(base|base-sepolia|eip155:[1-9][0-9]{0,14})$',
    expected: 'base, base-sepolia or eip155:<chain id>',
  })

/** USD per unit, as text because a price may have more digits than a balance. */
export const usdPrice = (initial: string, description: string) => {
  const pattern = '^\\d{1,4}(\\.\\d{1,15})?$'
  return text(description, { pattern, default: initial, expected: 'USD, such as 0.005' })
}

export const usdAmount = (initial: string, description: string) => {
  const pattern = '^\\d{1,6}(\\.\\d{1,9})?$'
  const schema = text(description, { pattern, default: initial, expected: 'USD, such as 0.50' })
  return decoded(schema, (value) => fromUsd(value) ?? zero)
}

/**
 * Declares that the operator may change settings in the console while the server runs. Code reads
 * them from `AppContext.config` at each use, or applies them with `LiveSettings.onChange`.
 */
export const editable = <Group extends Record<string, TSchema>>(group: Group): Group => {
  for (const schema of Object.values(group)) schema.editable = true
  return group
}

/** Describes the values that a setting accepts. */
export const expectedOf = (schema: TSchema): string => schema.expected ?? describeSchema(schema)

const isOnOff = /^(?:(on|true|1)|off|false|0)$/

/** Converts the text of a setting to what its schema checks; the text itself where it cannot. */
export function fromText(schema: TSchema, value: string): unknown {
  const types = [schema, ...(schema.anyOf ?? [])].map(({ type }: TSchema) => type)
  if (types.includes('null') && value === '') return null
  if (types.includes('integer') && /^\d{1,16}$/.test(value)) return Number(value)
  if (types.includes('boolean')) {
    const word = isOnOff.exec(value)
    return word ? word[1] !== undefined : value
  }
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
