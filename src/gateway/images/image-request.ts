import type { AppContext } from '../../kernel/context.ts'
import type { Content } from '../../kernel/http/outcome.ts'
import {
  fetchedImageBytesMax,
  imagesPerRequestMax,
  mediaLinkMs,
  promptCharsMax,
  unknownOutputTokens,
  upstreamResponseBytesMax,
} from '../../kernel/limits.ts'
import { isRecord, type Json, lookUp, recordOf, recordsIn } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import { encodeEvent, eventStream } from '../events.ts'
import * as fields from '../fields.ts'
import { fetchResult } from '../media-files/media-files.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Model } from '../models/catalog.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import type { MediaRequest } from '../paid/media.ts'
import { costHeader } from '../paid/paid-call.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { interruptionOf, noContent, unfetchable, unreadable } from '../paid/upstream-failure.ts'
import type { UpstreamCall } from '../providers/upstream.ts'

/** The parsed fields of a request for images. */
export interface ImageParams {
  modelIds: string[]
  preferences: Preferences
  /** The fields for the upstream. */
  body: Json
  prompt: string
  n: number
  asBytes: boolean
  quality: unknown
  fidelity: unknown
}

/** A request for images, ready to be paid. */
interface ImageRequest {
  path: MediaRequest['path']
  params: ImageParams
  /** Number of images that the client sends. */
  images: number
  /** The bodies for models with a price per token, and per image. */
  bodies: { all: UpstreamCall['body']; withoutQuality: UpstreamCall['body'] }
  fingerprint: unknown
  /** True if the client wants events. */
  isStream: boolean
}

/** Parses the fields of a request for images. Throws `bad_request`. */
export function readParams(sent: unknown): ImageParams {
  const { model, models, provider, ...params } = recordOf(sent)
  const modelIds = fields.readModels(model, models)
  validateFields(params)
  const n = fields.findCount(params, 'n', imagesPerRequestMax) ?? 1
  const format = fields.findEnum(params, 'response_format', ['url', 'b64_json'])
  const body = readSize(params)
  return {
    modelIds,
    preferences: readPreferences(provider),
    body,
    prompt: fields.findString(params, 'prompt', promptCharsMax) ?? '',
    n,
    asBytes: format === 'b64_json',
    quality: params.quality,
    fidelity: params.input_fidelity,
  }
}

/** Returns the paid request for images, which are charged per returned image or by tokens. */
export function toMediaRequest(
  ctx: AppContext,
  { path, params, images: given, bodies, fingerprint, isStream }: ImageRequest,
): MediaRequest {
  const { body, prompt, n, asBytes, modelIds, preferences } = params
  const limitsOf = ({ maxOutput, imageTokens }: Model) => ({
    prompt: maxInputTokens(body, 0) + given * imageTokens,
    completion: n * (maxOutput || unknownOutputTokens),
  })
  const estimateUsage = (to: Model): Usage =>
    to.price?.perImage === undefined
      ? createUsage({
          prompt: estimateTokens(prompt) + given * to.imageTokens,
          completion: limitsOf(to).completion,
        })
      : createUsage({ images: n })
  return {
    path,
    type: 'image',
    kind: 'image',
    modelIds,
    body: bodies.all,
    fingerprint,
    preferences,
    validate: (to) => checkQuality(to, params),
    bodyFor: ({ price }) => (price.perImage === undefined ? bodies.all : bodies.withoutQuality),
    maxUsage(to) {
      const { prompt: inputTokensMax, completion: outputTokensMax } = limitsOf(to)
      return { inputTokensMax, outputTokensMax, images: n }
    },
    estimateUsage,
    ...(isStream && { present: async (result) => toImageEvents(path, result) }),
    async read(received, { candidate, deadlines }) {
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const { data, usage, created, ...details } = read.json
      if (!Array.isArray(data) || data.length === 0) return noContent
      const results = await readResults(ctx, data.slice(0, n), candidate, deadlines)
      if (!('images' in results)) return results
      const { images: found, unfetched } = results
      const counted =
        readUsage(usage, limitsOf(candidate.model)) ??
        (candidate.price.perImage === undefined
          ? { ...estimateUsage(candidate.model), estimated: true }
          : createUsage({}))
      const images = await storeImages(ctx, found, asBytes || isStream)
      const seconds = Number.isInteger(created) ? created : unixSeconds(ctx.clock.now())
      const result = { created: seconds, ...imageDetails(details), data: images.data }
      const used = { ...withoutUnfetched(counted, found.length, unfetched), images: found.length }
      return {
        usage: used,
        rows: images.rows.map((row) => mediaFiles.mediaFileRow.create(ctx, row)),
        response: (cost) => {
          const more = isStream ? { usage: presentUsage(used, cost) } : {}
          return { ...result, cost, ...more }
        },
      }
    },
  }
}

/** Returns a usage in OpenAI's format for images, with its cost. */
const presentUsage = ({ prompt, completion }: Usage, cost: number): Json => ({
  input_tokens: prompt,
  output_tokens: completion,
  total_tokens: prompt + completion,
  input_tokens_details: { text_tokens: prompt, image_tokens: 0 },
  cost,
})

/** Reads `stream`, which is a text in a form. Throws `bad_request`. */
export function readStream(stream: unknown): boolean {
  const value = stream ?? false
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw fields.invalidField('stream', 'stream must be true or false.')
}

const defaultQualities: unknown[] = [undefined, null, 'auto', 'standard']

/**
 * Throws `bad_request` for a quality that a price per image does not cover: it covers the default
 * only, and another may cost more than the hold.
 */
