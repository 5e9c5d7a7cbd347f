import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices'

import { lookUp } from '../../kernel/schema.ts'
import { type Listing, type Model, toModel } from './catalog.ts'
import { type ModelType, parts, type PriceTexts, type TierTexts, usdPerUnit } from './price.ts'
import type { ListedModel } from './public-lists.ts'

interface Provider {
  id: string
  /** Maker of the models whose ids name none. */
  maker: string
  /** The models that are served; all when undefined. */
  only?: RegExp
  /** Inputs of its chat models beside text and images. */
  inputs?: string[]
  /** Returns the name of a listed model in requests; by default it is the same. */
  nameOf?: (id: string) => string
}

const providers: Record<string, Provider> = {
  // Its codex and pro models support the Responses API only.
  openai: { id: 'openai', maker: 'openai', only: /^(?!.*(codex|-pro$))/ },
  openrouter: { id: 'openrouter', maker: 'openrouter' },
  groq: { id: 'groq', maker: 'groq' },
  together: { id: 'together', maker: 'together' },
  deepseek: { id: 'deepseek', maker: 'deepseek' },
  mistral: { id: 'mistral', maker: 'mistralai' },
  xai: { id: 'x-ai', maker: 'x-ai' },
  fireworks: {
    id: 'fireworks',
    maker: 'fireworks',
    nameOf: (id) => `accounts/fireworks/models/${id}`,
  },
  cerebras: { id: 'cerebras', maker: 'cerebras' },
  perplexity: { id: 'perplexity', maker: 'perplexity' },
  moonshot: { id: 'moonshotai', maker: 'moonshotai' },
  zai: { id: 'zai', maker: 'z-ai', nameOf: (id) => id.toLowerCase() },
  minimax: { id: 'minimax', maker: 'minimax' },
  novita: { id: 'novita', maker: 'novita' },
  ovhcloud: { id: 'ovhcloud', maker: 'ovhcloud' },
  avian: { id: 'avian', maker: 'avian' },
  baseten: { id: 'baseten', maker: 'baseten' },
  // The list has no prices of these. `berth models sync` reads them from public lists.
  deepinfra: { id: 'deepinfra', maker: 'deepinfra' },
  nebius: { id: 'nebius', maker: 'nebius' },
  alibaba: { id: 'alibaba', maker: 'alibaba' },
  nvidia: { id: 'nvidia', maker: 'nvidia' },
  // Names of models are names of deployments; its list has few of them.
  azure: { id: 'azure', maker: 'azure' },
  bedrock: {
    id: 'aws',
    maker: 'bedrock',
    // Regional profiles have another prefix in each region.
    only: /^(global\.(?!openai)|(amazon|deepseek|google|meta|mistral|nvidia|openai\.gpt-oss|qwen)[.-])/,
  },
  vertex: {
    id: 'google',
    maker: 'google',
    only: /^gemini/,
    inputs: ['file', 'audio', 'video'],
  },
  gemini: {
    id: 'google',
    maker: 'google',
    only: /^(gemini|gemma)/,
    inputs: ['file', 'audio', 'video'],
  },
  anthropic: {
    id: 'anthropic',
    maker: 'anthropic',
    only: /^claude-[a-z]+-[4-9]/,
    inputs: ['file'],
  },
  cohere: { id: 'cohere', maker: 'cohere', only: /^(command-r|c4ai|embed-)/ },
}

/** Models for no operation of the gateway, or with charges that no response reports. */
const unserved =
  /moderation|-ocr|-live|-voice|-tts|-audio|computer-use|search-preview|deep-research|sonar|instruct$|davinci|curie|babbage|^ada$|^ft:|\.ft-|embedding-2$|omni|:extended|(?<!^gpt)-image/
const types: [RegExp, ModelType][] = [
  [/^gpt-.*realtime/, 'realtime'],
  [/embed/, 'embedding'],
  [/whisper|transcribe/, 'audio'],
  [/^gpt-image/, 'image'],
]
const vision =
  /gpt-(4o|4\.1|4-turbo|4\.5|[5-9])|\bo[13](-pro)?$|\bo4-mini$|gemini|claude-[^12v]|grok-(2-vision|[4-9])|pixtral|llama-4|vision|-vl|gemma-[34]|mistral-(small-3|small-2[56]|medium-[3-9]|large-25)/
