import { type Clock, unixSeconds } from '../../core/time.ts'
import { errorResponse } from '../response.ts'
import { classifyNetworkError } from '../upstream-error.ts'
import { type Upstream, type UpstreamCall, UpstreamError, type UpstreamPath } from '../upstream.ts'
import type { DemoRequest } from './request.ts'

const kinds: Record<string, UpstreamPath> = {
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

type Answer = (asked: DemoRequest) => Promise<Response>

/** Each is loaded when it is first asked for: a house that never asks starts without them. */
const answers: Record<Exclude<UpstreamPath, '/audio/transcriptions'>, Answer> = {
  '/chat/completions': async (asked) => (await import('./chat.ts')).completeChat(asked),
  '/embeddings': async (asked) => (await import('./embedding.ts')).createEmbeddings(asked),
  '/images/generations': async (asked) => (await import('./image.ts')).generateImages(asked),
  '/videos': async (asked) => (await import('./video.ts')).submitVideo(asked),
  '/audio/speech': async (asked) => (await import('./speech.ts')).synthesizeSpeech(asked),
}

const name = 'demo'

/** Who asks may have left, or be out of time: that is no fault of the demo's. */
function checkAsked(signal: AbortSignal): void {
  if (signal.aborted) throw new UpstreamError(classifyNetworkError(signal.reason, signal), name)
}

/**
 * Models that need no network and answer the same each time, so that a new house works at once and
 * tests are exact. What each does is said in its file; their prices stand in the catalogue.
 */
export const demoUpstream = (clock: Clock): Upstream => ({
  name,
  kind: 'demo',
  async send({ path, model, body, signal }: UpstreamCall) {
    checkAsked(signal)
    if (kinds[model] !== path)
      return errorResponse(404, `There is no demo model ${model} at ${path}.`)
    if (path === '/audio/transcriptions') {
      if (!(body instanceof FormData)) return errorResponse(400, 'A sound is sent as a form.')
      return (await import('./transcription.ts')).transcribe(body)
    }
    if (body instanceof FormData) return errorResponse(400, 'The request is JSON.')
    return answers[path]({ model, body, created: unixSeconds(clock.now()) })
  },
  async poll({ path, signal }) {
    checkAsked(signal)
    return (await import('./video.ts')).pollVideo(path)
  },
})
