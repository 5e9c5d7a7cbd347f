import { ApiError } from '../../kernel/errors.ts'
import { readJsonBody } from '../../kernel/http/body.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  fileBytesMax,
  gatewayBodyBytesMax,
  promptCharsMax,
  videoSecondsDefault,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { isRecord, type Json, recordOf, toText } from '../../kernel/schema.ts'
import { checkUrls, findSize, invalidField, readModels, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'

export interface VideoRequest {
  modelIds: string[]
  preferences: Preferences
  /** The body for the upstream, in OpenAI's format. */
  body: Json | FormData
  /** Identifies the same request. */
  fingerprint: unknown
  seconds: number
  hasInputImage: boolean
  size: string
  /** True for OpenAI's form: multipart, or JSON with its fields `seconds` or `size`. */
  isOpenAi: boolean
}

/**
 * Reads the body of POST /v1/videos: document 2's JSON or OpenAI's multipart. Throws `bad_request`,
 * and `too_large` without buffering more.
 */
export async function readVideoRequest(request: Request): Promise<VideoRequest> {
  const form = await readMultipart(request)
  if (!form)
    return parseRequest(recordOf(await readJsonBody(request, { max: gatewayBodyBytesMax })))
  const fields = Object.fromEntries(textFields(form, 'model'))
  const image = form.get('input_reference')
  if (!(image instanceof File)) return { ...parseRequest(fields), isOpenAi: true }
  if (image.size > fileBytesMax) {
    throw new ApiError('too_large', { bytes: image.size, max: fileBytesMax })
  }
  const { body, ...parsed } = parseRequest(fields)
  return {
    ...parsed,
    body: toForm(body, image),
    fingerprint: { ...fields, picture: sha256(await image.bytes()) },
    hasInputImage: true,
    isOpenAi: true,
  }
}

function parseRequest(sent: Json): VideoRequest & { body: Json } {
  const { model, models, provider, aspect_ratio, duration, size, seconds: text, ...params } = sent
  const modelIds = readModels(model, models)
  readString(params, 'prompt', promptCharsMax)
  checkUrls(params)
  rejectUnpricedFields(params, 'video')
  const seconds =
    readSeconds('duration', duration) ?? readSeconds('seconds', text) ?? videoSecondsDefault
  const pixels = readSize(size, aspect_ratio)
  return {
    modelIds,
    preferences: readPreferences(provider),
    seconds,
    size: pixels,
    isOpenAi: isSent(text, size) && !isSent(duration, aspect_ratio),
    body: { ...params, size: pixels, seconds: String(seconds) },
    fingerprint: sent,
    hasInputImage: isRecord(params.input_reference),
  }
}

const isSent = (...values: unknown[]): boolean =>
  values.some((value) => value !== undefined && value !== null)

function toForm(body: Json, image: File): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, toText(value))
  form.set('input_reference', image, image.name)
  return form
}

/** Reads a length in seconds, as text (document 2) or as a number. */
function readSeconds(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'number' ? String(value) : value
  const isNumber = typeof text === 'string' && /^\d{1,3}(\.\d{1,3})?$/.test(text)
  const seconds = isNumber ? Number(text) : 0
  if (seconds > 0 && seconds <= videoSecondsMax) return seconds
  throw invalidField(
    name,
    `${name} must be seconds as text, more than 0 and at most ${videoSecondsMax}.`,
  )
}

/** Pixels of the shorter side, when only the aspect ratio is given. */
const side = 720

/** Returns WIDTHxHEIGHT: the given size, or the size for the aspect ratio, by default 16:9. */
function readSize(size: unknown, ratio: unknown): string {
  const given = findSize(size)
  if (given !== undefined) return given
  const text = ratio ?? '16:9'
  const parts = typeof text === 'string' ? /^([1-9]\d?):([1-9]\d?)$/.exec(text) : null
  const [width, height] = [Number(parts?.[1]), Number(parts?.[2])]
  if (!parts || Math.max(width / height, height / width) > 4) {
    throw invalidField(
      'aspect_ratio',
      'aspect_ratio must be WIDTH:HEIGHT, such as 16:9, and at most 4:1.',
    )
  }
  const pixels = (one: number, other: number) => Math.round(side * Math.max(1, one / other))
  return `${pixels(width, height)}x${pixels(height, width)}`
}
