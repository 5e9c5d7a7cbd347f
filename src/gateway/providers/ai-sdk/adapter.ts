import type { EmbeddingModelV4, JSONValue, RerankingModelV4 } from '@ai-sdk/provider'

import { ApiError } from '../../../kernel/errors.ts'
import { asString, itemsOf, type Json, parseRecord, recordOf } from '../../../kernel/schema.ts'
import { type Clock, unixSeconds } from '../../../kernel/time.ts'
import type { ChatEvent } from '../../conversation/chat-event.ts'
import type { ChatRequest } from '../../conversation/chat-request.ts'
import type { UpstreamCodec } from '../../conversation/codec.ts'
import { openAiNames, unknownFields } from '../../conversation/sampling.ts'
import { bedrockChat, bedrockWholeChat } from '../bedrock/chat.ts'
import { reject, type Rejected } from '../error-body.ts'
import { HttpClient } from '../http-client.ts'
import { ignoredFields } from '../request-body.ts'
import {
  readErrorText,
  receiveResponse,
  type SentChat,
  type SentRequest,
  type Upstream,
  type UpstreamCall,
  type UpstreamChat,
  type UpstreamPath,
} from '../upstream.ts'
import { rejectionOf, toRejection } from './errors.ts'
import {
  editImages,
  generateImages,
  parseSubmittedVideo,
  pollVideo,
  submitVideo,
  synthesizeSpeech,
  transcribe,
} from './media.ts'
import { ProviderFetch, type TypedUpstream } from './provider-fetch.ts'
import { type AiSdkProvider, providerKinds } from './provider-kinds.ts'

/** Without a key, a provider package would read one from the environment. */
const noKey = 'none'

/**
 * Creates the adapter for a provider without an OpenAI-compatible API. It calls the provider's AI
 * SDK package and converts the result to OpenAI's format.
 */
export function createAiSdkAdapter(row: Omit<TypedUpstream, 'client'>, clock: Clock): Upstream {
  const upstream = { ...row, client: new HttpClient() }
  const { codec } = providerKinds[row.kind]
  return {
    name: row.name,
    kind: row.kind,
    apis: codec ? [codec.api] : [],
    send: (call) =>
      withProvider(upstream, call, (provider) =>
        sendCall(provider, call, { upstream, created: unixSeconds(clock.now()) }),
      ),
    chat: (call) => sendChat(upstream, call),
    ignoredFields: ({ path, body }) =>
      ignoredFields(
        body,
        (name) => isKnownField(path, name) || isCohereField(row.kind, path, name),
      ),
    async poll({ path, signal }) {
      const video = parseSubmittedVideo(path)
      if (!video) return reject(404, 'No such video.')
      const call: UpstreamCall = { path: '/videos', model: video.model, body: {}, signal }
      return withProvider(upstream, call, async (provider, network) => {
        const model = provider.videoModel?.(video.model)
        return model ? pollVideo(model, video, { upstream, network, signal }) : noModel('/videos')
      })
    },
  }
}

/** Sends a chat in the provider's own API, or through its package, where it has another one. */
async function sendChat(upstream: TypedUpstream, call: UpstreamChat): Promise<SentChat> {
  const { codec } = providerKinds[upstream.kind]
  if (codec) return sendEncoded(upstream, codec, call)
  if (upstream.kind !== 'bedrock') return noModel('/chat/completions')
  const { request, signal, ...target } = call
  const sent = await withProvider(upstream, call, async (provider) => {
    const model = provider.languageModel(call.model)
    return call.isStream
      ? bedrockChat(model, request, target, { upstream, signal })
      : whole(await bedrockWholeChat(model, request, target, signal))
  })
  return 'rejected' in sent ? sent : { steps: sent, ignored: ignoredInBedrock(request) }
}

async function* whole(events: ChatEvent[]): AsyncGenerator<ChatEvent[]> {
  yield events
}

/** Opens the provider for one request, over a network of its own. An error becomes a rejection. */
async function withProvider<Result>(
  upstream: TypedUpstream,
  call: { signal: AbortSignal },
  send: (provider: AiSdkProvider, network: ProviderFetch) => Promise<Result>,
): Promise<Result | Rejected> {
  const kind = providerKinds[upstream.kind]
  const network = new ProviderFetch(upstream, kind, call)
  try {
    const { apiKey = noKey, baseUrl: baseURL } = upstream
    return await send(await kind.open({ apiKey, baseURL, fetch: network.fetch }), network)
  } catch (error) {
    if (error instanceof ApiError) throw error
    return rejectionOf(error, upstream, network, call.signal)
  }
}

/** Returns the fields of a chat without an equivalent in Bedrock's package. */
const ignoredInBedrock = (request: ChatRequest): string[] => [
  ...unknownFields(request, bedrockSampling),
  ...(request.logprobs === undefined ? [] : ['logprobs']),
]

const { minP: _, ...bedrockSampling } = openAiNames

interface CallContext {
  upstream: TypedUpstream
  /** Seconds since 1970. */
  created: number
}

