import {
  AISDKError,
  APICallError,
  type Experimental_VideoModelV4 as VideoModelV4,
  type ImageModelV4,
  type JSONValue,
  type SpeechModelV4,
  type TranscriptionModelV4,
} from '@ai-sdk/provider'

import { GuardedFetchError } from '../../../kernel/fetch.ts'
import { videoBytesMax } from '../../../kernel/limits.ts'
import { asString, type Json, lookUp } from '../../../kernel/schema.ts'
import { isTransientStatus, reject } from '../error-body.ts'
import { type SentRequest, UpstreamError } from '../upstream.ts'
import { encodeVideoId, parseVideoPath } from '../video-id.ts'
import { encodeWav } from '../wav.ts'
import { toErrorEvent } from './errors.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'
import type { ProviderKind } from './provider-kinds.ts'

type ImageOptions = Parameters<ImageModelV4['doGenerate']>[0]
type ImageResult = Awaited<ReturnType<ImageModelV4['doGenerate']>>

/** Aspect ratios of providers without exact sizes. */
const aspectRatios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const

/**
 * Generates images, in as many calls as the provider needs. When some calls fail, it returns the
 * images of the others. `created`: seconds since 1970.
 */
export async function generateImages(
  model: ImageModelV4,
  body: Json,
  kind: ProviderKind & { name: string },
  { created, signal }: { created: number; signal: AbortSignal },
  sources: Pick<ImageOptions, 'files' | 'mask'> = { files: undefined, mask: undefined },
): Promise<SentRequest> {
  const count = typeof body.n === 'number' ? body.n : 1
  const perCall = await imagesPerCall(model)
  const calls = Array.from({ length: Math.ceil(count / perCall) }, (_, at) =>
    model.doGenerate({
      ...buildOptions(body, Math.min(perCall, count - at * perCall), kind, signal),
      ...sources,
    }),
  )
  const settled = await Promise.allSettled(calls)
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = settled.find((one) => one.status === 'rejected')
  if (results.length === 0 && failed) throw failed.reason
  const images = results.flatMap((result) => [...result.images])
  const data = images.map((image) => ({ b64_json: toBase64(image) }))
  return { json: { created, data, ...sumUsage(results) } }
}

export async function editImages(
  model: ImageModelV4,
  form: FormData,
  kind: ProviderKind & { name: string },
  call: { created: number; signal: AbortSignal },
): Promise<SentRequest> {
  const { prompt, n = 1, size, seed } = Object.fromEntries(form.entries())
  const body = { prompt, size, n: Number(n), ...(seed !== undefined && { seed: Number(seed) }) }
  const images = [...form.getAll('image'), ...form.getAll('image[]')]
  const files = await Promise.all(images.filter((one) => one instanceof File).map(toSource))
  const mask = form.get('mask')
  const sources = { files, mask: mask instanceof File ? await toSource(mask) : undefined }
  return generateImages(model, body, kind, call, sources)
}

const toSource = async (file: File) => ({
  type: 'file' as const,
  mediaType: file.type || 'image/png',
  data: await file.bytes(),
})

async function imagesPerCall({ maxImagesPerCall: max, modelId }: ImageModelV4): Promise<number> {
  return (await (typeof max === 'function' ? max({ modelId }) : max)) ?? 1
}

function buildOptions(
  { prompt, size, seed, negative_prompt }: Json,
  n: number,
  { name, usesAspectRatios }: ProviderKind & { name: string },
  signal: AbortSignal,
): ImageOptions {
  const sides = /^(\d+)x(\d+)$/.exec(asString(size))
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  return {
    prompt: asString(prompt),
    n,
    size: sides && !usesAspectRatios ? `${width}x${height}` : undefined,
    aspectRatio: sides && usesAspectRatios ? nearestAspectRatio(width / height) : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    files: undefined,
    mask: undefined,
    providerOptions: typeof negative_prompt === 'string' ? { [name]: { negative_prompt } } : {},
    abortSignal: signal,
  }
}

/** Returns the nearest aspect ratio that providers accept. */
function nearestAspectRatio(ratio: number): (typeof aspectRatios)[number] {
  const distance = (text: string): number => {
    const [width = 1, height = 1] = text.split(':').map(Number)
    return Math.abs(Math.log(width / height / ratio))
  }
  return aspectRatios.reduce((best, one) => (distance(one) < distance(best) ? one : best))
}

const toBase64 = (image: string | Uint8Array): string =>
  typeof image === 'string' ? image : Buffer.from(image).toString('base64')

