import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import type { Model } from '../../gateway/models/catalog.ts'
import type { MeasuredCalls, Percentiles } from '../../gateway/providers/measurements.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { type Message, msg, t, type Text } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { formatCount, formatDuration, formatNumber, formatTenths } from '../format.ts'
import { dataTable } from '../lists.ts'
import { wireWord } from '../wire-words.ts'
import { type ModelMode, modeOf } from './modes.ts'
import { priceRows } from './prices.ts'

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

const tokens = (count: number): Part =>
  count > 0 ? html`${formatNumber(count)} <span class="unit">tokens</span>` : '–'

/** Returns the facts of a model, which its page and the comparison show. */
export function factsOf(model: ModelResponse): [name: Text, value: Part][] {
  const { inputs, outputs, supportsTools, context_length, max_output } = model
  const isChat = model.type === 'chat'
  const facts: [Text, Part][] = [
    [t('Type'), modeNames[modeOf(model)]],
    [t('Context'), context_length > 0 && tokens(context_length)],
    [t('Max output'), isChat && tokens(max_output)],
    [t('Tools and web search'), isChat && (supportsTools ? t('Yes') : t('No'))],
    [t('Inputs'), inputs.map(wireWord).join(', ')],
    [t('Outputs'), outputs.map(wireWord).join(', ')],
    ...priceRows(model),
  ]
  return facts.filter(([, value]) => value !== false)
}

const percent = (share: number): string => `${formatTenths(Math.floor(share * 1_000) / 10)} %`

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