async function sendCall(
  provider: AiSdkProvider,
  call: UpstreamCall,
  { upstream, created }: CallContext,
): Promise<SentRequest> {
  const { path, model: id, body, signal } = call
  const kind = { ...providerKinds[upstream.kind], name: upstream.kind }
  if (body instanceof FormData) {
    if (path === '/videos') return reject(400, 'This model does not accept an input image.')
    if (path === '/images/edits') {
      return editImages(provider.imageModel(id), body, kind, { created, signal })
    }
    if (path !== '/audio/transcriptions') return noModel(path)
    const model = provider.transcriptionModel?.(id)
    return model ? transcribe(model, body, kind, signal) : noModel(path)
  }
  switch (path) {
    case '/embeddings':
      return createEmbeddings(provider.embeddingModel(id), body, signal)
    case '/rerank': {
      const model = provider.rerankingModel?.(id)
      return model ? rerank(model, body, signal) : noModel(path)
    }
    case '/images/generations':
      return generateImages(provider.imageModel(id), body, kind, { created, signal })
    case '/audio/speech': {
      const model = provider.speechModel?.(id)
      return model ? synthesizeSpeech(model, body, kind, signal) : noModel(path)
    }
    case '/videos': {
      const model = provider.videoModel?.(id)
      return model
        ? submitVideo(model, body, { created, signal, name: upstream.kind })
        : noModel(path)
    }
    default:
      return noModel(path)
  }
}

const noModel = (path: string): Rejected => reject(404, `No such model at ${path}.`)

/** Embeds texts, in as many calls as the provider needs. Only OpenAI accepts token ids. */
async function createEmbeddings(
  model: EmbeddingModelV4,
  body: Json,
  signal: AbortSignal,
): Promise<SentRequest> {
  const texts = [body.input].flat().filter((text) => typeof text === 'string')
  if (texts.length !== [body.input].flat().length) {
    return reject(400, 'This model takes no token ids. Send text in "input".')
  }
  const { dimensions } = body
  const perCall = (await model.maxEmbeddingsPerCall) ?? texts.length
  const data: { object: 'embedding'; index: number; embedding: number[] }[] = []
  let tokens: number | undefined = 0
  for (let from = 0; from < texts.length; from += perCall) {
    const { embeddings, usage } = await model.doEmbed({
      values: texts.slice(from, from + perCall),
      abortSignal: signal,
      ...(typeof dimensions === 'number' && { dimensions }),
      providerOptions: cohereOptions(body),
    })
    for (const embedding of embeddings) {
      data.push({ object: 'embedding', index: data.length, embedding })
    }
    tokens = tokens === undefined || !usage ? undefined : tokens + usage.tokens
  }
  const usage = tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  return { json: { object: 'list', data, model: body.model, usage } }
}

/** Returns the options of embeddings that only Cohere's package has. Others do not read them. */
function cohereOptions({ dimensions, input_type, truncate }: Json) {
  const options = { inputType: input_type, truncate, outputDimension: dimensions }
  const sent = Object.entries(options).flatMap(([name, value]): [string, JSONValue][] =>
    typeof value === 'string' || typeof value === 'number' ? [[name, value]] : [],
  )
  return { cohere: Object.fromEntries(sent) }
}

/** Sorts documents by their relevance. `meta` has the units that Cohere bills. */
async function rerank(
  model: RerankingModelV4,
  body: Json,
  signal: AbortSignal,
): Promise<SentRequest> {
  const { ranking, response } = await model.doRerank({
    query: asString(body.query),
    documents: { type: 'text', values: itemsOf(body.documents).map(asString) },
    abortSignal: signal,
    ...(typeof body.top_n === 'number' && { topN: body.top_n }),
  })
  const results = ranking.map(({ index, relevanceScore }) => ({
    index,
    relevance_score: relevanceScore,
  }))
  const { meta } = recordOf(response?.body)
  return { json: { results, meta } }
}

const words = (text: string): string[] => text.trim().split(/\s+/)

/** The fields of requests that have an equivalent in the provider packages, by path. */
const knownFields: Partial<Record<UpstreamPath, string[]>> = {
  '/embeddings': words('dimensions encoding_format input'),
  '/rerank': words('documents query top_n'),
  '/images/generations': words('n negative_prompt prompt response_format seed size'),
  '/images/edits': words('image mask n prompt response_format seed size'),
  '/videos': words('input_reference negative_prompt prompt seconds seed size'),
  '/audio/speech': words('input instructions response_format speed voice'),
  '/audio/transcriptions': words('file language response_format'),
}

const isCohereField = (kind: string, path: UpstreamPath, name: string): boolean =>
  kind === 'cohere' && path === '/embeddings' && ['input_type', 'truncate'].includes(name)

/** Returns whether a field of a request reaches a provider. */
const isKnownField = (path: UpstreamPath, name: string): boolean =>
  knownFields[path]?.includes(name) ?? true

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

/**
 * Sends a chat to an upstream in the API of its codec. Throws UpstreamError when there was no
 * response.
 */
async function sendEncoded(
  upstream: TypedUpstream,
  codec: UpstreamCodec,
  { request, signal, ...target }: UpstreamChat,
): Promise<SentChat> {
  const { name, baseUrl, apiKey, client } = upstream
  const { keyHeaders = bearer } = codec
  const { path, body, headers } = codec.encode(request, target)
  const sent = client.fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...(apiKey && keyHeaders(apiKey)),
    },
    body: JSON.stringify(body),
    signal,
  })
  const response = await receiveResponse(sent, name, signal)
  if (!response.ok) return readRejection(upstream, signal, response)
  return { response, codec, ignored: codec.ignoredFields(request) }
}

async function readRejection(
  upstream: TypedUpstream,
  signal: AbortSignal,
  response: Response,
): Promise<Rejected> {
  const text = await readErrorText(response, upstream.name, signal)
  const body = recordOf(parseRecord(text))
  const message = asString(recordOf(body.error).message ?? body.message) || 'The request failed.'
  const wait = response.headers.get('retry-after') ?? undefined
  return toRejection({ status: response.status, text, message, wait }, upstream)
}
