import {
  AISDKError,
  type Experimental_VideoModelV4 as VideoModelV4,
  type JSONValue,
} from '@ai-sdk/provider'

import { videoBytesMax } from '../../limits.ts'
import { asString, errorResponse } from '../response.ts'
import { toErrorEvent } from './errors.ts'
import { nearestAspectRatio } from './image.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'

/** A film that was begun: all that it takes to ask for it, by any process. */
interface SubmittedVideo {
  model: string
  operation: JSONValue
  /** Whether it is wanted itself. */
  isContent: boolean
}

/** Begins a film of a prompt. The id that it answers is what has begun, written as one word. */
export async function submitVideo(
  film: VideoModelV4,
  body: Record<string, unknown>,
  { created, signal, name }: { created: number; signal: AbortSignal; name: string },
): Promise<Response> {
  const { prompt, seconds, seed, negative_prompt: avoided } = body
  const [, wide, high] = /^(\d+)x(\d+)$/.exec(asString(body.size)) ?? []
  if (!film.doStart) return errorResponse(404, 'This model makes no films.')
  if (body.input_reference !== undefined) {
    return errorResponse(400, 'This model begins without a picture.')
  }
  const { operation } = await film.doStart({
    prompt: asString(prompt),
    n: 1,
    duration: Number(seconds),
    aspectRatio: wide && high ? nearestAspectRatio(Number(wide) / Number(high)) : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    resolution: undefined,
    fps: undefined,
    generateAudio: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    providerOptions: typeof avoided === 'string' ? { [name]: { negativePrompt: avoided } } : {},
    abortSignal: signal,
  })
  const { modelId: model } = film
  const id = Buffer.from(JSON.stringify([model, operation])).toString('base64url')
  return Response.json({ id, object: 'video', model, status: 'queued', created_at: created })
}

/** What a path of `look` names. */
export function parseVideoPath(path: string): SubmittedVideo | undefined {
  const [, id = '', content] = /^\/videos\/([\w-]+)(\/content)?$/.exec(path) ?? []
  try {
    const [model, operation]: [unknown, JSONValue] = JSON.parse(
      Buffer.from(id, 'base64url').toString('utf8'),
    )
    const isContent = content !== undefined
    return typeof model === 'string' ? { model, operation, isContent } : undefined
  } catch {
    return undefined
  }
}

/** How a film stands, or the film itself once it is there. */
export async function pollVideo(
  film: VideoModelV4,
  { operation, isContent }: SubmittedVideo,
  { to, wire, signal }: { to: AiSdkUpstream; wire: ProviderFetch; signal: AbortSignal },
): Promise<Response> {
  const stands = await film.doStatus?.({ operation, abortSignal: signal }).then(undefined, spoilt)
  if (!stands) return errorResponse(404, 'This model makes no films.')
  if (stands.status === 'pending') return Response.json({ status: 'in_progress' })
  if (stands.status === 'error') {
    // A provider that is busy or broken just now may have the film later.
    if (wire.status === 429 || wire.status >= 500) return errorResponse(wire.status, 'Not now.')
    const error = toErrorEvent({ message: stands.error }, to)
    return Response.json({ status: 'failed', error })
  }
  const [video] = stands.videos
  if (!isContent) return Response.json({ status: 'completed', progress: 100 })
  if (video?.type === 'url') return wire.take(video.url, videoBytesMax)
  if (video?.type === 'base64') return new Response(Buffer.from(video.data, 'base64'))
  if (video?.type === 'binary') return new Response(new Uint8Array(video.data))
  return errorResponse(404, 'There is no film.')
}

/** A package throws where a job ended without a film. */
function spoilt(error: unknown): { status: 'error'; error: string } {
  if (!AISDKError.isInstance(error) || !error.name.endsWith('_VIDEO_GENERATION_ERROR')) throw error
  return { status: 'error', error: error.message }
}
