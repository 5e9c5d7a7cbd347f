import { readWhole } from '../gateway/chat/read-whole.ts'
import { gather } from '../gateway/conversation/chat-event.ts'
import type { ChatRequest } from '../gateway/conversation/chat-request.ts'
import type { Model } from '../gateway/models/catalog.ts'
import type { UsageBounds } from '../gateway/models/charge.ts'
import type { ModelType, Price } from '../gateway/models/price.ts'
import { estimatePromptTokens, estimateTokens, maxInputTokens } from '../gateway/models/tokens.ts'
import { createUsage, readUsage, type Usage, usageWithin } from '../gateway/models/usage.ts'
import { chatBodyOf } from '../gateway/openai-chat/chat-body.ts'
import { CallDeadlines } from '../gateway/paid/deadlines.ts'
import { readFile, readJsonObject } from '../gateway/paid/response-body.ts'
import {
  failureOfRejection,
  interruptionOf,
  isFailure,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../gateway/paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../gateway/providers/monitored-upstream.ts'
import type { Received, UpstreamCall } from '../gateway/providers/upstream.ts'
import type { SettingName } from '../kernel/config/settings.ts'
import type { AppContext } from '../kernel/context.ts'
import { isApiError } from '../kernel/errors.ts'
import { unknownOutputTokens } from '../kernel/limits.ts'
import { itemsOf, recordOf } from '../kernel/schema.ts'
import { day } from '../kernel/time.ts'

/** Builder model of the demo provider, used when none is configured. */
export const demoBuilder = 'demo/builder'

/** A model that the operator chose for a service task, with its upstream and price. */
export interface ServiceModel {
  model: Model
  upstream: string
  /** Name of the model at the upstream. */
  name: string
  price: Price
}

/** A model call without a usable result. */
export class NoModelResult extends Error {}

/** A model that declined the request; `reason` is its own text. */
export class ModelDeclined extends NoModelResult {
  constructor(
    message: string,
    readonly reason = '',
  ) {
    super(message)
  }
}

/** Finds the model of a setting, at its first upstream with a price. */
export function findServiceModel(
  ctx: AppContext,
  id: string,
  type: ModelType,
): ServiceModel | undefined {
  const model = id === '' ? undefined : ctx.catalog.find(id)?.model
  if (model?.type !== type) return undefined
  for (const { upstream, model: name, price } of model.offers) {
    if (price) return { model, upstream, name, price }
  }
  return undefined
}

/** The work that calls a model has a deadline of its own, which aborts its signal. */
const noDeadline = { firstByteMs: day, totalMs: day }

/** Calls an upstream once, and returns what it read. Throws NoModelResult and ModelDeclined. */
async function callOnce<Result extends object>(
  ctx: AppContext,
  name: string,
  signal: AbortSignal,
  call: (
    upstream: MonitoredUpstream,
    deadlines: CallDeadlines,
  ) => Promise<Result | UpstreamFailure>,
): Promise<Result> {
  const upstream = ctx.upstreams.find(name)
  if (!upstream?.isAvailable) throw new NoModelResult(`${name} is unavailable`)
  const deadlines = new CallDeadlines(signal, noDeadline)
  const read = await call(upstream, deadlines)
    .catch((error: unknown) => {
      signal.throwIfAborted()
      throw new NoModelResult(String(error))
    })
    .finally(() => deadlines.end())
  if (!isFailure(read)) return read
  const { error } = read
  if (isApiError(error, 'content_policy')) throw new ModelDeclined(`${name} declined the request`)
  throw new NoModelResult(`${name} failed: ${error.errorName}`)
}

/** Calls a media model once, and reads its response. Throws NoModelResult and ModelDeclined. */
const callModel = <Result extends object>(
  ctx: AppContext,
  { upstream: name, name: model }: ServiceModel,
  { path, body, signal }: Pick<UpstreamCall, 'path' | 'body' | 'signal'>,
  read: (received: Received, deadlines: CallDeadlines) => Promise<Result | UpstreamFailure>,
): Promise<Result> =>
  callOnce(ctx, name, signal, async (upstream, deadlines) => {
    const sent = await upstream.send({ path, model, body, signal: deadlines.signal })
    return 'rejected' in sent ? failureOfRejection(sent.rejected) : read(sent, deadlines)
  })

/** Returns startup warnings about configured models, Ollama and browser that are unavailable. */
export function modelSettingWarnings(ctx: AppContext): string[] {
  const { config, upstreams } = ctx
  const chosen: [SettingName, string, ModelType][] = [
    ['BUILDER_MODEL', config.builderModel, 'chat'],
    ['GAME_BUILDER_MODEL', config.gameBuilderModel, 'chat'],
    ['PAINTER_MODEL', config.painterModel, 'image'],
    ['SPEAKER_MODEL', config.speakerModel, 'audio'],
    ['SOUND_MODEL', config.soundModel, 'audio'],
  ]
  const warnings = chosen.flatMap(([name, id, type]) =>
    id === '' || findServiceModel(ctx, id, type)
      ? []
      : [
          `${name} is ${id}, but no ${type} model with that id has a price. See: berth models list.`,
        ],
  )
  const isLeftOut = config.agentsOn && config.builderModel === ''
  if (isLeftOut && !findServiceModel(ctx, demoBuilder, 'chat')) {
    warnings.push('BUILDER_MODEL is not set. Builds from prompts are off.')
  }
  const ollama = config.rows.find(({ name }) => name === 'OLLAMA_HOST')
  const isConfigured = config.ollamaHost !== '' && ollama?.source !== 'default'
  if (isConfigured && !upstreams.names.includes('ollama')) {
    warnings.push(
      `No Ollama server responds at ${config.ollamaHost}. Start it, then use it at /console/providers.`,
    )
  }
  const { builderBrowser } = config
  if (!['auto', 'off'].includes(builderBrowser) && !Bun.which(builderBrowser)) {
    warnings.push(
      `BUILDER_BROWSER is ${builderBrowser}, but that program does not exist. Builds are not previewed.`,
    )
  }
  return warnings
}

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Calls a chat model once. Throws NoModelResult and ModelDeclined. */
export async function chat(
  ctx: AppContext,
  { upstream: name, name: model }: ServiceModel,
  {
    messages,
    maxTokens,
    signal,
  }: {
    messages: Message[]
    /** Maximum tokens, as in the price. */
    maxTokens: { input: number; output: number }
    signal: AbortSignal
  },
) {
  const request: ChatRequest = {
    messages: messages.map(({ role, content }) => ({
      role,
      content: [{ type: 'text', text: content }],
    })),
    tools: [],
    choices: 1,
    sampling: {},
    stop: [],
    // Newer models of OpenAI reject the older name.
    extra: { max_completion_tokens: maxTokens.output },
  }
  const target = { model, isStream: false, outputMax: maxTokens.output, stopsItself: false }
  const read = await callOnce(ctx, name, signal, async (upstream, deadlines) =>
    readWhole(await upstream.chat({ request, ...target, signal: deadlines.signal }), deadlines),
  )
  const [choice] = gather(read.events).choices
  const textOf = (kind: 'text' | 'refusal'): string =>
    (choice?.content ?? []).map((part) => (part.type === kind ? part.text : '')).join('')
  const [text, refusal] = [textOf('text'), textOf('refusal')]
  if (choice?.reason === 'filtered' || refusal !== '') {
    throw new ModelDeclined('the model declined the request', refusal)
  }
  if (text === '') throw new NoModelResult('the response has no text')
  const limits = { prompt: maxTokens.input, completion: maxTokens.output }
  const reported = read.events.findLast((event) => event.type === 'usage')?.usage
  const own = {
    prompt: estimatePromptTokens(chatBodyOf(request), 0),
    completion: estimateTokens(text),
  }
  const usage =
    (reported && usageWithin(reported, limits)) ?? createUsage({ ...own, estimated: true })
  return { text, usage }
}

interface GeneratedMedia {
  bytes: Uint8Array<ArrayBuffer>
  usage: Usage
}

/** Seconds of an effect or a piece of music; speech takes at most one second per character. */
const soundSecondsMax = 60

/** Returns the maximum usage of one image or one audio file of this text. */
export function mediaBounds({ model }: ServiceModel, text: string): UsageBounds {
  const inputTokensMax = maxInputTokens({ text }, 0)
  const outputTokensMax = model.maxOutput || unknownOutputTokens
  if (model.type === 'image') return { inputTokensMax, outputTokensMax, images: 1 }
  const seconds = Math.max(soundSecondsMax, text.length)
  return { inputTokensMax, outputTokensMax: 0, characters: text.length, seconds }
}

/** Generates an image. Throws NoModelResult. */
export async function generateImage(
  ctx: AppContext,
  by: ServiceModel,
  prompt: string,
  signal: AbortSignal,
) {
  const body = { prompt, n: 1, response_format: 'b64_json' }
  const call = { path: '/images/generations', body, signal } as const
  const { json } = await callModel(ctx, by, call, readJsonObject)
  const { b64_json: base64 } = recordOf(itemsOf(json.data)[0])
  if (typeof base64 !== 'string') throw new NoModelResult('the response has no image')
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const { inputTokensMax, outputTokensMax } = mediaBounds(by, prompt)
  const reported = readUsage(json.usage, {
    prompt: inputTokensMax,
    completion: outputTokensMax,
  })
  return { bytes, usage: { ...(reported ?? createUsage({})), images: 1 } } satisfies GeneratedMedia
}

/** Generates speech, an effect or music. The caller measures its duration. Throws NoModelResult. */
export async function generateSpeech(
  ctx: AppContext,
  by: ServiceModel,
  { what, voice = 'alloy' }: { what: string; voice?: string | undefined },
  signal: AbortSignal,
): Promise<GeneratedMedia> {
  const body = { input: what, voice, response_format: 'mp3' }
  const call = { path: '/audio/speech', body, signal } as const
  const bytes = await callModel(ctx, by, call, async (received, deadlines) => {
    if ('json' in received) return unreadable
    const read = await readFile(received, deadlines)
    if (!read) return interruptionOf(deadlines)
    return read.byteLength === 0 ? noContent : new Uint8Array(read)
  })
  return { bytes, usage: createUsage({ characters: what.length }) }
}
