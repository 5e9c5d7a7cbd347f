/** The tables `[[upstream]]` and `[[model]]` of berth.toml. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'

import { describeSchema, mustBe, strictObject } from '../schema.ts'
import { aiSdkBaseUrls, type AiSdkKind, localServers, modelTypes, providers } from './providers.ts'

/** Upstreams that exist without configuration. */
const builtIn = ['demo', 'ollama', ...Object.keys(localServers)]

const NameSchema = Type.String({ minLength: 1, maxLength: 200 })
const NamesSchema = Type.Array(NameSchema, { minItems: 1, maxItems: 20 })
const CountSchema = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })
/**
 * The order in which the upstreams of a model are called. order: as configured. weights: by their
 * share of the calls. latency: the lowest measured one first. busy: the fewest running calls first.
 */
const balances = ['order', 'weights', 'latency', 'busy'] as const
export type Balance = (typeof balances)[number]
/** USD per unit, as text because a TOML number would lose digits. */
const UsdSchema = Type.String({
  pattern: '^\\d{1,9}(\\.\\d{1,15})?$',
  description: 'USD as text, such as "0.00000015"',
})

const TierSchema = strictObject({
  above: CountSchema,
  prompt: UsdSchema,
  completion: UsdSchema,
  cache_read: Type.Optional(UsdSchema),
  cache_write: Type.Optional(UsdSchema),
})

const PriceSchema = Type.Partial(
  strictObject({
    prompt: UsdSchema,
    completion: UsdSchema,
    cache_read: UsdSchema,
    cache_write: UsdSchema,
    reasoning: UsdSchema,
    audio: UsdSchema,
    audio_cache_read: UsdSchema,
    audio_completion: UsdSchema,
    per_image: UsdSchema,
    per_second: UsdSchema,
    per_character: UsdSchema,
    per_minute: UsdSchema,
    per_search: UsdSchema,
    tiers: Type.Array(TierSchema, { maxItems: 10 }),
  }),
)

const isAiSdk = (kind: string): kind is AiSdkKind => Object.hasOwn(aiSdkBaseUrls, kind)
const kinds: UpstreamRow['kind'][] = ['openai', ...Object.keys(aiSdkBaseUrls).filter(isAiSdk)]

export const priceParts = Object.keys(PriceSchema.properties).filter((name) => name !== 'tiers')

const UpstreamSchema = strictObject({
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }),
  kind: Type.Union(kinds.map((kind) => Type.Literal(kind))),
  base_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      maxLength: 500,
      description: 'an http:// or https:// address',
    }),
  ),
  api_key: Type.Optional(Type.String({ maxLength: 1_000 })),
  api_key_env: Type.Optional(NameSchema),
  free_fields: Type.Optional(Type.Array(NameSchema, { maxItems: 100 })),
  responses: Type.Optional(Type.Boolean()),
})

const ModelSchema = strictObject({
  id: Type.String({ pattern: '^[^\\s:][^\\s]{0,199}$' }),
  name: Type.Optional(NameSchema),
  upstream: Type.Union([NameSchema, NamesSchema]),
  upstream_model: Type.Optional(NameSchema),
  type: Type.Union(modelTypes.map((word) => Type.Literal(word))),
  inputs: Type.Optional(NamesSchema),
  outputs: Type.Optional(NamesSchema),
  supports_tools: Type.Optional(Type.Boolean()),
  context_length: Type.Optional(CountSchema),
  max_output: Type.Optional(CountSchema),
  picture_tokens: Type.Optional(CountSchema),
  price: Type.Optional(PriceSchema),
  balance: Type.Optional(Type.Union(balances.map((word) => Type.Literal(word)))),
  weights: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), { minItems: 1, maxItems: 20 }),
  ),
  retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
})

export interface UpstreamRow {
  name: string
  kind: 'openai' | AiSdkKind
  /** Without a slash at the end. */
  baseUrl: string
  apiKey?: string
  /** Request fields that are sent to this upstream beside the known ones. */
  freeFields?: string[]
  /** It has the Responses API; undefined: it has if it is OpenAI. */
  responses?: boolean
}

export interface ModelRow {
  id: string
  /** In the order in which they are called. */
  upstreams: string[]
  upstreamModel: string
  type: (typeof modelTypes)[number]
  name?: string
  inputs?: string[]
  outputs?: string[]
  supportsTools?: boolean
  contextLength?: number
  maxOutput?: number
  imageTokens?: number
  price?: Static<typeof PriceSchema>
  balance?: Balance
  /** One for each upstream. */
  weights?: number[]
  retries?: number
}