/** Sums the tokens of providers that charge images by them. */
function sumUsage(results: ImageResult[]) {
  const usages = results.flatMap(({ usage }) => usage ?? [])
  if (usages.length === 0) return {}
  const sum = (name: 'inputTokens' | 'outputTokens'): number =>
    usages.reduce((total, usage) => total + (usage[name] ?? 0), 0)
  const [input, output] = [sum('inputTokens'), sum('outputTokens')]
  return {
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  }
}

const hertz = 24_000

/** Synthesizes speech. Raw samples are wrapped as WAV for a provider without WAV output. */
export async function synthesizeSpeech(
  model: SpeechModelV4,
  body: Json,
  { speechFormats: speech = {} }: ProviderKind,
  signal: AbortSignal,
): Promise<SentRequest> {
  const format = asString(body.response_format) || 'mp3'
  const outputFormat = lookUp(speech, format)
  if (outputFormat === undefined)
    return reject(400, `This model does not support the format ${format}.`)
  const { voice, instructions, speed } = body
  const { audio } = await model.doGenerate({
    text: asString(body.input),
    outputFormat,
    abortSignal: signal,
    ...(typeof voice === 'string' && { voice }),
    ...(typeof instructions === 'string' && { instructions }),
    ...(typeof speed === 'number' && { speed }),
  })
  const bytes = new Uint8Array(typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio)
  const isRaw = format === 'wav' && outputFormat.startsWith('pcm')
  return { file: isRaw ? encodeWav(bytes, hertz) : new Blob([bytes]) }
}

/** Transcribes audio. The response has segments and, when the provider sends it, the length. */
export async function transcribe(
  model: TranscriptionModelV4,
  form: FormData,
  kind: ProviderKind,
  signal: AbortSignal,
): Promise<SentRequest> {
  const file = form.get('file')
  if (!(file instanceof Blob)) return reject(400, 'Send the audio in the field "file".')
  const language = form.get('language')
  const { text, segments, durationInSeconds, ...result } = await model.doGenerate({
    audio: new Uint8Array(await file.arrayBuffer()),
    mediaType: file.type || 'audio/mpeg',
    abortSignal: signal,
    providerOptions:
      kind.languageOptions?.(typeof language === 'string' ? language : undefined) ?? {},
  })
  const json = {
    text,
    language: result.language ?? language,
    duration: durationInSeconds,
    segments: segments.map(({ text, startSecond, endSecond }, id) => {
      return { id, start: startSecond, end: endSecond, text }
    }),
    ...(durationInSeconds && { usage: { type: 'duration', seconds: durationInSeconds } }),
  }
  return { json }
}

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
): Promise<SentRequest> {
  const { prompt, seconds, seed, negative_prompt: negativePrompt } = body
  const [, width, height] = /^(\d+)x(\d+)$/.exec(asString(body.size)) ?? []
  if (!model.doStart) return noVideos()
  if (body.input_reference !== undefined) {
    return reject(400, 'This model does not accept an input image.')
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
  return { json: { id, object: 'video', model: modelId, status: 'queued', created_at: created } }
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
): Promise<SentRequest> {
  const result = await model
    .doStatus?.({ operation, abortSignal: signal })
    .then(undefined, toFailedStatus)
  // Some packages report a response that broke off as a failed video.
  if (network.isCut || signal.aborted) throw new UpstreamError('reset', upstream.name)
  if (!result) return noVideos()
  if (result.status === 'pending') return { json: { status: 'in_progress' } }
  if (result.status === 'error') {
    // A busy or failing provider may still complete the video.
    const { status } = network
    if (isTransientStatus(status)) return reject(status, 'The provider is busy.')
    const error = toErrorEvent({ message: result.error }, upstream)
    return { json: { status: 'failed', error } }
  }
  const [video] = result.videos
  if (!isContent) return { json: { status: 'completed', progress: 100 } }
  if (video?.type === 'url') return downloadVideo(network, video.url)
  if (video?.type === 'base64') return { file: new Blob([Buffer.from(video.data, 'base64')]) }
  if (video?.type === 'binary') return { file: new Blob([new Uint8Array(video.data)]) }
  return reject(404, 'The provider returned no video.')
}

async function downloadVideo(network: ProviderFetch, url: string): Promise<SentRequest> {
  try {
    const response = await network.download(url, videoBytesMax)
    if (response.ok) return { response }
    await response.body?.cancel()
    return reject(response.status, 'The video could not be fetched.')
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    return reject(404, 'The video is at an address that cannot be fetched.')
  }
}

const noVideos = () => reject(404, 'This model does not create videos.')

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
