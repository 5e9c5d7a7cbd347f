/**
 * The tables of berth.toml that name upstreams and models, and the providers that need no table
 * because a key in the environment is enough.
 */
import { type Static, Type } from '@sinclair/typebox'

import { type Fault, readRows } from '../core/table-rows.ts'

/** Kinds that do not speak OpenAI's HTTP, and where each is reached unless told otherwise. */
const translated = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  cohere: 'https://api.cohere.com/v2',
  fal: 'https://fal.run',
  replicate: 'https://api.replicate.com/v1',
  elevenlabs: 'https://api.elevenlabs.io',
  deepgram: 'https://api.deepgram.com',
} as const

export type TranslatedKind = keyof typeof translated

interface Provider {
  /** Where the config has its key. */
  key: string
  kind: 'openai' | TranslatedKind
  baseUrl: string
  /** How its HTTP differs: see upstream/body.ts. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  refusesStreamOptions?: boolean
}

const openai = { kind: 'openai' } as const
const modern = { ...openai, outputName: 'max_completion_tokens' } as const
const older = { ...openai, outputName: 'max_tokens' } as const

const spoken = <K extends TranslatedKind>(kind: K) => ({ kind, baseUrl: translated[kind] })

/** Providers whose key is enough, by the name that `upstream` in a `[[model]]` gives them. */
export const providers = {
  openai: { key: 'openaiApiKey', baseUrl: 'https://api.openai.com/v1', ...modern },
  openrouter: { key: 'openrouterApiKey', ...openai, baseUrl: 'https://openrouter.ai/api/v1' },
  groq: { key: 'groqApiKey', baseUrl: 'https://api.groq.com/openai/v1', ...modern },
  together: { key: 'togetherApiKey', baseUrl: 'https://api.together.xyz/v1', ...older },
  deepseek: { key: 'deepseekApiKey', baseUrl: 'https://api.deepseek.com/v1', ...older },
  mistral: {
    key: 'mistralApiKey',
    baseUrl: 'https://api.mistral.ai/v1',
    ...older,
    refusesStreamOptions: true,
  },
  xai: { key: 'xaiApiKey', baseUrl: 'https://api.x.ai/v1', ...modern },
  gemini: { key: 'geminiApiKey', ...spoken('google') },
  anthropic: { key: 'anthropicApiKey', ...spoken('anthropic') },
  cohere: { key: 'cohereApiKey', ...spoken('cohere') },
  fal: { key: 'falKey', ...spoken('fal') },
  replicate: { key: 'replicateApiToken', ...spoken('replicate') },
  elevenlabs: { key: 'elevenlabsApiKey', ...spoken('elevenlabs') },
  deepgram: { key: 'deepgramApiKey', ...spoken('deepgram') },
} as const satisfies Record<string, Provider>

/** What a model is for (document 2, section 2). */
export const modelTypes = ['chat', 'image', 'video', 'audio', 'embedding'] as const

/** Upstreams that stand without a row of their own. */
const builtIn = ['demo', 'ollama']

const closed = { additionalProperties: false }
const Word = Type.String({ minLength: 1, maxLength: 200 })
const Words = Type.Array(Word, { minItems: 1, maxItems: 20 })
const Whole = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })
/** USD per unit, as text: a TOML number would lose digits. */
const Usd = Type.String({
  pattern: '^\\d{1,9}(\\.\\d{1,15})?$',
  description: 'USD as text, such as "0.00000015"',
})

const Tier = Type.Object(
  {
    above: Whole,
    prompt: Usd,
    completion: Usd,
    cache_read: Type.Optional(Usd),
    cache_write: Type.Optional(Usd),
  },
  closed,
)

const PriceTable = Type.Partial(
  Type.Object(
    {
      prompt: Usd,
      completion: Usd,
      cache_read: Usd,
      cache_write: Usd,
      reasoning: Usd,
      audio: Usd,
      per_image: Usd,
      per_second: Usd,
      per_character: Usd,
      per_minute: Usd,
      per_search: Usd,
      tiers: Type.Array(Tier, { maxItems: 10 }),
    },
    closed,
  ),
)

const isTranslated = (kind: string): kind is TranslatedKind => kind in translated
const kindNames: Provider['kind'][] = ['openai', ...Object.keys(translated).filter(isTranslated)]