const withoutTools = /o1-(mini|preview)|chatgpt-4o|deepseek-r1|gemma|llama-2|guard/
/** Output tokens at most, by family, as their makers publish them; the first match applies. */
const outputLimits: [RegExp, number][] = [
  [/realtime(?!-2)/, 4_096],
  [/gpt-3\.5|gpt-4-(turbo|vision)|command-r|c4ai/, 4_096],
  [/gpt-4(-32k)?$|deepseek-chat|gemini-(1|2\.0)|claude-3-(5|\.5)/, 8_192],
  [/gpt-4o|gpt-4\.5|gpt-chat|chatgpt/, 16_384],
  [/claude-[a-z]+-(4-[6-9]|[5-9])/, 128_000],
  [/gpt-4\.1|claude-opus-4(\.1|-1|-0)?$|o1-preview/, 32_768],
  [/gemini|o1-mini|gpt-oss|claude-(sonnet|haiku|opus)/, 65_536],
  [/\bo[134]/, 100_000],
  [/gpt-[5-9]|codex/, 128_000],
]
/** gpt-4o-mini counts an image as many times the tokens of its siblings. */
const imageTokens: [RegExp, number][] = [[/4o-mini/, 50_000]]

/**
 * Creates the models of one provider from the data of @pydantic/genai-prices, with the prices at
 * `now` (milliseconds since 1970). Synced rows take precedence. The family of a model determines
 * its inputs and tools.
 */
export async function publishedModels(
  upstream: string,
  now: number,
  marginPercent: number,
  synced: ListedModel[] = [],
): Promise<Model[]> {
  const media = mediaModels(upstream, marginPercent)
  const provider = lookUp(providers, upstream)
  if (!provider) return media
  const { findProvider } = await import('@pydantic/genai-prices')
  const rows = findProvider({ providerId: provider.id })?.models ?? []
  const served = rows.filter(
    ({ id, deprecated }) => !deprecated && !unserved.test(id) && (provider.only?.test(id) ?? true),
  )
  const listings = new Map(served.map((row) => [row.id, listingOf(row, provider, now)]))
  for (const { upstream: name, model, listing } of synced) {
    if (name !== upstream || unserved.test(model) || provider.only?.test(model) === false) continue
    listings.set(model, { ...familyOf(model, provider), ...listings.get(model), ...listing })
  }
  const listed = [...listings].map(([model, listing]) =>
    toModel(listing, [{ upstream, model: provider.nameOf?.(model) ?? model }], marginPercent),
  )
  return [...listed, ...media].filter(({ price }) => price !== undefined)
}

function listingOf(row: ModelInfo, provider: Provider, now: number): Listing {
  const family = familyOf(row.id, provider)
  return {
    ...family,
    name: row.name ?? row.id,
    contextLength: row.context_window ?? 0,
    price: textsOf(priceAt(row.prices, now), family.type),
  }
}

/** Returns the properties that follow from a model's name. */
function familyOf(id: string, { maker, inputs = [] }: Provider) {
  const type = byFamily(types, id) ?? 'chat'
  const image = byFamily(imageTokens, id)
  const hasTools = type === 'chat' || type === 'realtime'
  const output = hasTools ? byFamily(outputLimits, id) : undefined
  const hasVision = type === 'image' || (type === 'chat' && vision.test(id))
  return {
    id: id.includes('/') ? id : `${maker}/${id}`,
    type,
    inputs: hasVision ? ['text', 'image', ...inputs] : ['text'],
    ...(type === 'audio' && { inputs: ['audio'], outputs: ['text'] }),
    ...(type === 'realtime' && { inputs: ['text', 'audio'] }),
    supportsTools: hasTools && !withoutTools.test(id),
    ...(image && { imageTokens: image }),
    ...(output && { maxOutput: output }),
  }
}