/** Receives the message of a problem in berth.toml. */
type Report = (problem: string) => void

/** Reads `[[upstream]]`. `needsKeys`: API keys that are not set are problems. */
export function readUpstreams(
  tables: unknown,
  environment: Record<string, string | undefined>,
  report: Report,
  needsKeys: boolean,
): UpstreamRow[] {
  const rows = readRows('upstream', UpstreamSchema, tables, report).map((table) => {
    const { name, kind, api_key, api_key_env, free_fields, responses } = table
    const apiKey = api_key ?? (api_key_env && environment[api_key_env])
    if (api_key !== undefined && api_key_env !== undefined) {
      report(`[[upstream]] ${name}: set api_key or api_key_env, not both.`)
    } else if (api_key_env && !apiKey && needsKeys) {
      report(`[[upstream]] ${name}: ${api_key_env} is not set in the environment.`)
    }
    const { base_url: baseUrl = kind === 'openai' ? '' : aiSdkBaseUrls[kind] } = table
    for (const [field, value] of Object.entries({ free_fields, responses })) {
      if (value === undefined || kind === 'openai') continue
      report(`[[upstream]] ${name}: ${field} needs the kind openai.`)
    }
    if (!baseUrl) report(`[[upstream]] ${name}: the kind openai needs a base_url.`)
    const row = { name, kind, baseUrl: baseUrl.replace(/\/+$/, '') }
    return {
      ...row,
      ...(apiKey && { apiKey }),
      ...(free_fields && { freeFields: free_fields }),
      ...(responses !== undefined && { responses }),
    }
  })
  const reserved = [...Object.keys(providers), ...builtIn]
  for (const name of [...rows.map((row) => row.name), ...reserved].filter(isRepeated)) {
    report(`[[upstream]] ${name}: the name is already taken.`)
  }
  return rows
}

/** Reads `[[model]]`. Each names an upstream: a configured one, one with a key, a built-in one. */
export function readModels(tables: unknown, upstreams: string[], report: Report): ModelRow[] {
  const known = new Set([...upstreams, ...builtIn])
  const rows = readRows('model', ModelSchema, tables, report).map(modelRow)
  for (const { id, upstreams, weights, balance } of rows) {
    if (weights && balance !== 'weights') {
      report(`[[model]] ${id}: weights need balance = "weights".`)
    }
    if ((weights?.length ?? upstreams.length) !== upstreams.length) {
      report(`[[model]] ${id}: weights must have one number for each upstream.`)
    }
    for (const name of upstreams.filter((name) => !known.has(name))) {
      report(`[[model]] ${id}: there is no upstream "${name}", or its API key is not set.`)
    }
  }
  for (const id of rows.map((row) => row.id).filter(isRepeated)) {
    report(`[[model]] ${id}: the id is used twice.`)
  }
  return rows
}

function modelRow({ upstream, upstream_model, ...table }: Static<typeof ModelSchema>): ModelRow {
  const { supports_tools, context_length, max_output, picture_tokens, ...same } = table
  return {
    ...same,
    upstreams: typeof upstream === 'string' ? [upstream] : upstream,
    upstreamModel: upstream_model ?? table.id,
    ...(supports_tools !== undefined && { supportsTools: supports_tools }),
    ...(context_length !== undefined && { contextLength: context_length }),
    ...(max_output !== undefined && { maxOutput: max_output }),
    ...(picture_tokens !== undefined && { imageTokens: picture_tokens }),
  }
}

/** Returns the rows of a table that fit its schema, and reports each field that does not. */
function readRows<T extends TSchema>(
  name: string,
  schema: T,
  tables: unknown,
  report: Report,
): Static<T>[] {
  if (tables === undefined) return []
  if (!Array.isArray(tables)) {
    report(`${name} must be a table, written as [[${name}]].`)
    return []
  }
  return tables.flatMap((table: unknown, at) => {
    if (Value.Check(schema, table)) return [table]
    // A missing field has a second error for its type: only the first of a field is reported.
    const errors = new Map<string, ValueError>()
    for (const error of Value.Errors(schema, table)) {
      if (!errors.has(error.path)) errors.set(error.path, error)
    }
    for (const [path, error] of errors) {
      report(`[[${name}]] number ${at + 1}: ${path.slice(1)} ${problemOf(error)}.`)
    }
    return []
  })
}

const problemOf = ({ type, schema }: ValueError): string =>
  type === ValueErrorType.ObjectAdditionalProperties
    ? 'is not a field of this table'
    : mustBe(type, schema.description ?? describeSchema(schema))

const isRepeated = (word: string, at: number, all: string[]): boolean => all.indexOf(word) < at
