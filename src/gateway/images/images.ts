import type { AppContext } from '../../context.ts'
import { type Json, recordOf } from '../../core/schema.ts'
import { second, unixSeconds } from '../../core/time.ts'
import {
  imagesPerRequestMax,
  mediaLinkMs,
  promptCharsMax,
  unknownOutputTokens,
} from '../../limits.ts'
import type { Model } from '../../models/catalog.ts'
import { estimateTokens, maxInputTokens } from '../../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../../models/usage.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import * as fields from '../fields.ts'
import { fetchResult } from '../media-files/fetch-result.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { interruptionOf, noContent, unfetchable, unreadable } from '../paid/upstream-failure.ts'
import { type ImageResult, readImageResults } from './image-results.ts'

/**
 * Generates images (document 2, POST /v1/images/generations), charged per returned image. Throws
 * `bad_request` and the errors of section 7.
 */
export const generateImages = (ctx: AppContext, spender: Spender, body: unknown, call: Call) =>
  runMediaRequest(ctx, spender, readRequest(ctx, body), call)

function readRequest(ctx: AppContext, sent: unknown): MediaRequest {
  const { model, models, provider, stream, ...params } = recordOf(sent)
  if (stream === true) throw fields.invalidField('stream', 'Images do not stream. Remove it.')
  const modelIds = fields.readModels(model, models)
  const prompt = fields.readString(params, 'prompt', promptCharsMax)
  validateFields(params)
  const n = fields.findCount(params, 'n', imagesPerRequestMax) ?? 1
  const asBytes = fields.findEnum(params, 'response_format', ['url', 'b64_json']) === 'b64_json'
  const body = readSize(params)
  const { quality, ...withoutQuality } = body
  const limitsOf = ({ maxOutput }: Model) => ({
    prompt: maxInputTokens(body, 0),
    completion: n * (maxOutput || unknownOutputTokens),
  })
  const estimateUsage = (to: Model): Usage =>
    to.price?.perImage === undefined
      ? createUsage({ prompt: estimateTokens(prompt), completion: limitsOf(to).completion })
      : createUsage({ images: n })
  return {
    path: '/images/generations',
    type: 'image',
    kind: 'image',
    modelIds,
    body,
    fingerprint: sent,
    preferences: readPreferences(provider),
    validate: (to) => checkQuality(to, quality),
    bodyFor: ({ price }) => (price.perImage === undefined ? body : withoutQuality),
    maxUsage(to) {
      const { prompt: inputTokensMax, completion: outputTokensMax } = limitsOf(to)
      return { inputTokensMax, outputTokensMax, images: n }
    },
    estimateUsage,
    async read(response, { candidate, deadlines }) {
      const read = await readJsonObject(response, deadlines)
      if (!('answer' in read)) return read
      const { data, usage, created, ...details } = read.answer
      if (!Array.isArray(data) || data.length === 0) return noContent
      const results = await readResults(ctx, data.slice(0, n), candidate, deadlines)
      if (!('images' in results)) return results
      const { images: found, unfetched } = results
      const counted =
        readUsage(usage, limitsOf(candidate.model)) ??
        (candidate.price.perImage === undefined
          ? { ...estimateUsage(candidate.model), estimated: true }
          : createUsage({}))
      const images = await storeImages(ctx, found, asBytes)
      const seconds = Number.isInteger(created) ? created : unixSeconds(ctx.clock.now())
      return {
        usage: { ...withoutUnfetched(counted, found.length, unfetched), images: found.length },
        rows: images.rows.map((row) => mediaFiles.mediaFileRow.create(ctx, row)),
        response: (cost) => ({
          status: 200,
          body: { created: seconds, ...imageDetails(details), data: images.data, cost },
        }),
      }
    },
  }
}

const defaultQualities: unknown[] = [undefined, null, 'auto', 'standard']

/**
 * Throws `bad_request` for a quality that a price per image does not cover: it covers the default
 * only, and another may cost more than the hold.
 */
function checkQuality({ id, price }: Model, quality: unknown): void {
  if (price?.perImage === undefined || defaultQualities.includes(quality)) return
  throw fields.invalidField('quality', `${id} has one price per image. Remove quality.`)
}

/** Throws `bad_request` for an invalid field that reaches the upstream unchanged. */
function validateFields(params: Json): void {
  fields.findString(params, 'negative_prompt', promptCharsMax)
  fields.checkUrls(params)
  rejectUnpricedFields(params, 'image')
}

const fetchRetryMs = second

/** Reads the images of a response, also from URLs. Without an image it is a failure. */
async function readResults(
  ctx: AppContext,
  data: unknown[],
  { offer: { upstream } }: Candidate,
  deadlines: CallDeadlines,
) {
  const results = await readImageResults(data, async (url, bytesMax) => {
    const fetchImage = () => fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
    let bytes = await fetchImage()
    if (bytes === undefined && !deadlines.cause) {
      // Some hosts serve an image only moments after its URL.
      await Bun.sleep(fetchRetryMs)
      bytes = await fetchImage()
    }
    return bytes === 'blocked' ? undefined : bytes
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

/** Validates the size. Some clients send "auto" for the model's default. */
function readSize({ size: sent, ...body }: Json): Json {
  const size = sent === 'auto' ? undefined : fields.findSize(sent)
  return size === undefined ? body : { ...body, size }
}

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