function checkQuality({ id, price }: Model, { quality, fidelity }: ImageParams): void {
  if (price?.perImage === undefined) return
  if (!defaultQualities.includes(quality)) {
    throw fields.invalidField('quality', `${id} has one price per image. Remove quality.`)
  }
  if (fidelity !== undefined && fidelity !== null && fidelity !== 'low') {
    throw fields.invalidField('input_fidelity', `${id} has one price per image. Send low.`)
  }
}

/** Throws `bad_request` for an invalid field that reaches the upstream unchanged. */
function validateFields(params: Json): void {
  fields.findString(params, 'negative_prompt', promptCharsMax)
  fields.checkUrls(params)
  rejectUnpricedFields(params, 'image')
}

/** Validates the size. Some clients send "auto" for the model's default. */
function readSize({ size: sent, ...body }: Json): Json {
  const size = sent === 'auto' ? undefined : fields.findSize(sent)
  return size === undefined ? body : { ...body, size }
}

/** The event of a finished image, by operation. */
const eventTypes: Record<string, string> = { '/images/edits': 'image_edit.completed' }

/**
 * Returns the result of a request for images as OpenAI's events, one for each image. Previews of
 * images cost more than the price covers, so there are none.
 */
function toImageEvents(path: string, result: unknown): Content {
  const { data, created, cost, usage, ...details } = recordOf(result)
  const events = recordsIn(data).map(({ b64_json }): Json => {
    const type = lookUp(eventTypes, path) ?? 'image_generation.completed'
    return { type, b64_json, created_at: created, ...details, usage }
  })
  return eventStream(new Blob(events.map(encodeEvent)).stream(), costHeader(Number(cost)))
}

/** Reads the images of a response, also from URLs. Without an image it is a failure. */
async function readResults(
  ctx: AppContext,
  data: unknown[],
  { offer: { upstream } }: Candidate,
  deadlines: CallDeadlines,
) {
  const results = await readImageResults(data, async (url, bytesMax) => {
    const bytes = await fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
    return bytes instanceof Uint8Array ? bytes : undefined
  })
  if (results.images.length > 0) return results
  if (results.unfetched === 0) return unreadable
  return deadlines.cause === 'client' ? interruptionOf(deadlines) : unfetchable
}

/** Returns the properties of the images that an upstream sends in OpenAI's format. */
const imageDetails = (response: Json): Json =>
  Object.fromEntries(
    ['background', 'output_format', 'quality', 'size'].flatMap((name) =>
      typeof response[name] === 'string' ? [[name, response[name]]] : [],
    ),
  )

/** Reduces the output tokens by the share of the images that could not be fetched. */
function withoutUnfetched(usage: Usage, images: number, unfetched: number): Usage {
  if (unfetched === 0) return usage
  const completion = Math.ceil((usage.completion * images) / (images + unfetched))
  return { ...usage, completion, reasoning: Math.min(usage.reasoning, completion), estimated: true }
}

/** Stores images behind signed URLs, unless the client requested bytes. */
async function storeImages(ctx: AppContext, images: ImageResult[], asBytes: boolean) {
  const rows: mediaFiles.MediaFile[] = []
  const data: Record<string, string>[] = []
  for (const image of images) {
    const prompt = image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt }
    if (asBytes) {
      data.push({ b64_json: Buffer.from(image.bytes).toString('base64'), ...prompt })
    } else {
      const row = await mediaFiles.store(ctx, { ...image, forMs: mediaLinkMs })
      rows.push(row)
      data.push({ url: mediaFiles.signedUrlOf(ctx, row), ...prompt })
    }
  }
  return { rows, data }
}

/** An image of an upstream's response. */
interface ImageResult {
  bytes: Uint8Array
  type: string
  /** The prompt as the model changed it. */
  revisedPrompt?: string
}

/** Fetches the bytes of a URL, at most `bytesMax`; undefined when they cannot be fetched. */
type FetchUrl = (url: string, bytesMax: number) => Promise<Uint8Array | undefined>

/**
 * Reads the images of a response, and fetches those that are URLs. It skips invalid ones;
 * `unfetched` counts the URLs without an image.
 */
async function readImageResults(data: unknown[], fetchUrl: FetchUrl) {
  const images: ImageResult[] = []
  let unfetched = 0
  let bytesLeft = fetchedImageBytesMax
  for (const { b64_json, url, revised_prompt } of data.filter(isRecord)) {
    const base64 = typeof b64_json === 'string' ? b64_json : base64Of(url)
    const isFetched = base64 === undefined && typeof url === 'string'
    const bytes = isFetched ? await fetchUrl(url, bytesLeft) : Buffer.from(base64 ?? '', 'base64')
    const image = bytes && (await detectImage(bytes))
    if (isFetched) bytesLeft -= bytes?.byteLength ?? 0
    if (isFetched && !image) unfetched += 1
    const prompt = typeof revised_prompt === 'string' && { revisedPrompt: revised_prompt }
    if (image) images.push({ ...image, ...prompt })
  }
  return { images, unfetched }
}

const dataUrl = /^data:image\/[a-z+.-]+;base64,/i

/** Returns the base64 of a data: URL; undefined for any other value. */
function base64Of(url: unknown): string | undefined {
  const [prefix] = (typeof url === 'string' && dataUrl.exec(url)) || []
  return prefix === undefined ? undefined : String(url).slice(prefix.length)
}

/** Returns an image with its detected type, so that this server serves nothing but images. */
async function detectImage(bytes: Uint8Array): Promise<ImageResult | undefined> {
  const file = await detectFileKind(bytes, upstreamResponseBytesMax)
  return 'kind' in file && file.kind === 'picture' ? { bytes, type: file.type } : undefined
}
