import { type Clock, unixSeconds } from '../../core/time.ts'
import { refuse } from '../answer.ts'
import { faultKindOf } from '../upstream-error.ts'
import { type Call, type Path, type Upstream, UpstreamFault } from '../upstream.ts'
import type { Asked } from './asked.ts'

const kinds: Record<string, Path> = {
  'demo/chat': '/chat/completions',
  'demo/small': '/chat/completions',
  'demo/omni': '/chat/completions',
  'demo/builder': '/chat/completions',
  'demo/embedding': '/embeddings',
  'demo/image': '/images/generations',
  'demo/video': '/videos',
  'demo/speech': '/audio/speech',
  'demo/transcription': '/audio/transcriptions',
}

type Answer = (asked: Asked) => Promise<Response>

/** Each is loaded when it is first asked for: a house that never asks starts without them. */
const answers: Record<Exclude<Path, '/audio/transcriptions'>, Answer> = {
  '/chat/completions': async (asked) => (await import('./chat.ts')).chat(asked),
  '/embeddings': async (asked) => (await import('./embedding.ts')).embed(asked),
  '/images/generations': async (asked) => (await import('./image.ts')).paint(asked),
  '/videos': async (asked) => (await import('./film.ts')).film(asked),
  '/audio/speech': async (asked) => (await import('./speech.ts')).speak(asked),
}

const name = 'demo'

/** Who asks may have left, or be out of time: that is no fault of the demo's. */
function checkAsked(signal: AbortSignal): void {
  if (signal.aborted) throw new UpstreamFault(faultKindOf(signal.reason, signal), name)
}

/**
 * Models that need no network and answer the same each time, so that a new house works at once and
 * tests are exact. What each does is said in its file; their prices stand in the catalogue.
 */
export const demoUpstream = (clock: Clock): Upstream => ({
  name,
  kind: 'demo',
  async send({ path, model, body, signal }: Call) {
    checkAsked(signal)
    if (kinds[model] !== path) return refuse(404, `There is no demo model ${model} at ${path}.`)
    if (path === '/audio/transcriptions') {
      if (!(body instanceof FormData)) return refuse(400, 'A sound is sent as a form.')
      return (await import('./transcription.ts')).transcribe(body)
    }
    if (body instanceof FormData) return refuse(400, 'The request is JSON.')
    return answers[path]({ model, body, created: unixSeconds(clock.now()) })
  },
  async look({ path, signal }) {
    checkAsked(signal)
    return (await import('./film.ts')).lookAtFilm(path)
  },
})
