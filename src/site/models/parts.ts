import type { ModelResponse, PriceResponse } from '../../gateway/catalog/catalog.ts'
import type { Model } from '../../gateway/models/catalog.ts'
import type { MeasuredCalls, Percentiles } from '../../gateway/providers/measurements.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { type Message, msg, t, type Text } from '../../kernel/words/message.ts'
import { leftToRight } from '../../kernel/words/words.ts'
import { keysOf, section } from '../components.ts'
import { formatCount, formatDuration, formatNumber, formatTenths, formatUsd } from '../format.ts'
import { dataTable } from '../lists.ts'
import { wireWord } from '../wire-words.ts'
import { type ModelMode, modeOf } from './modes.ts'

export const modeNames: Record<ModelMode, Message> = {
  chat: msg('Chat'),
  image: msg('Images'),
  video: msg('Videos'),
  speech: msg('Speech'),
  transcription: msg('Transcription'),
  embedding: msg('Embeddings'),
  moderation: msg('Moderation'),
  rerank: msg('Rerank'),
  realtime: msg('Realtime'),
}

const tokenCount = (count: number): Part =>
  count > 0 ? html`${formatNumber(count)} <span class="unit">tokens</span>` : '–'

/** Returns the facts of a model, which its page and the comparison show. */
export function factsOf(model: ModelResponse): [name: Text, value: Part][] {
  const { inputs, outputs, supportsTools, context_length, max_output } = model
  const isChat = model.type === 'chat'
  const facts: [Text, Part][] = [
    [t('Type'), modeNames[modeOf(model)]],
    [t('Context'), context_length > 0 && tokenCount(context_length)],
    [t('Max output'), isChat && tokenCount(max_output)],
    [t('Tools and web search'), isChat && (supportsTools ? t('Yes') : t('No'))],
    [t('Inputs'), inputs.map(wireWord).join(', ')],
    [t('Outputs'), outputs.map(wireWord).join(', ')],
    ...priceRows(model),
  ]
  return facts.filter(([, value]) => value !== false)
}

const percent = (share: number): string =>
  leftToRight(`${formatTenths(Math.floor(share * 1_000) / 10)} %`)

/** The median time to the first byte and the share of successful calls, for lists. */
export function shortMeasurements({ upstreams }: AppContext, model: Model): [Part, Part] {
  const all = upstreams.measurements.summarize(model.offers)
  const { firstByteMs } = all ?? {}
  return [
    firstByteMs ? formatDuration(firstByteMs.p50) : '–',
    all && all.calls > 0 ? percent(all.successRate) : '–',
  ]
}

const states = { closed: msg('Up'), 'half-open': msg('Recovering'), open: msg('Down') } as const

/** Percentiles in one cell, or a dash before the first success. */
const times = (found: Percentiles | null | undefined): Part[] =>
  (['p50', 'p90', 'p99'] as const).map((name) => (found ? formatDuration(found[name]) : '–'))

/** The state of each upstream of a model, its latency and its successes, as measured here. */
export function measuredSection(ctx: AppContext, model: Model): Html {
  const { measurements } = ctx.upstreams
  const all = measurements.summarize(model.offers)
  const row = (name: string, state: Text, calls: MeasuredCalls | undefined): Part[] => [
    name,
    state,
    calls?.calls ?? 0,
    calls && calls.calls > 0 ? percent(calls.successRate) : '–',
    ...times(calls?.firstByteMs),
    calls && calls.tokensPerSecond > 0 ? Math.round(calls.tokensPerSecond) : '–',
  ]
  const rows = model.offers.map((offer) => {
    const state = ctx.upstreams.find(offer.upstream)?.health.state
    return row(offer.upstream, state ? states[state] : t('Off'), measurements.summarize([offer]))
  })
  const heads = [
    t('Upstream'),
    t('State'),
    { number: t('Calls') },
    { number: t('Uptime') },
    { number: t('Latency p50') },
    { number: 'p90' },
    { number: 'p99' },
    { number: t('Tokens/s') },
  ]
  return section(
    t('Latency and uptime'),
    html`<p class="small">
        ${all && all.calls > 0 ? t('Measured on this server: {calls} of the last 24 hours.', { calls: formatCount(all.calls, 'call') }) : t('Measured on this server. No calls in the last 24 hours yet.')}
        Latency is the time to the first byte; uptime is the share of calls that succeeded.
      </p>
      ${dataTable(t('Latency and uptime'), heads, model.offers.length > 1 ? [row(t('All'), '', all), ...rows] : rows)}`,
  )
}

