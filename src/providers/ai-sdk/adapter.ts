import type { AiSdkKind } from '../../config/providers.ts'
import { type Clock, unixSeconds } from '../../core/time.ts'
import { HttpClient } from '../http-client.ts'
import { outputTokenLimit } from '../request-body.ts'
import { errorResponse } from '../response.ts'
import type { Upstream, UpstreamCall } from '../upstream.ts'
import { buildCallOptions } from './chat-request.ts'
import { streamChat } from './chat-stream.ts'
import { createHead, generateChat } from './chat.ts'
import { createEmbeddings } from './embeddings.ts'
import { toErrorResponse } from './errors.ts'
import { generateImages } from './image.ts'
import { type AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'
import { type AiSdkProvider, providerKinds } from './provider-kinds.ts'
import { synthesizeSpeech } from './speech.ts'
import { transcribe } from './transcription.ts'
import { parseVideoPath, pollVideo, submitVideo } from './video.ts'

type Provided = AiSdkUpstream & { kind: AiSdkKind }

/** A package asks the environment for a key that it is not given. */
const noKey = 'none'

/**
 * The translated lane: a provider that does not speak OpenAI's HTTP is asked through its package,
 * and its answer is written in OpenAI's shapes.
 */
export function createAiSdkAdapter(row: Omit<Provided, 'line'>, clock: Clock): Upstream {
  const to = { ...row, line: new HttpClient() }
  return {
    name: to.name,
    kind: to.kind,
    send: (call) =>
      opened(to, call, (provider, wire) => {
        const created = unixSeconds(clock.now())
        return answer(provider, call, { to, wire, created })
      }),
    async poll({ path, signal }) {
      const begun = parseVideoPath(path)
      if (!begun) return errorResponse(404, 'There is no such film.')
      const call: UpstreamCall = { path: '/videos', model: begun.model, body: {}, signal }
      return opened(to, call, async (provider, wire) => {
        const film = provider.videoModel?.(begun.model)
        return film ? pollVideo(film, begun, { to, wire, signal }) : nothingAt('/videos')
      })
    },
  }
}

/** A request opens its provider anew, over a network of its own; a failure becomes its answer. */
async function opened(
  to: Provided,
  call: UpstreamCall,
  ask: (provider: AiSdkProvider, wire: ProviderFetch) => Promise<Response>,
): Promise<Response> {
  const kind = providerKinds[to.kind]
  const wire = new ProviderFetch(to, kind, call)
  try {
    const { apiKey = noKey, baseUrl: baseURL } = to
    return await ask(await kind.open({ apiKey, baseURL, fetch: wire.fetch }), wire)
  } catch (error) {
    return toErrorResponse(error, to, wire, call.signal)
  }
}

interface Sending {
  to: Provided
  wire: ProviderFetch
  /** Seconds since 1970. */
  created: number
}

async function answer(
  provider: AiSdkProvider,
  call: UpstreamCall,
  sending: Sending,
): Promise<Response> {
  const { path, model, body, signal } = call
  const { to, wire, created } = sending
  const kind = { ...providerKinds[to.kind], name: to.kind }
  if (body instanceof FormData && path === '/videos') {
    return errorResponse(400, 'This model begins without a picture.')
  }
  if (body instanceof FormData) {
    const listener = provider.transcriptionModel?.(model)
    return listener ? transcribe(listener, body, kind, signal) : nothingAt(path)
  }
  switch (path) {
    case '/chat/completions': {
      if (Number(body.n ?? 1) > 1) return errorResponse(400, 'This model gives one choice: n is 1.')
      const asked = buildCallOptions(body, outputTokenLimit(call), signal, kind)
      const head = createHead(model, created)
      const speaker = provider.languageModel(model)
      return body.stream === true
        ? streamChat(speaker, asked, head, { to, wire })
        : generateChat(speaker, asked, head)
    }
    case '/embeddings':
      return createEmbeddings(provider.embeddingModel(model), body, signal)
    case '/images/generations':
      return generateImages(provider.imageModel(model), body, kind, { created, signal })
    case '/audio/speech': {
      const speaker = provider.speechModel?.(model)
      return speaker ? synthesizeSpeech(speaker, body, kind, signal) : nothingAt(path)
    }
    case '/videos': {
      const film = provider.videoModel?.(model)
      return film ? submitVideo(film, body, { created, signal, name: to.kind }) : nothingAt(path)
    }
    default:
      return nothingAt(path)
  }
}

const nothingAt = (path: string): Response =>
  errorResponse(404, `There is no such model at ${path}.`)
