import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { fileBytesMax, modelIdCharsMax, promptCharsMax } from '../../kernel/limits.ts'
import { asString, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import { readContainer } from '../../store/containers.ts'
import { detectPrivateFileKind } from '../../store/file-kind.ts'
import { findEnum, findString, invalidField, readString } from '../fields.ts'
import { type Form, type FormParts, readMultipart, textFields } from '../files/upload.ts'

export const transcriptionFormats = ['json', 'verbose_json', 'text', 'srt', 'vtt'] as const

/** Transcribes audio in its own language, or translates it to English. */
export type TranscriptionPath = '/audio/transcriptions' | '/audio/translations'

export interface TranscriptionRequest {
  path: TranscriptionPath
  /** True if the client wants events. */
  isStream: boolean
  /** The model and its fallbacks. */
  models: string[]
  format: (typeof transcriptionFormats)[number]
  /** The body for the upstream. */
  form: FormData
  /** Identifies the same request. */
  fingerprint: unknown
  bytes: number
  /** Length of the audio; undefined when its format does not have it. */
  seconds: number | undefined
  /** Upper bound of the length. */
  secondsMax: number
  /** Bytes of the text fields. */
  textBytes: number
}

/** Lower bound, for audio whose samples are not counted. */
const bytesPerSecondMin = 500
const daySeconds = 86_400
const languagePattern = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i

/**
 * Reads the multipart body of POST /v1/audio/transcriptions (document 2, section 4).
 * `accepted`: the media types of forms. Throws `bad_request`, and `too_large` without buffering
 * more.
 */
export async function readTranscriptionForm(request: Request, accepted?: RegExp): Promise<Form> {
  const form = await readMultipart(request, accepted)
  if (form) return form
  throw invalidField('file', 'Send multipart/form-data with the fields "model" and "file".')
}

/**
 * Parses the form of a transcription. `isWhole`: the upstream must respond without a stream. Throws
 * `bad_request` and `too_large`.
 */
export async function parseTranscription(
  sent: FormParts,
  path: TranscriptionPath,
  isWhole: boolean,
): Promise<TranscriptionRequest> {
  const texts = textFields(sent, 'file')
  const fields = Object.fromEntries(texts)
  const model = readString(fields, 'model', modelIdCharsMax)
  const file = sent.get('file')
  if (!(file instanceof File) || file.size === 0) {
    throw invalidField('file', 'Send the audio in the field "file".')
  }
  if (file.size > fileBytesMax) {
    throw new ApiError('too_large', { bytes: file.size, max: fileBytesMax })
  }
  validateFields(fields, path)
  const format = findEnum(fields, 'response_format', transcriptionFormats) ?? 'json'
  const isStream = readStream(fields, path, format)
  const bytes = await file.bytes()
  return {
    path,
    models: [model],
    format,
    isStream,
    form: buildForm(texts, file, { format, isStream: isStream && !isWhole }),
    bytes: file.size,
    fingerprint: { texts, file: sha256(bytes) },
    ...(await measureAudio(bytes)),
    textBytes: Buffer.byteLength(JSON.stringify(texts)),
  }
}

/**
 * Returns the length of audio, or of the audio in a video, in seconds, and an upper bound from its
 * samples or its bytes.
 */
export async function measureAudio(
  bytes: Uint8Array,
): Promise<Pick<TranscriptionRequest, 'seconds' | 'secondsMax'>> {
  const secondsMax = Math.min(Math.ceil(bytes.length / bytesPerSecondMin), daySeconds)
  const media = readContainer(bytes)
  if (media) {
    const seconds =
      'seconds' in media && media.seconds && media.seconds <= daySeconds ? media.seconds : undefined
    return { seconds, secondsMax: Math.max(seconds ?? 0, secondsMax) }
  }
  const file = await detectPrivateFileKind(bytes)
  if (!('kind' in file) || file.kind !== 'sound') return { seconds: undefined, secondsMax }
  const { seconds, isClaimed } = file
  return { seconds, secondsMax: isClaimed ? Math.max(seconds, secondsMax) : seconds }
}

function validateFields(
  { language, ...fields }: Record<string, string>,
  path: TranscriptionPath,
): void {
  findString(fields, 'prompt', promptCharsMax)
  if (language && path === '/audio/translations') {
    throw invalidField('language', 'Translations are in English. Remove language.')
  }
  if (language && !languagePattern.test(language)) {
    throw invalidField('language', 'language must be an ISO 639 code, such as en.')
  }
}

/** Reads `stream`. Only a transcription in JSON has events. Throws `bad_request`. */
function readStream(
  { stream = 'false' }: Record<string, string>,
  path: TranscriptionPath,
  format: TranscriptionRequest['format'],
): boolean {
  if (stream === 'false' || stream === '') return false
  if (stream !== 'true') throw invalidField('stream', 'stream must be true or false.')
  if (path === '/audio/translations') {
    throw invalidField('stream', 'Translations do not stream. Remove stream.')
  }
  if (format !== 'json') throw invalidField('response_format', 'A stream has the format json.')
  return true
}

/**
 * Builds the body for the upstream. Text and subtitles are requested as JSON, which has the usage
 * and, when verbose, the segments.
 */
function buildForm(
  texts: [string, string][],
  file: File,
  { format, isStream }: Pick<TranscriptionRequest, 'format' | 'isStream'>,
): FormData {
  const form = new FormData()
  for (const [name, value] of texts) {
    if (!['model', 'stream', 'response_format'].includes(name)) form.append(name, value)
  }
  const sent = isSubtitles(format) ? 'verbose_json' : format === 'text' ? 'json' : format
  form.append('response_format', sent)
  if (isStream) form.append('stream', 'true')
  form.append('file', file, file.name)
  return form
}

/** Formats of subtitles, with their media types. */
export const subtitleTypes = { srt: 'application/x-subrip', vtt: 'text/vtt' } as const
export type SubtitleFormat = keyof typeof subtitleTypes

export const isSubtitles = (format: string): format is SubtitleFormat =>
  Object.hasOwn(subtitleTypes, format)

interface Cue {
  start: number
  end: number
  text: string
}

/**
 * Returns a transcription as subtitles, a cue for each segment of the upstream. One without
 * segments is one cue. `seconds`: the length of the audio.
 */
export function toSubtitles(response: Json, format: SubtitleFormat, seconds: number): string {
  const cues = cuesOf(response, seconds)
  if (format === 'vtt') {
    const blocks = cues.map(
      ({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${text}\n`,
    )
    return ['WEBVTT\n', ...blocks].join('\n')
  }
  return cues
    .map(
      ({ start, end, text }, at) =>
        `${at + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text}\n`,
    )
    .join('\n')
}

function cuesOf({ text, segments, duration }: Json, seconds: number): Cue[] {
  const cues = recordsIn(segments).flatMap((segment): Cue[] => {
    const { start, end, text: words } = recordOf(segment)
    const isTimed = typeof start === 'number' && typeof end === 'number' && end >= start
    return isTimed ? [{ start, end, text: lineOf(words) }] : []
  })
  if (cues.length > 0) return cues
  return [{ start: 0, end: typeof duration === 'number' ? duration : seconds, text: lineOf(text) }]
}

/** A blank line ends a cue. */
const lineOf = (text: unknown): string =>
  asString(text)
    .trim()
    .replace(/\s*\n\s*/g, '\n')

/** Formats seconds as 00:00:01.500. */
function clock(seconds: number, point: string): string {
  const ms = Math.round(Math.max(0, seconds) * 1_000)
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  return `${parts.join(':')}${point}${String(ms % 1_000).padStart(3, '0')}`
}
