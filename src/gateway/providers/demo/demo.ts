import { classifyNetworkError } from '../../../kernel/fetch.ts'
import { lookUp } from '../../../kernel/schema.ts'
import { type Clock, unixSeconds } from '../../../kernel/time.ts'
import type { ChatEvent } from '../../conversation/chat-event.ts'
import { reject } from '../error-body.ts'
import {
  type SentRequest,
  type Upstream,
  type UpstreamCall,
  UpstreamError,
  type UpstreamPath,
} from '../upstream.ts'
import type { DemoRequest } from './request.ts'

const chatModels = ['demo/chat', 'demo/small', 'demo/omni', 'demo/builder']

const paths: Record<string, UpstreamPath[]> = {
  'demo/embedding': ['/embeddings'],
  'demo/moderation': ['/moderations'],
  'demo/rerank': ['/rerank'],
  'demo/image': ['/images/generations', '/images/edits', '/images/variations'],
  'demo/video': ['/videos'],
  'demo/speech': ['/audio/speech'],
  'demo/transcription': ['/audio/transcriptions', '/audio/translations'],
}

type Handler = (request: DemoRequest) => Promise<SentRequest>
type FormHandler = (form: FormData, created: number) => Promise<SentRequest>

/** Loaded on first use, which keeps the start fast. */
const forms: Partial<Record<UpstreamPath, FormHandler>> = {
  '/audio/transcriptions': async (form) => (await import('./audio.ts')).transcribe(form),
  '/audio/translations': async (form) => (await import('./audio.ts')).transcribe(form),
  '/images/edits': async (...sent) => (await import('./image.ts')).changeImages(...sent),
  '/images/variations': async (...sent) => (await import('./image.ts')).changeImages(...sent),
}

const handlers: Partial<Record<UpstreamPath, Handler>> = {
  '/embeddings': async (request) => (await import('./embedding.ts')).createEmbeddings(request),
  '/moderations': async (request) => (await import('./moderation.ts')).moderate(request),
  '/rerank': async (request) => (await import('./embedding.ts')).rerank(request),
  '/images/generations': async (request) => (await import('./image.ts')).generateImages(request),
  '/videos': async (request) => (await import('./video.ts')).submitVideo(request),
  '/audio/speech': async (request) => (await import('./audio.ts')).synthesizeSpeech(request),
}

const name = 'demo'

async function* oneByOne(events: Iterable<ChatEvent>): AsyncGenerator<ChatEvent[]> {
  for (const event of events) yield [event]
}

/** Throws UpstreamError when the client left or the deadline passed. */
function checkSignal(signal: AbortSignal): void {
  if (signal.aborted) throw new UpstreamError(classifyNetworkError(signal.reason, signal), name)
}

/**
 * Creates the demo provider: deterministic models without a network, for new installations and
 * exact tests. The catalog has their prices.
 */
export const createDemoUpstream = (clock: Clock): Upstream => ({
  name,
  kind: 'demo',
  apis: [],
  async send({ path, model, body, signal }: UpstreamCall) {
    checkSignal(signal)
    if (!lookUp(paths, model)?.includes(path)) {
      return reject(404, `No demo model ${model} at ${path}.`)
    }
    const created = unixSeconds(clock.now())
    if (body instanceof FormData) {
      const sent = forms[path]?.(body, created)
      return sent ?? reject(400, 'Send the request as JSON.')
    }
    const sent = handlers[path]?.({ model, body, created })
    return sent ?? reject(400, 'Send the request as a form.')
  },
  async chat({ model, request, isStream, outputMax, signal }) {
    checkSignal(signal)
    if (!chatModels.includes(model)) {
      return reject(404, `No demo model ${model} at /chat/completions.`)
    }
    const { demoChat } = await import('./chat-events.ts')
    const created = unixSeconds(clock.now())
    return { steps: oneByOne(demoChat(model, request, isStream, outputMax, created)), ignored: [] }
  },
  async connect(request) {
    checkSignal(request.signal)
    const { model } = request
    if (model !== 'demo/realtime') return reject(404, `No demo model ${model} at /realtime.`)
    const { DemoRealtime } = await import('./realtime.ts')
    return new DemoRealtime(request)
  },
  async poll({ path, signal }) {
    checkSignal(signal)
    return (await import('./video.ts')).pollVideo(path)
  },
})