const byFamily = <T>(families: [RegExp, T][], id: string): T | undefined =>
  families.find(([pattern]) => pattern.test(id))?.[1]

/** Returns the current price; of prices by time of day, the highest. */
function priceAt(rows: ConditionalPrice[] | ModelPrice, now: number): ModelPrice {
  if (!Array.isArray(rows)) return rows
  const current = rows.filter(
    ({ constraint }) =>
      constraint?.type !== 'start_date' || Date.parse(constraint.start_date) <= now,
  )
  const steady = current.findLast(({ constraint }) => constraint?.type !== 'time_of_date')
  const hourly = current.filter(({ constraint }) => constraint?.type === 'time_of_date')
  const all = [...(steady ? [steady] : []), ...hourly].map(({ prices }) => prices)
  return all.toSorted((a, b) => baseOf(b.output_mtok) - baseOf(a.output_mtok))[0] ?? {}
}

type Rate = ModelPrice[string]

const baseOf = (rate: Rate): number => (typeof rate === 'object' ? rate.base : (rate ?? 0))

/** Source fields by part. Media that is charged by tokens uses the highest of its token prices. */
const sources: Record<'chat' | 'media', [keyof typeof parts, string[]][]> = {
  chat: [
    ['prompt', ['input_mtok']],
    ['completion', ['output_mtok']],
    ['cacheRead', ['cache_read_mtok']],
    ['cacheWrite', ['cache_write_mtok']],
    ['reasoning', ['output_reasoning_mtok']],
    ['audio', ['input_audio_mtok']],
    ['audioCacheRead', ['cache_audio_read_mtok']],
    ['audioCompletion', ['output_audio_mtok']],
  ],
  media: [
    ['prompt', ['input_image_mtok', 'input_audio_mtok', 'input_mtok']],
    ['completion', ['output_image_mtok', 'output_audio_mtok', 'output_mtok']],
  ],
}

function textsOf(price: ModelPrice, type: ModelType): PriceTexts {
  const texts: PriceTexts = {}
  const isMedia = type === 'image' || type === 'audio'
  for (const [part, from] of sources[isMedia ? 'media' : 'chat']) {
    const rates = from.flatMap((name) => price[name] ?? [])
    const highest = rates.toSorted((a, b) => baseOf(b) - baseOf(a))[0]
    if (highest !== undefined) texts[parts[part]] = perToken(baseOf(highest))
  }
  if (typeof price.audio_hours === 'number') texts.per_minute = perUnit(price.audio_hours, 60n)
  const tiers = tiersOf(price)
  return tiers.length > 0 ? { ...texts, tiers } : texts
}

/** Returns the tiers, each with the rates of all parts. */
function tiersOf(price: ModelPrice): TierTexts[] {
  const starts = new Set(
    Object.values(price).flatMap((rate) =>
      typeof rate === 'object' ? rate.tiers.map(({ start }) => start) : [],
    ),
  )
  return [...starts].map((above) => {
    const at = (name: string): string | undefined => {
      const rate = price[name]
      if (rate === undefined) return undefined
      if (typeof rate === 'number') return perToken(rate)
      return perToken(rate.tiers.findLast(({ start }) => start <= above)?.price ?? rate.base)
    }
    const [cached, written] = [at('cache_read_mtok'), at('cache_write_mtok')]
    return {
      above,
      prompt: at('input_mtok') ?? '0',
      completion: at('output_mtok') ?? '0',
      ...(cached && { cache_read: cached }),
      ...(written && { cache_write: written }),
    }
  })
}

/** Converts USD per million tokens. */
const perToken = (usd: number): string => perUnit(usd, 1_000_000n)

function perUnit(usd: number, units: bigint): string {
  const text = usdPerUnit(usd, units)
  if (text === undefined) throw new Error(`The published price ${usd} is not a price.`)
  return text
}

type Row = Listing & { model: string }

const row = (maker: string, model: string, fields: Omit<Listing, 'id'>): Row => ({
  id: `${maker}/${model.replace(/^fal-ai\//, '')}`,
  model,
  ...fields,
})

