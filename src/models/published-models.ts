import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices'

import type { Model } from './catalogue.ts'
import { type Listing, toModel } from './listing.ts'
import { mediaModels } from './media-prices.ts'
import {
  fromUsdPerUnit,
  type ModelType,
  parts,
  type PriceTexts,
  type TierTexts,
  toUsdPerUnit,
} from './price.ts'
import type { ListedModel } from './public-lists.ts'

/** A provider of the published list. */
interface Provider {
  /** Its id there. */
  id: string
  /** Who made the models that name no maker. */
  maker: string
  /** Which of its models are served; all when left out. */
  only?: RegExp
  /** What else than text and pictures its chat models take. */
  takes?: string[]
}

const providers: Record<string, Provider> = {
  // Its codex and pro models answer nothing but its own Responses.
  openai: { id: 'openai', maker: 'openai', only: /^(?!.*(codex|-pro$))/ },
  openrouter: { id: 'openrouter', maker: 'openrouter' },
  groq: { id: 'groq', maker: 'groq' },
  together: { id: 'together', maker: 'together' },
  deepseek: { id: 'deepseek', maker: 'deepseek' },
  mistral: { id: 'mistral', maker: 'mistralai' },
  xai: { id: 'x-ai', maker: 'x-ai' },
  gemini: {
    id: 'google',
    maker: 'google',
    only: /^(gemini|gemma)/,
    takes: ['file', 'audio', 'video'],
  },
  anthropic: { id: 'anthropic', maker: 'anthropic', only: /^claude-[a-z]+-[4-9]/, takes: ['file'] },
  cohere: { id: 'cohere', maker: 'cohere', only: /^(command-r|c4ai|embed-)/ },
}

/** Not served by any operation of ours, or billed by what none tells: searches of its own. */
const unserved =
  /realtime|moderation|-ocr|-live|-voice|-tts|-audio|computer-use|search-preview|deep-research|sonar|instruct$|davinci|curie|babbage|^ada$|^ft:|\.ft-|embedding-2$|omni|:extended|(?<!^gpt)-image/
const types: [RegExp, ModelType][] = [
  [/embed/, 'embedding'],
  [/whisper|transcribe/, 'audio'],
  [/^gpt-image/, 'image'],
]
const sees =
  /gpt-(4o|4\.1|4-turbo|4\.5|[5-9])|\bo[13](-pro)?$|\bo4-mini$|gemini|claude-[^12v]|grok-(2-vision|[4-9])|pixtral|llama-4|vision|-vl|gemma-[34]|mistral-(small-3|small-2[56]|medium-[3-9]|large-25)/
const withoutTools = /o1-(mini|preview)|chatgpt-4o|deepseek-r1|gemma|llama-2|guard/
/**
 * The most output tokens by family, as their makers publish them: the first that fits. The list has
 * none; a model of no family here is bound by its window.
 */
const outputs: [RegExp, number][] = [
  [/gpt-3\.5|gpt-4-(turbo|vision)|command-r|c4ai/, 4_096],
  [/gpt-4(-32k)?$|deepseek-chat|gemini-(1|2\.0)|claude-3-(5|\.5)/, 8_192],
  [/gpt-4o|gpt-4\.5|gpt-chat|chatgpt/, 16_384],
  [/claude-[a-z]+-(4-[6-9]|[5-9])/, 128_000],
  [/gpt-4\.1|claude-opus-4(\.1|-1|-0)?$|o1-preview/, 32_768],
  [/gemini|o1-mini|gpt-oss|claude-(sonnet|haiku|opus)/, 65_536],
  [/\bo[134]/, 100_000],
  [/gpt-[5-9]|codex/, 128_000],
]
/** gpt-4o-mini counts a picture as many times the tokens of its siblings. */
const pictureTokens: [RegExp, number][] = [[/4o-mini/, 50_000]]

/**
 * The models of one configured provider, with the prices that hold at `now` (milliseconds since
 * 1970), from the data of @pydantic/genai-prices; what was synced wins over it. Inputs and tools
 * are told from the families.
 */
export async function publishedModels(
  upstream: string,
  now: number,
  marginPercent: number,
  synced: ListedModel[] = [],
): Promise<Model[]> {
  const own = mediaModels(upstream, marginPercent)
  const provider = providers[upstream]
  if (!provider) return own
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
    toModel(listing, [{ upstream, model }], marginPercent),
  )
  return [...listed, ...own].filter(({ price }) => price !== undefined)
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

