import type { ProviderV4 } from '@ai-sdk/provider'

import type { Clock } from '../../core/time.ts'
import { second } from '../../core/time.ts'
import type { TranslatedKind } from '../../providers.ts'
import { refuse } from '../answer.ts'
import type { Call, Upstream } from '../upstream.ts'
import { askedOf } from './asked.ts'
import { streamChat } from './chat-stream.ts'
import { chat, headOf } from './chat.ts'
import { embed } from './embeddings.ts'
import { answerOfFailure } from './failure.ts'
import { paint } from './image.ts'
import { kinds } from './kinds.ts'
import { speak } from './speech.ts'
import { transcribe } from './transcription.ts'
import { mostOf, type TranslatedUpstream, Wire } from './wire.ts'

/** A package asks the environment for a key that it is not given. */
const noKey = 'none'

/**
 * The translated lane: a provider that does not speak OpenAI's HTTP is asked through its package,
 * and its answer is written in OpenAI's shapes.
 */
export const translatedLane = (
  to: TranslatedUpstream & { kind: TranslatedKind },
  clock: Clock,
): Upstream => ({
  name: to.name,
  kind: to.kind,
  async send(call) {
    const kind = kinds[to.kind]
    const wire = new Wire(to, kind, call)
    try {
      const { apiKey = noKey, baseUrl: baseURL } = to
      const provider = await kind.open({ apiKey, baseURL, fetch: wire.fetch })
      return await answer(provider, call, { to, wire, created: Math.floor(clock.now() / second) })
    } catch (error) {
      return answerOfFailure(error, to, wire, call.signal)
    }
  },
})

interface Sending {
  to: TranslatedUpstream & { kind: TranslatedKind }
  wire: Wire
  /** Seconds since 1970. */
  created: number
}

async function answer(provider: ProviderV4, call: Call, sending: Sending): Promise<Response> {
  const { path, model, body, signal } = call
  const { to, wire, created } = sending
  const kind = { ...kinds[to.kind], name: to.kind }
  if (body instanceof FormData) {
    const listener = provider.transcriptionModel?.(model)
    return listener ? transcribe(listener, body, kind, signal) : nothingAt(path)
  }
  switch (path) {
    case '/chat/completions': {
      if (Number(body.n ?? 1) > 1) return refuse(400, 'This model gives one choice: n is 1.')
      const asked = askedOf(body, mostOf(call), signal, kind)
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
    default:
      return nothingAt(path)
  }
}

const nothingAt = (path: string): Response => refuse(404, `There is no such model at ${path}.`)
