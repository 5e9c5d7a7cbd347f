import { isPlainLine } from '../../core/text.ts'
import { ApiError, isApiError } from '../../errors.ts'
import { readBodyBytes } from '../../http/body.ts'
import { fileBytesMax, fileKeptSecondsMax, fileKeptSecondsMin } from '../../limits.ts'
import { parseRecord } from '../../providers/response.ts'
import { invalidField } from '../fields.ts'

/** A file of 32 MB, and some room for the fields and boundaries around it. */
const uploadBytesMax = fileBytesMax + 65_536
const filenameCharsMax = 200
const fieldsMax = 40
const purposePattern = /^[a-z0-9_-]{1,40}$/

/** What an upload brings. */
export interface Upload {
  filename: string
  purpose: string
  bytes: Uint8Array
  /** How long it is kept, in seconds; until it is deleted where that is left out. */
  expiresAfterSeconds?: number | undefined
}

/**
 * The file of a multipart/form-data body (RFC 7578): fields `file`, `purpose` and, as OpenAI's
 * clients send it, `expires_after`. Refuses upload_too_large before more than that is kept, and
 * bad_request for another body.
 */
export async function readUpload(request: Request): Promise<Upload> {
  const form = await readMultipart(request).catch(asTooLarge)
  if (!form) throw invalidField('file', 'Send multipart/form-data with the field "file".')
  const file = form.get('file')
  if (!(file instanceof File)) throw invalidField('file', 'Send the file in the field "file".')
  if (file.size > fileBytesMax) throw new ApiError('upload_too_large', { max: fileBytesMax })
  const purpose = form.get('purpose') ?? 'user_data'
  if (typeof purpose !== 'string' || !purposePattern.test(purpose)) {
    throw invalidField('purpose', '"purpose" is a word such as user_data.')
  }
  const keptSeconds = keptSecondsIn(form)
  return {
    filename: nameOf(file.name),
    purpose,
    bytes: await file.bytes(),
    expiresAfterSeconds: keptSeconds,
  }
}

function keptSecondsIn(form: Form): number | undefined {
  const [anchor, text] = expiryIn(form)
  if (anchor == null && text == null) return undefined
  const seconds = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  const isWithin = seconds >= fileKeptSecondsMin && seconds <= fileKeptSecondsMax
  if (anchor === 'created_at' && isWithin) return seconds
  const problem =
    '"expires_after[anchor]" is created_at, and "expires_after[seconds]" a whole number from ' +
    `${fileKeptSecondsMin} to ${fileKeptSecondsMax}.`
  throw invalidField('expires_after', problem)
}

/** As OpenAI's clients send it, or as OpenAPI has an object in a form: one part of JSON. */
function expiryIn(form: Form): [anchor: unknown, seconds: unknown] {
  const whole = form.get('expires_after')
  if (whole === null) return [form.get('expires_after[anchor]'), form.get('expires_after[seconds]')]
  const { anchor, seconds } = parseRecord(String(whole)) ?? {}
  return [anchor ?? '', seconds]
}

function asTooLarge(error: unknown): never {
  throw isApiError(error, 'too_large')
    ? new ApiError('upload_too_large', { max: fileBytesMax })
    : error
}

/**
 * A multipart/form-data body (RFC 7578); undefined where the request has another. Refuses
 * bad_request, and too_large before more than that is kept.
 */
export async function readMultipart(request: Request) {
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return undefined
  const bytes = await readBodyBytes(request, uploadBytesMax)
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch {
    throw invalidField('file', 'The multipart body cannot be read.')
  }
}

type Form = NonNullable<Awaited<ReturnType<typeof readMultipart>>>

/** The fields of a form that are texts. Refuses bad_request when there are too many fields. */
export function textFields(form: Form, param: string): [string, string][] {
  const entries = [...form.entries()]
  if (entries.length > fieldsMax)
    throw invalidField(param, `A request has at most ${fieldsMax} fields.`)
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/** The last part of the name that was sent, where it is one plain line. */
function nameOf(sent: string): string {
  const name = sent.split(/[/\\]/).at(-1) ?? ''
  return name !== '' && isPlainLine(name, filenameCharsMax) ? name : 'file'
}