const image = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'image', price: { per_image: usd } })

const speech = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'audio', outputs: ['audio'], price: { per_character: usd } })

/** Charged by the second, at the default size and with audio. */
const video = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'video', outputs: ['video'], price: { per_second: usd } })

const transcription = (maker: string, model: string, usd: string): Row => {
  const price = { per_minute: usd }
  return row(maker, model, { type: 'audio', inputs: ['audio'], outputs: ['text'], price })
}

/** The price page of a provider, and the models whose prices are known. */
interface MediaPrices {
  page: string
  rows: Row[]
}

/** Month of the last comparison of these rows with the published prices. */
export const mediaPricesCheckedAt = '2026-11'

/**
 * Media models without a price in the published list, by upstream, in USD per unit. Each price has
 * a second published source; of several prices, it is the highest. Images charged per megapixel are
 * excluded, because their price depends on the size. An operator's own row replaces these.
 */
const media: Record<string, MediaPrices> = {
  openai: {
    page: 'https://platform.openai.com/docs/pricing',
    rows: [
      speech('openai', 'tts-1', '0.000015'),
      speech('openai', 'tts-1-hd', '0.00003'),
      row('openai', 'omni-moderation-latest', {
        type: 'moderation',
        inputs: ['text', 'image'],
        price: { prompt: '0' },
      }),
    ],
  },
  cohere: {
    page: 'https://cohere.com/pricing',
    rows: [row('cohere', 'rerank-v3.5', { type: 'rerank', price: { per_search: '0.002' } })],
  },
  gemini: {
    page: 'https://ai.google.dev/gemini-api/docs/pricing',
    rows: [
      row('google', 'gemini-2.5-flash-image', {
        type: 'image',
        inputs: ['text', 'image'],
        maxOutput: 8_192,
        price: { prompt: '0.0000003', completion: '0.00003' },
      }),
      video('google', 'veo-3.0-generate-001', '0.4'),
      video('google', 'veo-3.0-fast-generate-001', '0.15'),
      video('google', 'veo-2.0-generate-001', '0.35'),
    ],
  },
  fal: {
    page: 'https://fal.ai/pricing',
    rows: [image('fal', 'fal-ai/flux-pro/v1.1-ultra', '0.06')],
  },
  replicate: {
    page: 'https://replicate.com/pricing',
    rows: [
      image('replicate', 'black-forest-labs/flux-schnell', '0.003'),
      image('replicate', 'black-forest-labs/flux-dev', '0.025'),
      image('replicate', 'black-forest-labs/flux-1.1-pro', '0.04'),
      image('replicate', 'black-forest-labs/flux-1.1-pro-ultra', '0.06'),
    ],
  },
  elevenlabs: {
    page: 'https://elevenlabs.io/pricing/api',
    rows: [
      speech('elevenlabs', 'eleven_multilingual_v2', '0.0001'),
      speech('elevenlabs', 'eleven_v3', '0.0001'),
      speech('elevenlabs', 'eleven_flash_v2_5', '0.00005'),
      speech('elevenlabs', 'eleven_turbo_v2_5', '0.00005'),
      transcription('elevenlabs', 'scribe_v1', '0.003666666666667'),
      transcription('elevenlabs', 'scribe_v2', '0.003666666666667'),
    ],
  },
  deepgram: {
    page: 'https://deepgram.com/pricing',
    rows: [
      // The multilingual price; English alone costs less.
      transcription('deepgram', 'nova-3', '0.0052'),
      transcription('deepgram', 'nova-2', '0.0043'),
    ],
  },
}

/** Returns the price page of an upstream's media; undefined when it has none here. */
export const mediaPricePage = (upstream: string): string | undefined =>
  lookUp(media, upstream)?.page

/** Creates the media models of one provider. */
const mediaModels = (upstream: string, marginPercent: number): Model[] =>
  (lookUp(media, upstream)?.rows ?? []).map(({ model, ...listing }) =>
    toModel(listing, [{ upstream, model }], marginPercent),
  )
