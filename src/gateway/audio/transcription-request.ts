import { sha256 } from '../../core/ids.ts'
import { ApiError } from '../../errors.ts'
import { fileBytesMax, modelIdCharsMax, promptCharsMax } from '../../limits.ts'
import { detectFileKind } from '../../storage/file-kind.ts'
import { findEnum, findString, invalidField, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'

/** How what was said may be answered. */
export const transcriptionFormats = ['json', 'verbose_json', 'text'] as const

/** A sound to be written down, as it was sent. */
export interface TranscriptionRequest {
  /** The model, and others that may do it in its place. */
  models: string[]
  format: (typeof transcriptionFormats)[number]
  /** What goes to the upstream. */
  form: FormData
  /** What makes it the same request again. */
  same: unknown
  bytes: number
  /** How long it lasts, where its format is one we read. */
  seconds: number | undefined
  /** The most it can last. */
  secondsMax: number
  /** Bytes of the texts beside it. */
  textBytes: number
}

/** Of a sound whose samples are not counted. */
const bytesPerSecondFewest = 500
const daySeconds = 86_400
const language = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i

/**
 * Reads the multipart body of POST /v1/audio/transcriptions (document 2, section 4). Refuses
 * bad_request, and too_large before more than that is kept.
 */
export async function readTranscriptionRequest(request: Request): Promise<TranscriptionRequest> {
  const sent = await readMultipart(request)
  if (!sent)
    throw invalidField('file', 'Send multipart/form-data with the fields "model" and "file".')
  const texts = textFields(sent, 'file')
  const fields = Object.fromEntries(texts)
  const model = readString(fields, 'model', modelIdCharsMax)
  const file = sent.get('file')
  if (!(file instanceof File) || file.size === 0) {
    throw invalidField('file', 'Send the sound in the field "file".')
  }
  if (file.size > fileBytesMax) {
    throw new ApiError('too_large', { bytes: file.size, max: fileBytesMax })
  }
  checkFields(fields)
  const format = findEnum(fields, 'response_format', transcriptionFormats) ?? 'json'
  const bytes = await file.bytes()
  return {
    models: [model],
    format,
    form: forwarded(texts, file, format),
    bytes: file.size,
    same: { texts, file: sha256(bytes) },
    ...(await measureAudio(bytes)),
    textBytes: Buffer.byteLength(JSON.stringify(texts)),
  }
}

/** How long a sound lasts, as its file says, and the most it can: by its samples, or its bytes. */
export async function measureAudio(
  bytes: Uint8Array,
): Promise<Pick<TranscriptionRequest, 'seconds' | 'secondsMax'>> {
  const told = await detectFileKind(bytes, fileBytesMax)
  const most = Math.min(Math.ceil(bytes.length / bytesPerSecondFewest), daySeconds)
  if (!('kind' in told) || told.kind !== 'sound') return { seconds: undefined, secondsMax: most }
  const { seconds, isClaimed } = told
  return { seconds, secondsMax: isClaimed ? Math.max(seconds, most) : seconds }
}

function checkFields(fields: Record<string, string>): void {
  findString(fields, 'prompt', promptCharsMax)
  if (fields.language && !language.test(fields.language)) {
    throw invalidField('language', 'language is an ISO 639 code, such as en.')
  }
  if (fields.stream && fields.stream !== 'false') {
    throw invalidField('stream', 'A transcription is answered whole: drop stream.')
  }
}

/** Plain text is cut out of the JSON here, so that its usage is told. */
function forwarded(
  texts: [string, string][],
  file: File,
  format: TranscriptionRequest['format'],
): FormData {
  const form = new FormData()
  for (const [name, value] of texts) {
    if (!['model', 'stream', 'response_format'].includes(name)) form.append(name, value)
  }
  form.append('response_format', format === 'text' ? 'json' : format)
  form.append('file', file, file.name)
  return form
}