const UpstreamTable = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }),
    kind: Type.Union(kindNames.map((kind) => Type.Literal(kind))),
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s?#]+$',
        maxLength: 500,
        description: 'an http:// or https:// address',
      }),
    ),
    api_key: Type.Optional(Type.String({ maxLength: 1_000 })),
    api_key_env: Type.Optional(Word),
  },
  closed,
)

const ModelTable = Type.Object(
  {
    id: Type.String({ pattern: '^[^\\s:][^\\s]{0,199}$' }),
    name: Type.Optional(Word),
    upstream: Type.Union([Word, Words]),
    upstream_model: Type.Optional(Word),
    type: Type.Union(modelTypes.map((word) => Type.Literal(word))),
    inputs: Type.Optional(Words),
    outputs: Type.Optional(Words),
    supports_tools: Type.Optional(Type.Boolean()),
    context_length: Type.Optional(Whole),
    max_output: Type.Optional(Whole),
    picture_tokens: Type.Optional(Whole),
    price: Type.Optional(PriceTable),
  },
  closed,
)

export interface UpstreamRow {
  name: string
  kind: Provider['kind']
  /** Without a slash at its end. */
  baseUrl: string
  apiKey?: string
}

export interface ModelRow {
  id: string
  /** In the order they are tried. */
  upstreams: string[]
  upstreamModel: string
  type: (typeof modelTypes)[number]
  name?: string
  inputs?: string[]
  outputs?: string[]
  supportsTools?: boolean
  contextLength?: number
  maxOutput?: number
  pictureTokens?: number
  price?: Static<typeof PriceTable>
}

/**
 * Reads `[[upstream]]`. `variable` answers a variable of the environment; `lack` is told of a key
 * that is in none.
 */
export function readUpstreams(
  tables: unknown,
  variable: (name: string) => string | undefined,
  fault: Fault,
  lack: Fault,
): UpstreamRow[] {
  const rows = readRows('upstream', UpstreamTable, tables, fault).map((table) => {
    const { name, kind, api_key, api_key_env } = table
    const apiKey = api_key ?? (api_key_env && variable(api_key_env))
    if (api_key !== undefined && api_key_env !== undefined) {
      fault(`[[upstream]] ${name}: give api_key or api_key_env, not both.`)
    } else if (api_key_env && !apiKey) {
      lack(`[[upstream]] ${name}: ${api_key_env} is not set in the environment.`)
    }
    const own = kind === 'openai' ? '' : translated[kind]
    const { base_url: address = own } = table
    if (!address) fault(`[[upstream]] ${name}: the kind openai needs a base_url.`)
    const row = { name, kind, baseUrl: address.replace(/\/+$/, '') }
    return apiKey ? { ...row, apiKey } : row
  })
  const taken = [...Object.keys(providers), ...builtIn]
  for (const name of [...rows.map((row) => row.name), ...taken].filter(isTwice)) {
    fault(`[[upstream]] ${name}: the name is taken.`)
  }
  return rows
}

/** Reads `[[model]]`; each names an upstream of a table, of a key, or one that is built in. */
export function readModels(tables: unknown, upstreams: string[], fault: Fault): ModelRow[] {
  const known = new Set([...upstreams, ...builtIn])
  const rows = readRows('model', ModelTable, tables, fault).map(modelRow)
  for (const { id, upstreams } of rows) {
    for (const name of upstreams.filter((name) => !known.has(name))) {
      fault(`[[model]] ${id}: there is no upstream "${name}", or no key for it.`)
    }
  }
  for (const id of rows.map((row) => row.id).filter(isTwice)) {
    fault(`[[model]] ${id}: there are two of them.`)
  }
  return rows
}

function modelRow({ upstream, upstream_model, ...table }: Static<typeof ModelTable>): ModelRow {
  const { supports_tools, context_length, max_output, picture_tokens, ...same } = table
  return {
    ...same,
    upstreams: typeof upstream === 'string' ? [upstream] : upstream,
    upstreamModel: upstream_model ?? table.id,
    ...(supports_tools !== undefined && { supportsTools: supports_tools }),
    ...(context_length !== undefined && { contextLength: context_length }),
    ...(max_output !== undefined && { maxOutput: max_output }),
    ...(picture_tokens !== undefined && { pictureTokens: picture_tokens }),
  }
}

const isTwice = (word: string, at: number, all: string[]): boolean => all.indexOf(word) < at
