import { ApiError, isApiError } from '../../kernel/errors.ts'
import { readBodyBytes } from '../../kernel/http/body.ts'
import { fileBytesMax, fileKeptSecondsMax, fileKeptSecondsMin } from '../../kernel/limits.ts'
import { parseRecord } from '../../kernel/schema.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { invalidField } from '../fields.ts'

/** A file of 32 MB, with form fields and boundaries. */
const uploadBytesMax = fileBytesMax + 65_536
const filenameCharsMax = 200
const fieldsMax = 40
export const purposePattern = /^[a-z0-9_-]{1,40}$/

/** A parsed upload. */
export interface Upload {
  filename: string
  purpose: string
  bytes: Uint8Array
  /** Lifetime in seconds; undefined for a file without expiry. */
  expiresAfterSeconds?: number | undefined
}

/**
 * Reads the file of a multipart/form-data body (RFC 7578) with the fields `file`, `purpose` and
 * those of its lifetime, by default OpenAI's `expires_after`. Throws `bad_request`, and
 * `upload_too_large` without buffering more.
 */
export async function readUpload(
  request: Request,
  readSeconds: (form: Form) => number | undefined = readLifetime,
): Promise<Upload> {
  const form = await readMultipart(request).catch(asTooLarge)
  if (!form) throw invalidField('file', 'Send multipart/form-data with the field "file".')
  const file = form.get('file')
  if (!(file instanceof File)) throw invalidField('file', 'Send the file in the field "file".')
  if (file.size > fileBytesMax) throw new ApiError('upload_too_large', { max: fileBytesMax })
  const purpose = form.get('purpose') ?? 'user_data'
  if (typeof purpose !== 'string' || !purposePattern.test(purpose)) {
    throw invalidField('purpose', '"purpose" must be a word such as user_data.')
  }
  const keptSeconds = readSeconds(form)
  return {
    filename: baseName(file.name),
    purpose,
    bytes: await file.bytes(),
    expiresAfterSeconds: keptSeconds,
  }
}

/** Reads the lifetime of a file in seconds. Throws `bad_request`. */
export function readLifetime(form: Form): number | undefined {
  const [anchor, text] = findExpiry(form)
  if (anchor == null && text == null) return undefined
  const seconds = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  const isWithin = seconds >= fileKeptSecondsMin && seconds <= fileKeptSecondsMax
  if (anchor === 'created_at' && isWithin) return seconds
  const problem =
    '"expires_after[anchor]" must be created_at, and "expires_after[seconds]" an integer from ' +
    `${fileKeptSecondsMin} to ${fileKeptSecondsMax}.`
  throw invalidField('expires_after', problem)
}

/** Finds the expiry in OpenAI's form fields, or in one JSON part as OpenAPI encodes an object. */
function findExpiry(form: Form): [anchor: unknown, seconds: unknown] {
  const json = form.get('expires_after')
  if (json === null) return [form.get('expires_after[anchor]'), form.get('expires_after[seconds]')]
  const { anchor, seconds } = parseRecord(String(json)) ?? {}
  return [anchor ?? '', seconds]
}

function asTooLarge(error: unknown): never {
  throw isApiError(error, 'too_large')
    ? new ApiError('upload_too_large', { max: fileBytesMax })
    : error
}

const multipart = /^multipart\/form-data\b/i

/**
 * Parses a multipart/form-data body (RFC 7578), or one of other types; undefined for any other type
 * than `accepted`. Throws `bad_request`, and `too_large` without buffering more.
 */
export async function readMultipart(request: Request, accepted = multipart) {
  const type = request.headers.get('content-type') ?? ''
  if (!accepted.test(type)) return undefined
  const bytes = await readBodyBytes(request, uploadBytesMax)
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch {
    throw invalidField(
      'file',
      'The multipart body is invalid. Send the parts with the boundary of its content type.',
    )
  }
}

/** The fields of a multipart body. */
export type Form = NonNullable<Awaited<ReturnType<typeof readMultipart>>>

/** The parts of a form that are read, also of one that was converted. */
export interface FormParts {
  entries(): Iterable<[string, unknown]>
  get(name: string): unknown
}

/** Returns the text fields of a form. Throws `bad_request` for too many fields. */
export function textFields(form: FormParts, param: string): [string, string][] {
  const entries = [...form.entries()]
  if (entries.length > fieldsMax) throw invalidField(param, `Send at most ${fieldsMax} fields.`)
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/**
 * Returns the last segment of a file name, when it is one plain line. The runtime leaves the name
 * of a part undefined where it is empty or begins with NUL.
 */
function baseName(path: string | undefined = ''): string {
  const name = path.split(/[/\\]/).at(-1) ?? ''
  return name !== '' && isPlainLine(name, filenameCharsMax) ? name : 'file'
}
