import { readBytes } from '../../core/body.ts'
import { isPlainLine } from '../../core/text.ts'
import { fileBytesMax, fileKeptSecondsMax, fileKeptSecondsMin } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import { recordIn } from '../../upstream/answer.ts'

/** A file of 32 MB, and some room for the fields and boundaries around it. */
export const uploadBytesMax = fileBytesMax + 65_536
const filenameCharsMax = 200
const purposePattern = /^[a-z0-9_-]{1,40}$/

/** What an upload brings. */
export interface Upload {
  filename: string
  purpose: string
  bytes: Uint8Array
  /** How long it is kept, in seconds; until it is deleted where that is left out. */
  keptSeconds?: number | undefined
}

const bad = (problem: string, param: string): Refusal =>
  new Refusal('bad_request', { problem, param })

/**
 * The file of a multipart/form-data body (RFC 7578): fields `file`, `purpose` and, as OpenAI's
 * clients send it, `expires_after`. Refuses upload_too_large before more than that is kept, and
 * bad_request for another body.
 */
export async function readUpload(request: Request): Promise<Upload> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw bad('Send multipart/form-data with the field "file".', 'file')
  }
  const bytes = await readBytes(request, uploadBytesMax).catch(asTooLarge)
  const form = await formOf(bytes, type)
  const file = form.get('file')
  if (!(file instanceof File)) throw bad('Send the file in the field "file".', 'file')
  if (file.size > fileBytesMax) throw new Refusal('upload_too_large', { max: fileBytesMax })
  const purpose = form.get('purpose') ?? 'user_data'
  if (typeof purpose !== 'string' || !purposePattern.test(purpose)) {
    throw bad('"purpose" is a word such as user_data.', 'purpose')
  }
  const keptSeconds = keptSecondsIn(form)
  return { filename: nameOf(file.name), purpose, bytes: await file.bytes(), keptSeconds }
}

function keptSecondsIn(form: Awaited<ReturnType<typeof formOf>>): number | undefined {
  const [anchor, text] = expiryIn(form)
  if (anchor == null && text == null) return undefined
  const seconds = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  const isWithin = seconds >= fileKeptSecondsMin && seconds <= fileKeptSecondsMax
  if (anchor === 'created_at' && isWithin) return seconds
  const problem =
    '"expires_after[anchor]" is created_at, and "expires_after[seconds]" a whole number from ' +
    `${fileKeptSecondsMin} to ${fileKeptSecondsMax}.`
  throw bad(problem, 'expires_after')
}

/** As OpenAI's clients send it, or as OpenAPI has an object in a form: one part of JSON. */
function expiryIn(form: Awaited<ReturnType<typeof formOf>>): [anchor: unknown, seconds: unknown] {
  const whole = form.get('expires_after')
  if (whole === null) return [form.get('expires_after[anchor]'), form.get('expires_after[seconds]')]
  const { anchor, seconds } = recordIn(String(whole)) ?? {}
  return [anchor ?? '', seconds]
}

function asTooLarge(error: unknown): never {
  if (error instanceof Refusal && error.refusal === 'too_large') {
    throw new Refusal('upload_too_large', { max: fileBytesMax })
  }
  throw error
}

/** The fields of a multipart/form-data body (RFC 7578). Refuses bad_request. */
export async function formOf(bytes: Uint8Array, type: string) {
  try {
    const headers = { 'content-type': type }
    return await new Response(new Uint8Array(bytes), { headers }).formData()
  } catch {
    throw bad('The multipart body cannot be read.', 'file')
  }
}

/** The last part of the name that was sent, where it is one plain line. */
function nameOf(sent: string): string {
  const name = sent.split(/[/\\]/).at(-1) ?? ''
  return name !== '' && isPlainLine(name, filenameCharsMax) ? name : 'file'
}