/** What the name of a model tells of it. */
function familyOf(id: string, { maker, takes = [] }: Provider) {
  const type = byFamily(types, id) ?? 'chat'
  const picture = byFamily(pictureTokens, id)
  const output = type === 'chat' ? byFamily(outputs, id) : undefined
  const seen = type !== 'embedding' && sees.test(id)
  const sound = type === 'audio' ? { inputs: ['audio'], outputs: ['text'] } : {}
  return {
    id: id.includes('/') ? id : `${maker}/${id}`,
    type,
    inputs: seen ? ['text', 'image', ...takes] : ['text'],
    ...sound,
    supportsTools: type === 'chat' && !withoutTools.test(id),
    ...(picture && { pictureTokens: picture }),
    ...(output && { maxOutput: output }),
  }
}

const byFamily = <T>(families: [RegExp, T][], id: string): T | undefined =>
  families.find(([pattern]) => pattern.test(id))?.[1]

/** The last row that has begun; of the prices that follow the hour of the day, the dearest. */
function priceAt(rows: ConditionalPrice[] | ModelPrice, now: number): ModelPrice {
  if (!Array.isArray(rows)) return rows
  const begun = rows.filter(
    ({ constraint }) =>
      constraint?.type !== 'start_date' || Date.parse(constraint.start_date) <= now,
  )
  const steady = begun.findLast(({ constraint }) => constraint?.type !== 'time_of_date')
  const hourly = begun.filter(({ constraint }) => constraint?.type === 'time_of_date')
  const all = [...(steady ? [steady] : []), ...hourly].map(({ prices }) => prices)
  return all.toSorted((a, b) => baseOf(b.output_mtok) - baseOf(a.output_mtok))[0] ?? {}
}

type Rate = ModelPrice[string]

const baseOf = (rate: Rate): number => (typeof rate === 'object' ? rate.base : (rate ?? 0))

/** Pictures and sound that are paid by tokens are paid at the dearest of their token prices. */
const names: Record<'chat' | 'media', [keyof typeof parts, string[]][]> = {
  chat: [
    ['prompt', ['input_mtok']],
    ['completion', ['output_mtok']],
    ['cacheRead', ['cache_read_mtok']],
    ['cacheWrite', ['cache_write_mtok']],
    ['reasoning', ['output_reasoning_mtok']],
    ['audio', ['input_audio_mtok']],
  ],
  media: [
    ['prompt', ['input_image_mtok', 'input_audio_mtok', 'input_mtok']],
    ['completion', ['output_image_mtok', 'output_audio_mtok', 'output_mtok']],
  ],
}

function textsOf(price: ModelPrice, type: ModelType): PriceTexts {
  const texts: PriceTexts = {}
  const isMedia = type === 'image' || type === 'audio'
  for (const [part, from] of names[isMedia ? 'media' : 'chat']) {
    const rates = from.flatMap((name) => price[name] ?? [])
    const dearest = rates.toSorted((a, b) => baseOf(b) - baseOf(a))[0]
    if (dearest !== undefined) texts[parts[part]] = perToken(baseOf(dearest))
  }
  if (typeof price.audio_hours === 'number') texts.per_minute = perMinute(price.audio_hours)
  const tiers = tiersOf(price)
  return tiers.length > 0 ? { ...texts, tiers } : texts
}

/** Each start of a tier, with the price that every part has there. */
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

/** The list's numbers are USD per million tokens: their shortest text is the published price. */
function perToken(usdPerMillion: number): string {
  const millionth = fromUsdPerUnit(plain(usdPerMillion))
  if (millionth === undefined) throw new Error(`The published price ${usdPerMillion} is no price.`)
  return toUsdPerUnit((millionth + 999_999n) / 1_000_000n)
}

function perMinute(usdPerHour: number): string {
  const hourly = fromUsdPerUnit(plain(usdPerHour))
  if (hourly === undefined) throw new Error(`The published price ${usdPerHour} is no price.`)
  return toUsdPerUnit((hourly + 59n) / 60n)
}

/** A number in decimals: its shortest text, or 15 digits where that has more, or an exponent. */
const plain = (number: number): string =>
  fromUsdPerUnit(String(number)) === undefined ? number.toFixed(15) : String(number)
