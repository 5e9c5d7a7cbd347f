import { providers } from '../../kernel/config/providers.ts'
import type { UpstreamRow } from '../../kernel/config/tables.ts'
import type { AppContext } from '../../kernel/context.ts'
import { second } from '../../kernel/time.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import type { Model } from '../models/catalog.ts'
import { publishedModels } from '../models/published-models.ts'
import { reasonOf } from './error-body.ts'
import { listServedModels } from './model-list.ts'
import { keyedUpstreams, openAdapter } from './registry.ts'
import { UpstreamError } from './upstream.ts'

export type ProviderName = keyof typeof providers
export const isProvider = (name: string): name is ProviderName => Object.hasOwn(providers, name)

/** The smallest chat: one word, and a few tokens of output. */
const request: ChatRequest = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Say ok.' }] }],
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: { max_completion_tokens: 16 },
}
const call = { request, isStream: false, outputMax: 16, stopsItself: false }
const callMs = 20 * second
/** A key may not open the cheapest model, so that a few are tried. */
const triesMax = 3

/** The result of a call with a key: the model that answered, or the reason why none did. */
export type KeyTest = { model: string | undefined } | { status: number; reason: string }

/**
 * Tests a key of a provider with one chat of the cheapest model. A provider without chats lists its
 * models; one without a list is not called.
 */
export async function tryKey(ctx: AppContext, name: ProviderName, key: string): Promise<KeyTest> {
  const config = { ...ctx.config, [providers[name].key]: key }
  const row = keyedUpstreams(config).find((one) => one.name === name)
  if (!row) return { status: 0, reason: 'its address is not set' }
  try {
    const models = await cheapestChats(ctx, name)
    return models.length > 0 ? await tryChats(ctx, row, models) : await tryList(row)
  } catch (error) {
    return { status: 0, reason: describe(error) }
  }
}

async function tryChats(ctx: AppContext, row: UpstreamRow, models: string[]): Promise<KeyTest> {
  const adapter = await openAdapter(row, ctx.clock)
  let last: KeyTest = { status: 404, reason: 'it has none of its usual models for this key' }
  for (const model of models.slice(0, triesMax)) {
    const sent = await adapter.chat({ ...call, model, signal: AbortSignal.timeout(callMs) })
    if (!('rejected' in sent)) {
      if ('response' in sent) await sent.response.body?.cancel()
      return { model }
    }
    const { status, body } = sent.rejected
    last = { status, reason: reasonOf(body).reason ?? `status ${status}.` }
    // The model is unknown to this key, or rejects a field.
    if (status !== 404 && status !== 400) return last
  }
  return last
}

async function tryList(row: UpstreamRow): Promise<KeyTest> {
  await listServedModels(row)
  return { model: undefined }
}

/** Returns the chat models of a provider at their names there, the cheapest first. */
async function cheapestChats({ clock }: AppContext, name: ProviderName): Promise<string[]> {
  const rateOf = ({ price }: Model) => (price?.prompt ?? 0n) + (price?.completion ?? 0n)
  const models = (await publishedModels(name, clock.now(), 0))
    .filter(({ type }) => type === 'chat')
    .toSorted((a, b) => Number(rateOf(a) - rateOf(b)))
  return models.flatMap(({ offers }) => offers.map(({ model }) => model))
}

const describe = (error: unknown): string =>
  error instanceof UpstreamError ? error.kind : error instanceof Error ? error.message : 'no answer'
