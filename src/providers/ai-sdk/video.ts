import {
  AISDKError,
  APICallError,
  type Experimental_VideoModelV4 as VideoModelV4,
  type JSONValue,
} from '@ai-sdk/provider'

import { GuardedFetchError } from '../../core/fetch.ts'
import type { Json } from '../../core/schema.ts'
import { videoBytesMax } from '../../limits.ts'
import { isTransientStatus } from '../error-body.ts'
import { asString, errorResponse } from '../response.ts'
import { UpstreamError } from '../upstream.ts'
import { encodeVideoId, parseVideoPath } from '../video-id.ts'
import { toErrorEvent } from './errors.ts'
import { nearestAspectRatio } from './image.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'

/** A submitted video. Its id contains all of it, so that any process can poll. */
interface SubmittedVideo {
  model: string
  operation: JSONValue
  /** True when the content is requested, not the status. */
  isContent: boolean
}

export async function submitVideo(
  model: VideoModelV4,
  body: Json,
  { created, signal, name }: { created: number; signal: AbortSignal; name: string },
): Promise<Response> {
  const { prompt, seconds, seed, negative_prompt: negativePrompt } = body
  const [, width, height] = /^(\d+)x(\d+)$/.exec(asString(body.size)) ?? []
  if (!model.doStart) return noVideos()
  if (body.input_reference !== undefined) {
    return errorResponse(400, 'This model does not accept an input image.')
  }
  const { operation } = await model.doStart({
    prompt: asString(prompt),
    n: 1,
    duration: Number(seconds),
    aspectRatio: width && height ? nearestAspectRatio(Number(width) / Number(height)) : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    resolution: undefined,
    fps: undefined,
    generateAudio: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    providerOptions: typeof negativePrompt === 'string' ? { [name]: { negativePrompt } } : {},
    abortSignal: signal,
  })
  const { modelId } = model
  const id = encodeVideoId([modelId, operation])
  return Response.json({
    id,
    object: 'video',
    model: modelId,
    status: 'queued',
    created_at: created,
  })
}

/** Parses the path of a poll; undefined when it names no video. */
export function parseSubmittedVideo(path: string): SubmittedVideo | undefined {
  const { state, isContent = false } = parseVideoPath(path) ?? {}
  const [model, operation = null] = Array.isArray(state) ? state : []
  return typeof model === 'string' ? { model, operation, isContent } : undefined
}

/** Returns the status of a video, or its content once it is completed. */
export async function pollVideo(
  model: VideoModelV4,
  { operation, isContent }: SubmittedVideo,
  {
    upstream,
    network,
    signal,
  }: { upstream: AiSdkUpstream; network: ProviderFetch; signal: AbortSignal },
): Promise<Response> {
  const result = await model
    .doStatus?.({ operation, abortSignal: signal })
    .then(undefined, toFailedStatus)
  // Some packages report a response that broke off as a failed video.
  if (network.isCut || signal.aborted) throw new UpstreamError('reset', upstream.name)
  if (!result) return noVideos()
  if (result.status === 'pending') return Response.json({ status: 'in_progress' })
  if (result.status === 'error') {
    // A busy or failing provider may still complete the video.
    const { status } = network
    if (isTransientStatus(status)) return errorResponse(status, 'The provider is busy.')
    const error = toErrorEvent({ message: result.error }, upstream)
    return Response.json({ status: 'failed', error })
  }
  const [video] = result.videos
  if (!isContent) return Response.json({ status: 'completed', progress: 100 })
  if (video?.type === 'url') {
    return network.download(video.url, videoBytesMax).catch((error: unknown) => {
      if (!(error instanceof GuardedFetchError)) throw error
      return errorResponse(404, 'The video is at an address that cannot be fetched.')
    })
  }
  if (video?.type === 'base64') return new Response(Buffer.from(video.data, 'base64'))
  if (video?.type === 'binary') return new Response(new Uint8Array(video.data))
  return errorResponse(404, 'The provider returned no video.')
}

const noVideos = (): Response => errorResponse(404, 'This model does not create videos.')

/**
 * Converts the errors that a package throws for a job without a video, and for a response that is
 * not a status.
 */
function toFailedStatus(error: unknown): { status: 'error'; error: string } {
  if (APICallError.isInstance(error) && error.statusCode === 200) {
    return { status: 'error', error: 'The provider responded with something else than a status.' }
  }
  if (!AISDKError.isInstance(error) || !error.name.endsWith('_VIDEO_GENERATION_ERROR')) throw error
  return { status: 'error', error: error.message }
}
