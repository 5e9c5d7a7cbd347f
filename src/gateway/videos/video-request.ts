import { sha256 } from '../../core/ids.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { readJsonBody } from '../../http/body.ts'
import {
  fileBytesMax,
  gatewayBodyBytesMax,
  promptCharsMax,
  videoSecondsDefault,
  videoSecondsMax,
} from '../../limits.ts'
import { checkUrls, findSize, invalidField, readModels, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'

type Body = Record<string, unknown>

/** A request for a film, read. */
export interface VideoRequest {
  modelIds: string[]
  preferences: Preferences
  /** What goes to the upstream, in OpenAI's shape. */
  body: Body | FormData
  /** What makes it the same request again. */
  same: unknown
  seconds: number
  /** Whether it begins with a picture. */
  hasInputImage: boolean
}

/**
 * Reads the body of POST /v1/videos: document 2's JSON, or OpenAI's multipart. Refuses bad_request,
 * and too_large before more than that is kept.
 */
export async function readVideoRequest(request: Request): Promise<VideoRequest> {
  const form = await readMultipart(request)
  if (!form) {
    const body = await readJsonBody(request, gatewayBodyBytesMax)
    return wantedOf(recordOf(body))
  }
  const texts = textFields(form, 'model')
  const file = form.get('input_reference')
  return wantedOf(
    Object.fromEntries(texts),
    file instanceof File ? await pictureOf(file) : undefined,
  )
}

interface Picture {
  file: File
  sha256: string
}

async function pictureOf(file: File): Promise<Picture> {
  const max = fileBytesMax
  if (file.size > max) throw new ApiError('too_large', { bytes: file.size, max })
  return { file, sha256: sha256(await file.bytes()) }
}

function wantedOf(sent: Body, picture?: Picture): VideoRequest {
  const { model, models, provider, aspect_ratio, duration, size, seconds, ...rest } = sent
  const modelIds = readModels(model, models)
  readString(rest, 'prompt', promptCharsMax)
  checkUrls(rest)
  const long = lengthOf('duration', duration) ?? lengthOf('seconds', seconds) ?? videoSecondsDefault
  const body = { ...rest, size: sizeOf(size, aspect_ratio), seconds: String(long) }
  return {
    modelIds,
    preferences: readPreferences(provider),
    seconds: long,
    body: picture ? withPicture(body, picture) : body,
    same: { ...sent, picture: picture?.sha256 },
    hasInputImage: picture !== undefined || isRecord(rest.input_reference),
  }
}

function withPicture(body: Body, { file }: Picture): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, String(value))
  form.set('input_reference', file, file.name)
  return form
}

/** A length as a text, as document 2 has it, or as a number. */
function lengthOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'number' ? String(value) : value
  const isLength = typeof text === 'string' && /^\d{1,3}(\.\d{1,3})?$/.test(text)
  const seconds = isLength ? Number(text) : 0
  if (seconds > 0 && seconds <= videoSecondsMax) return seconds
  throw invalidField(
    name,
    `${name} is a text of seconds, more than 0 and at most ${videoSecondsMax}.`,
  )
}

/** The shorter side where only the ratio is asked for. */
const side = 720

/** WIDTHxHEIGHT, as asked, or of the ratio, 16:9 when neither is there. */
function sizeOf(size: unknown, ratio: unknown): string {
  const said = findSize(size)
  if (said !== undefined) return said
  const asked = ratio ?? '16:9'
  const parts = typeof asked === 'string' ? /^([1-9]\d?):([1-9]\d?)$/.exec(asked) : null
  const [wide, high] = [Number(parts?.[1]), Number(parts?.[2])]
  if (!parts || Math.max(wide / high, high / wide) > 4) {
    throw invalidField('aspect_ratio', 'aspect_ratio is WIDTH:HEIGHT, such as 16:9, at most 4:1.')
  }
  const of = (one: number, other: number): number => Math.round(side * Math.max(1, one / other))
  return `${of(wide, high)}x${of(high, wide)}`
}
