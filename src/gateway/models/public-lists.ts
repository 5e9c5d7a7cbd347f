import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isRecord, itemsOf, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import type { Listing } from './catalog.ts'
import { type PriceTexts, type RateTexts, usdPerUnit } from './price.ts'

/** A model of a public list, with its upstream and its name there. */
export interface ListedModel {
  upstream: string
  model: string
  listing: Omit<Listing, 'id'>
}

const StoredSchema = Type.Array(
  Type.Unsafe<ListedModel>(
    Type.Object({ upstream: Type.String(), model: Type.String(), listing: Type.Object({}) }),
  ),
)

/** Parses the stored lists; none when nothing is stored. Throws when they are damaged. */
export function parseSyncedModels(stored: unknown): ListedModel[] {
  if (stored === undefined) return []
  if (Value.Check(StoredSchema, stored)) return stored
  throw new Error('models.json in the data folder is damaged. Delete it and sync the models again.')
}

/** Upstreams by their names in models.dev and in LiteLLM's list. */
const upstreamNames: Record<string, string> = {
  openai: 'openai',
  openrouter: 'openrouter',
  groq: 'groq',
  togetherai: 'together',
  together_ai: 'together',
  deepseek: 'deepseek',
  mistral: 'mistral',
  xai: 'xai',
  fireworks_ai: 'fireworks',
  cerebras: 'cerebras',
  moonshotai: 'moonshot',
  moonshot: 'moonshot',
  minimax: 'minimax',
  novita: 'novita',
  baseten: 'baseten',
  deepinfra: 'deepinfra',
  nebius: 'nebius',
  alibaba: 'alibaba',
  dashscope: 'alibaba',
  nvidia: 'nvidia',
  azure: 'azure',
  nvidia_nim: 'nvidia',
  google: 'gemini',
  gemini: 'gemini',
  anthropic: 'anthropic',
  cohere: 'cohere',
  cohere_chat: 'cohere',
}

/**
 * Parses a public list of models with token prices, in the format of models.dev or LiteLLM. Skips
 * rows without a price and rows of any other format.
 */
export const parseModelList = (list: unknown): ListedModel[] =>
  rowsOf(list).flatMap(([name, row]) =>
    isRecord(row.models) ? readModelsDev(name, row.models) : readLiteLlm(name, row),
  )

const rowsOf = (value: unknown): [string, Json][] =>
  Object.entries(recordOf(value)).flatMap(([name, row]): [string, Json][] =>
    isRecord(row) ? [[name, row]] : [],
  )

const modelsDevRates = {
  prompt: 'input',
  completion: 'output',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  reasoning: 'reasoning',
  audio: 'input_audio',
}

function readModelsDev(provider: string, models: Json): ListedModel[] {
  const upstream = lookUp(upstreamNames, provider)
  if (!upstream) return []
  return rowsOf(models).flatMap(([model, row]) => {
    const [cost, limit, kinds] = [recordOf(row.cost), recordOf(row.limit), recordOf(row.modalities)]
    const price = readRates((name) => perToken(cost[name], 1_000_000n), modelsDevRates)
    const above = recordOf(cost.context_over_200k)
    const tier = readRates((name) => perToken(above[name], 1_000_000n), modelsDevRates)
    const type: Listing['type'] = model.includes('embed') ? 'embedding' : 'chat'
    if (!price || (type === 'chat' && !stringsIn(kinds.output).includes('text'))) return []
    const listing: ListedModel['listing'] = {
      ...(typeof row.name === 'string' && { name: row.name }),
      type,
      inputs: stringsIn(kinds.input).map((kind) => (kind === 'pdf' ? 'file' : kind)),
      supportsTools: row.tool_call === true,
      contextLength: positiveInteger(limit.context),
      maxOutput: positiveInteger(limit.output),
      price: withTier(price, 200_000, tier),
    }
    return [{ upstream, model, listing }]
  })
}

const liteLlmRates = {
  prompt: 'input_cost_per_token',
  completion: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  reasoning: 'output_cost_per_reasoning_token',
  cache_write: 'cache_creation_input_token_cost',
  audio: 'input_cost_per_audio_token',
}

function readLiteLlm(name: string, row: Json): ListedModel[] {
  const { litellm_provider: provider, mode } = row
  const upstream = typeof provider === 'string' ? lookUp(upstreamNames, provider) : undefined
  const type: Listing['type'] = mode === 'chat' || mode === 'embedding' ? mode : undefined
  if (!upstream || !type) return []
  const price = readRates((name) => perToken(row[name], 1n), liteLlmRates)
  const above = /_above_(\d+)k_tokens$/.exec(Object.keys(row).find(isTier) ?? '')?.[1]
  const tier = readRates(
    (name) => perToken(row[`${name}_above_${above}k_tokens`], 1n),
    liteLlmRates,
  )
  if (!price) return []
  const listing: ListedModel['listing'] = {
    type,
    inputs: ['text', ...inputFlags.flatMap(([flag, kind]) => (row[flag] ? [kind] : []))],
    supportsTools: row.supports_function_calling === true,
    contextLength: positiveInteger(row.max_input_tokens ?? row.max_tokens),
    maxOutput: positiveInteger(row.max_output_tokens),
    price: withTier(price, Number(above) * 1_000, tier),
  }
  return [{ upstream, model: name.replace(`${provider}/`, ''), listing }]
}

const isTier = (name: string): boolean => /^input_cost_per_token_above_\d+k_tokens$/.test(name)

const inputFlags = [
  ['supports_vision', 'image'],
  ['supports_pdf_input', 'file'],
  ['supports_audio_input', 'audio'],
  ['supports_video_input', 'video'],
] as const

/** Reads the rates that a row has; undefined without a rate for the prompt. */
function readRates(
  rate: (name: string) => string | undefined,
  names: RateTexts,
): PriceTexts | undefined {
  const rates = Object.entries(names).flatMap(([part, name]) => {
    const text = rate(name)
    return text === undefined ? [] : [[part, text]]
  })
  const price: PriceTexts = Object.fromEntries(rates)
  return price.prompt === undefined ? undefined : price
}

function withTier(price: PriceTexts, above: number, tier: PriceTexts | undefined): PriceTexts {
  if (tier?.prompt === undefined) return price
  const { prompt, completion = price.completion ?? '0', cache_read, cache_write } = tier
  const more = { ...(cache_read && { cache_read }), ...(cache_write && { cache_write }) }
  return { ...price, tiers: [{ above, prompt, completion, ...more }] }
}

const perToken = (usd: unknown, tokens: bigint): string | undefined =>
  typeof usd === 'number' ? usdPerUnit(usd, tokens) : undefined

const stringsIn = (value: unknown): string[] =>
  itemsOf(value).filter((item) => typeof item === 'string')
const positiveInteger = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0
