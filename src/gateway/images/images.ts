import type { AppContext } from '../../context.ts'
import { recordOf } from '../../core/schema.ts'
import { unixSeconds } from '../../core/time.ts'
import {
  imagesPerRequestMax,
  mediaLinkMs,
  promptCharsMax,
  unknownOutputTokens,
} from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { estimateTokens, maxInputTokens } from '../../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../../models/usage.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import {
  checkAddresses,
  findSize,
  findText,
  findWord,
  invalidField,
  readCount,
  readModels,
  readText,
} from '../fields.ts'
import * as made from '../media-files/media-files.ts'
import type { MediaOutput, MediaRequest } from '../paid/media.ts'
import { runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { noContent, unreadable, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { type ImageResult, readImageResults } from './image-results.ts'

/**
 * Pictures of a prompt (document 2, POST /v1/images/generations): paid for each that came. Refuses
 * bad_request and what section 7 says.
 */
export const generateImages = (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  runMediaRequest(ctx, spender, readWanted(ctx, raw), call)

function readWanted(ctx: AppContext, raw: unknown): MediaRequest {
  const { model, models, provider, stream, ...sent } = recordOf(raw)
  if (stream === true) throw invalidField('stream', 'Pictures are answered whole: drop stream.')
  const modelIds = readModels(model, models)
  const prompt = readText(sent, 'prompt', promptCharsMax)
  findText(sent, 'negative_prompt', promptCharsMax)
  checkAddresses(sent)
  const n = readCount(sent, 'n', imagesPerRequestMax) ?? 1
  const asBytes = findWord(sent, 'response_format', ['url', 'b64_json']) === 'b64_json'
  const body = withSize(sent)
  const limitsOf = ({ maxOutput }: Model) => ({
    prompt: maxInputTokens(body, 0),
    completion: n * (maxOutput || unknownOutputTokens),
  })
  // A price by the picture knows one quality: another costs its upstream more than is held.
  const { quality: _quality, ...plain } = body
  const own = (to: Model): Usage => {
    if (to.price?.perImage !== undefined) return createUsage({ images: n })
    return createUsage({ prompt: estimateTokens(prompt), completion: limitsOf(to).completion })
  }
  return {
    path: '/images/generations',
    type: 'image',
    kind: 'image',
    modelIds,
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    bodyFor: ({ price }) => (price.perImage === undefined ? body : plain),
    maxUsage: (to) => ({
      inputTokensMax: limitsOf(to).prompt,
      outputTokensMax: limitsOf(to).completion,
      images: n,
    }),
    estimateUsage: own,
    async read(
      response,
      { candidate: by, deadlines: watch },
    ): Promise<MediaOutput | UpstreamFailure> {
      const read = await readJsonObject(response, watch)
      if (!('answer' in read)) return read
      const { data, usage: said, created, ...more } = read.answer
      if (!Array.isArray(data) || data.length === 0) return noContent
      const pictures = await readImageResults(data, n)
      const images = pictures.length
      if (images === 0) return unreadable
      const told = readUsage(said, limitsOf(by.model))
      const isPerImage = by.price.perImage !== undefined
      const counted = told ?? (isPerImage ? createUsage({}) : { ...own(by.model), estimated: true })
      const usage = { ...counted, images }
      const kept = await keepAll(ctx, pictures, asBytes)
      const seconds = Number.isInteger(created) ? created : unixSeconds(ctx.clock.now())
      return {
        usage,
        record: (db) => made.insert(db, kept.rows),
        response: (cost) => ({
          status: 200,
          body: { created: seconds, ...toldOf(more), data: kept.data, cost },
        }),
      }
    },
  }
}

/** What its pictures are, as an upstream tells it in OpenAI's words. */
const toldOf = (answer: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    ['background', 'output_format', 'quality', 'size'].flatMap((name) =>
      typeof answer[name] === 'string' ? [[name, answer[name]]] : [],
    ),
  )

/** "auto", which clients send, leaves it to the model. */
function withSize({ size, ...body }: Record<string, unknown>): Record<string, unknown> {
  const asked = size === 'auto' ? undefined : findSize(size)
  return asked === undefined ? body : { ...body, size: asked }
}

/** Pictures that came as bytes are kept behind a link, unless the client wants the bytes. */
async function keepAll(ctx: AppContext, pictures: ImageResult[], asBytes: boolean) {
  const rows: made.MediaFile[] = []
  const data: Record<string, string>[] = []
  for (const picture of pictures) {
    const told =
      picture.revisedPrompt === undefined ? {} : { revised_prompt: picture.revisedPrompt }
    if ('url' in picture) {
      data.push({ url: picture.url, ...told })
    } else if (asBytes) {
      data.push({ b64_json: Buffer.from(picture.bytes).toString('base64'), ...told })
    } else {
      const row = await made.store(ctx, { ...picture, forMs: mediaLinkMs })
      rows.push(row)
      data.push({ url: made.signedUrlOf(ctx, row), ...told })
    }
  }
  return { rows, data }
}
