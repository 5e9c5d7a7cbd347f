import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isRecord, recordOf } from '../core/schema.ts'
import type { Listing } from './listing.ts'
import { fromUsdPerUnit, type PriceTexts, toUsdPerUnit } from './price.ts'

/** A model as a public list has it: where it is had, by its name there. */
export interface ListedModel {
  upstream: string
  model: string
  listing: Omit<Listing, 'id'>
}

const Kept = Type.Array(
  Type.Unsafe<ListedModel>(
    Type.Object({ upstream: Type.String(), model: Type.String(), listing: Type.Object({}) }),
  ),
)

/** What was kept of the lists before: none where nothing was. Throws when it is damaged. */
export function parseSyncedModels(kept: unknown): ListedModel[] {
  if (kept === undefined) return []
  if (Value.Check(Kept, kept)) return kept
  throw new Error('models.json in the data folder is damaged: remove it, and sync the models again')
}

type Row = Record<string, unknown>

/** Our upstreams by their names in models.dev, and in LiteLLM's list. */
const inModelsDev: Record<string, string> = {
  openai: 'openai',
  openrouter: 'openrouter',
  groq: 'groq',
  togetherai: 'together',
  deepseek: 'deepseek',
  mistral: 'mistral',
  xai: 'xai',
  google: 'gemini',
  anthropic: 'anthropic',
  cohere: 'cohere',
}
const inLiteLlm: Record<string, string> = {
  openai: 'openai',
  openrouter: 'openrouter',
  groq: 'groq',
  together_ai: 'together',
  deepseek: 'deepseek',
  mistral: 'mistral',
  xai: 'xai',
  gemini: 'gemini',
  anthropic: 'anthropic',
  cohere: 'cohere',
  cohere_chat: 'cohere',
}

/**
 * Reads a public list of models that are paid by the token, models.dev's or LiteLLM's: whichever it
 * is, it says itself. Rows without a price, and what neither is, are left out.
 */
export const parseModelList = (list: unknown): ListedModel[] =>
  rowsOf(list).flatMap(([name, row]) =>
    isRecord(row.models) ? readModelsDev(name, row.models) : readLiteLlm(name, row),
  )

const rowsOf = (value: unknown): [string, Row][] =>
  Object.entries(recordOf(value)).flatMap(([name, row]): [string, Row][] =>
    isRecord(row) ? [[name, row]] : [],
  )

const namesInModelsDev = {
  prompt: 'input',
  completion: 'output',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  reasoning: 'reasoning',
  audio: 'input_audio',
}

function readModelsDev(provider: string, models: Row): ListedModel[] {
  const upstream = inModelsDev[provider]
  if (!upstream) return []
  return rowsOf(models).flatMap(([model, row]) => {
    const [cost, limit, kinds] = [recordOf(row.cost), recordOf(row.limit), recordOf(row.modalities)]
    const price = priced((name) => perMillion(cost[name]), namesInModelsDev)
    const dear = recordOf(cost.context_over_200k)
    const tier = priced((name) => perMillion(dear[name]), namesInModelsDev)
    const type: Listing['type'] = model.includes('embed') ? 'embedding' : 'chat'
    if (!price || (type === 'chat' && !wordsOf(kinds.output).includes('text'))) return []
    const listing: ListedModel['listing'] = {
      ...(typeof row.name === 'string' && { name: row.name }),
      type,
      inputs: wordsOf(kinds.input).map((kind) => (kind === 'pdf' ? 'file' : kind)),
      supportsTools: row.tool_call === true,
      contextLength: countOf(limit.context),
      maxOutput: countOf(limit.output),
      price: withTier(price, 200_000, tier),
    }
    return [{ upstream, model, listing }]
  })
}

const namesInLiteLlm = {
  prompt: 'input_cost_per_token',
  completion: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  reasoning: 'output_cost_per_reasoning_token',
  cache_write: 'cache_creation_input_token_cost',
  audio: 'input_cost_per_audio_token',
}

function readLiteLlm(name: string, row: Row): ListedModel[] {
  const { litellm_provider: provider, mode } = row
  const upstream = typeof provider === 'string' ? inLiteLlm[provider] : undefined
  const type: Listing['type'] = mode === 'chat' || mode === 'embedding' ? mode : undefined
  if (!upstream || !type) return []
  const price = priced((part) => perOne(row[part]), namesInLiteLlm)
  const above = /_above_(\d+)k_tokens$/.exec(Object.keys(row).find(isTier) ?? '')?.[1]
  const tier = priced((part) => perOne(row[`${part}_above_${above}k_tokens`]), namesInLiteLlm)
  if (!price) return []
  const listing: ListedModel['listing'] = {
    type,
    inputs: ['text', ...takes.flatMap(([flag, kind]) => (row[flag] ? [kind] : []))],
    supportsTools: row.supports_function_calling === true,
    contextLength: countOf(row.max_input_tokens ?? row.max_tokens),
    maxOutput: countOf(row.max_output_tokens),
    price: withTier(price, Number(above) * 1_000, tier),
  }
  return [{ upstream, model: name.replace(`${provider}/`, ''), listing }]
}

const isTier = (name: string): boolean => /^input_cost_per_token_above_\d+k_tokens$/.test(name)

const takes = [
  ['supports_vision', 'image'],
  ['supports_pdf_input', 'file'],
  ['supports_audio_input', 'audio'],
  ['supports_video_input', 'video'],
] as const

type Parts = Partial<Record<keyof Omit<PriceTexts, 'tiers'>, string>>

/** The parts that have a price; undefined where the prompt has none. */
function priced(rate: (name: string) => string | undefined, names: Parts): PriceTexts | undefined {
  const found = Object.entries(names).flatMap(([part, name]) => {
    const text = rate(name)
    return text === undefined ? [] : [[part, text]]
  })
  const price: PriceTexts = Object.fromEntries(found)
  return price.prompt === undefined ? undefined : price
}

function withTier(price: PriceTexts, above: number, tier: PriceTexts | undefined): PriceTexts {
  if (tier?.prompt === undefined) return price
  const { prompt, completion = price.completion ?? '0', cache_read, cache_write } = tier
  const more = { ...(cache_read && { cache_read }), ...(cache_write && { cache_write }) }
  return { ...price, tiers: [{ above, prompt, completion, ...more }] }
}

/** USD per token as text, rounded up where a number has more than 15 decimals. */
function perOne(usd: unknown): string | undefined {
  if (typeof usd !== 'number' || usd < 0) return undefined
  const text = usd.toFixed(15)
  return fromUsdPerUnit(text) === undefined ? undefined : text.replace(/\.?0+$/, '')
}

function perMillion(usd: unknown): string | undefined {
  if (typeof usd !== 'number' || usd < 0) return undefined
  const rate = fromUsdPerUnit(usd.toFixed(15))
  return rate === undefined ? undefined : toUsdPerUnit((rate + 999_999n) / 1_000_000n)
}

const wordsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0
