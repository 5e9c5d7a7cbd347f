import type { TranslatedKind } from '../../config/providers.ts'
import { type Clock, unixSeconds } from '../../core/time.ts'
import { refuse } from '../answer.ts'
import { outputMostOf } from '../body.ts'
import { Line } from '../line.ts'
import type { Call, Upstream } from '../upstream.ts'
import { askedOf } from './asked.ts'
import { streamChat } from './chat-stream.ts'
import { chat, headOf } from './chat.ts'
import { embed } from './embeddings.ts'
import { answerOfFailure } from './failure.ts'
import { paint } from './image.ts'
import { kinds, type Provider } from './kinds.ts'
import { speak } from './speech.ts'
import { transcribe } from './transcription.ts'
import { begin, begunIn, lookAt } from './video.ts'
import { type TranslatedUpstream, Wire } from './wire.ts'

type Provided = TranslatedUpstream & { kind: TranslatedKind }

/** A package asks the environment for a key that it is not given. */
const noKey = 'none'

/**
 * The translated lane: a provider that does not speak OpenAI's HTTP is asked through its package,
 * and its answer is written in OpenAI's shapes.
 */
export function translatedLane(row: Omit<Provided, 'line'>, clock: Clock): Upstream {
  const to = { ...row, line: new Line() }
  return {
    name: to.name,
    kind: to.kind,
    send: (call) =>
      opened(to, call, (provider, wire) => {
        const created = unixSeconds(clock.now())
        return answer(provider, call, { to, wire, created })
      }),
    async look({ path, signal }) {
      const begun = begunIn(path)
      if (!begun) return refuse(404, 'There is no such film.')
      const call: Call = { path: '/videos', model: begun.model, body: {}, signal }
      return opened(to, call, async (provider, wire) => {
        const film = provider.videoModel?.(begun.model)
        return film ? lookAt(film, begun, { to, wire, signal }) : nothingAt('/videos')
      })
    },
  }
}

/** A request opens its provider anew, over a network of its own; a failure becomes its answer. */
async function opened(
  to: Provided,
  call: Call,
  ask: (provider: Provider, wire: Wire) => Promise<Response>,
): Promise<Response> {
  const kind = kinds[to.kind]
  const wire = new Wire(to, kind, call)
  try {
    const { apiKey = noKey, baseUrl: baseURL } = to
    return await ask(await kind.open({ apiKey, baseURL, fetch: wire.fetch }), wire)
  } catch (error) {
    return answerOfFailure(error, to, wire, call.signal)
  }
}

interface Sending {
  to: Provided
  wire: Wire
  /** Seconds since 1970. */
  created: number
}

async function answer(provider: Provider, call: Call, sending: Sending): Promise<Response> {
  const { path, model, body, signal } = call
  const { to, wire, created } = sending
  const kind = { ...kinds[to.kind], name: to.kind }
  if (body instanceof FormData && path === '/videos') {
    return refuse(400, 'This model begins without a picture.')
  }
  if (body instanceof FormData) {
    const listener = provider.transcriptionModel?.(model)
    return listener ? transcribe(listener, body, kind, signal) : nothingAt(path)
  }
  switch (path) {
    case '/chat/completions': {
      if (Number(body.n ?? 1) > 1) return refuse(400, 'This model gives one choice: n is 1.')
      const asked = askedOf(body, outputMostOf(call), signal, kind)
      const head = headOf(model, created)
      const speaker = provider.languageModel(model)
      return body.stream === true
        ? streamChat(speaker, asked, head, { to, wire })
        : chat(speaker, asked, head)
    }
    case '/embeddings':
      return embed(provider.embeddingModel(model), body, signal)
    case '/images/generations':
      return paint(provider.imageModel(model), body, kind, { created, signal })
    case '/audio/speech': {
      const speaker = provider.speechModel?.(model)
      return speaker ? speak(speaker, body, kind, signal) : nothingAt(path)
    }
    case '/videos': {
      const film = provider.videoModel?.(model)
      return film ? begin(film, body, { created, signal, name: to.kind }) : nothingAt(path)
    }
    default:
      return nothingAt(path)
  }
}

const nothingAt = (path: string): Response => refuse(404, `There is no such model at ${path}.`)