const million = 1e6

/** Formats a price per token as USD per million tokens. */
const perMillion = (amount: string): string => formatUsd(Number(amount) * million)

const tokenParts = {
  prompt: msg('Input'),
  completion: msg('Output'),
  cache_read: msg('Cached input'),
  cache_write: msg('Cache write'),
  reasoning: msg('Reasoning'),
  audio: msg('Audio input'),
  audio_cache_read: msg('Cached audio input'),
  audio_completion: msg('Audio output'),
} as const

const unitParts = {
  per_image: [msg('Image'), msg('per image')],
  per_second: [msg('Second'), msg('per second')],
  per_minute: [msg('Minute'), msg('per minute')],
  per_character: [msg('Characters'), msg('/ 1M characters')],
} as const

/** Formats a price per unit. Characters cost so little that their price is for a million. */
const perUnitText = (name: keyof typeof unitParts, amount: number): string =>
  formatUsd(name === 'per_character' ? amount * million : amount)

const withUnit = (amount: string, unit: Text): Html =>
  html`${amount} <span class="unit">${unit}</span>`

const tokens = (amount: string | undefined): Part =>
  amount === undefined ? '–' : withUnit(perMillion(amount), t('/ 1M tokens'))

/** Returns the price of the input and of the output, or of the unit that a model charges. */
export function costs(price: PriceResponse): [into: Part, out: Part] {
  const [unit] = keysOf(unitParts).flatMap((name) => {
    const amount = price[name]
    return amount === undefined ? [] : [withUnit(perUnitText(name, amount), unitParts[name][1])]
  })
  return [tokens(price.prompt), unit ?? tokens(price.completion)]
}

/** Formats a price in a few characters: "$0.10 / $0.40", "$0.04 per image". */
export function shortPrice(price: PriceResponse): string {
  const [unit] = keysOf(unitParts).filter((name) => price[name] !== undefined)
  if (unit) return `${perUnitText(unit, price[unit] ?? 0)} ${unitParts[unit][1]}`
  const parts = [price.prompt, price.completion].filter((one) => one !== undefined)
  return parts.map(perMillion).join(' / ')
}

/** Returns all parts of a price with their amounts, and those of long prompts. */
function priceRows({ price }: ModelResponse): [name: Text, amount: Part][] {
  const perToken = keysOf(tokenParts).flatMap((name): [Text, Part][] => {
    const amount = price[name]
    return amount === undefined ? [] : [[tokenParts[name], tokens(amount)]]
  })
  const perUnit = keysOf(unitParts).flatMap((name): [Text, Part][] => {
    const amount = price[name]
    const [label, unit] = unitParts[name]
    return amount === undefined ? [] : [[label, withUnit(perUnitText(name, amount), unit)]]
  })
  const search = price.per_search
  const tiers = (price.tiers ?? []).map(({ above, prompt, completion }): [string, Part] => [
    t('Prompts above {above} tokens', { above: formatNumber(above) }),
    html`${perMillion(prompt)} in, ${perMillion(completion)} out
      <span class="unit">/ 1M tokens</span>`,
  ])
  return [
    ...perToken,
    ...perUnit,
    ...(search === undefined
      ? []
      : [[t('Web search'), withUnit(formatUsd(search), t('per search'))] satisfies [string, Part]]),
    ...tiers,
  ]
}

/** The price to sort by, in USD: per token, or else per unit. Models without one come last. */
export const inputPrice = ({ price }: ModelResponse): number =>
  price.prompt === undefined ? unitPrice(price) : Number(price.prompt)

export const outputPrice = ({ price }: ModelResponse): number =>
  price.completion === undefined ? unitPrice(price) : Number(price.completion)

const unitPrice = (price: PriceResponse): number =>
  keysOf(unitParts)
    .map((name) => price[name])
    .find((amount) => amount !== undefined) ?? Infinity
