import { ApiError, type MediaCode } from '../../kernel/errors.ts'
import {
  audioSecondsMax,
  filesPerRequestMax,
  gatewayBodyBytesMax,
  pdfPagesMax,
  pdfsPerRequestMax,
} from '../../kernel/limits.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import type { Json } from '../../kernel/schema.ts'
import type { Transcript } from '../../kernel/state/transcriptions.ts'
import type { AppContext } from '../../server/context.ts'
import { createTranscriber } from '../audio/transcriber.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { invalidField } from '../fields.ts'
import * as files from '../files/files.ts'
import type { Model } from '../models/catalog.ts'
import type { MediaPart } from './conversation.ts'
import { inlineBytes, inlineName, isInlinePdf } from './inline-media.ts'
import type { ChatRequest } from './request.ts'

/** Audio files of a request without a transcript. Their transcription is paid work. */
export interface PendingTranscription {
  files: number
  transcribe(): Promise<{ request: ChatRequest; cost: NanoUsd }>
}

interface Upload {
  media: MediaPart
  file: files.StoredFile
}

/**
 * Replaces the ids of uploaded files by their content (document 2, POST /v1/files). PDFs, text and
 * audio become text; images and videos stay media. Without a transcription model, audio stays audio
 * if every model takes it. Audio that is still to be transcribed is empty text at first. Throws
 * `no_file`, `too_many_pdfs`, `no_image_input`, `bad_media`, `too_large`, `bad_request`.
 */
export async function insertUploads(
  call: Call & { ctx: AppContext; spender: Spender },
  request: ChatRequest,
  models: Model[],
): Promise<{ request: ChatRequest; pending?: PendingTranscription }> {
  const { ctx, spender } = call
  const uploads = await findUploads(ctx, spender.account, request)
  if (uploads.length === 0) return { request }
  const transcribe = createTranscriber(ctx, spender, call)
  const pending = transcribe ? uploads.filter(({ file }) => needsTranscript(file)) : []
  const parts = new Map<unknown, Json>()
  for (const upload of uploads) {
    const { media, file } = upload
    checkDuration(file)
    const isPending = pending.includes(upload)
    parts.set(media.part, isPending ? textPart(file, '') : await partOf(ctx, file, models))
  }
  const inserted = replaceParts(request, parts)
  if (!transcribe || pending.length === 0) return { request: inserted }
  const transcribeAll: PendingTranscription['transcribe'] = async () => {
    // A file that is named twice is transcribed once.
    const transcripts = new Map<string, Transcript>()
    for (const { media, file } of pending) {
      const transcript = transcripts.get(file.id) ?? (await transcribe(file))
      transcripts.set(file.id, transcript)
      const charged = ' Its transcription is charged once.'
      parts.set(media.part, requireText(file, transcript.words, charged))
    }
    const cost = [...transcripts.values()].reduce((sum, one) => nano(sum + one.cost), zero)
    return { request: replaceParts(request, parts), cost }
  }
  return { request: inserted, pending: { files: pending.length, transcribe: transcribeAll } }
}

/** Finds the uploaded files of a request and checks their number and size. */
async function findUploads(
  ctx: AppContext,
  account: Spender['account'],
  { conversation: { media: all } }: ChatRequest,
): Promise<Upload[]> {
  const named = all.filter(({ fileId }) => fileId !== undefined)
  if (named.length > filesPerRequestMax) {
    throw invalidField('messages', `A request may name at most ${filesPerRequestMax} files.`)
  }
  const uploads: Upload[] = []
  for (const media of named) {
    uploads.push({ media, file: await files.use(ctx, account, media.fileId ?? '') })
  }
  const pdfs = uploads.filter(({ file }) => file.kind === 'pdf').length
  if (uploads.length > 0 && pdfs + all.filter(isInlinePdf).length > pdfsPerRequestMax) {
    throw new ApiError('too_many_pdfs', { max: pdfsPerRequestMax })
  }
  const bytes = uploads.reduce((sum, { file }) => sum + file.bytes, 0)
  if (bytes > gatewayBodyBytesMax) {
    throw new ApiError('too_large', { bytes, max: gatewayBodyBytesMax })
  }
  return uploads
}

function replaceParts(request: ChatRequest, parts: Map<unknown, Json>): ChatRequest {
  const messages = request.conversation.messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    const content = message.content.map((part: unknown) => parts.get(part) ?? part)
    return { ...message, content }
  })
  const conversation = { ...request.conversation, messages }
  return { ...request, conversation, body: { ...request.body, messages } }
}

const badMedia = (code: MediaCode, why: string) => new ApiError('bad_media', { code, why })

/** Throws `bad_media` for an encrypted PDF, which has no pages, and for one with too many. */
function checkPdf({ pages }: { pages?: number | null | undefined }, name: string): void {
  if (pages == null) throw badMedia('W608', `${name} is encrypted.`)
  if (pages > pdfPagesMax) throw badMedia('W606', `${name} has more than ${pdfPagesMax} pages.`)
}

/**
 * Checks the inline PDFs of a request, as an upload does. A PDF that cannot be read here passes,
 * because the model may read it. Throws `bad_media`, `try_again`.
 */
export async function checkInlinePdfs(
  ctx: AppContext,
  { conversation }: ChatRequest,
): Promise<void> {
  for (const media of conversation.media.filter(isInlinePdf)) {
    const bytes = inlineBytes(media)
    const pdf = bytes && (await files.countPages(ctx, bytes))
    if (pdf) checkPdf(pdf, inlineName(media))
  }
}

const needsTranscript = ({ kind, words }: files.StoredFile): boolean =>
  kind === 'audio' && words === null

function checkDuration({ filename, durationMs }: files.StoredFile): void {
  if ((durationMs ?? 0) <= audioSecondsMax * 1_000) return
  throw badMedia('W607', `${filename} lasts more than ${audioSecondsMax / 60} minutes.`)
}

const textPart = ({ filename }: files.StoredFile, text: string): Json => ({
  type: 'text',
  text: `File "${filename}":\n${text}`,
})

function requireText(file: files.StoredFile, text: string | undefined, charged = ''): Json {
  if (text) return textPart(file, text)
  throw badMedia('W611', `${file.filename} has no text.${charged} Remove it from the request.`)
}

async function partOf(ctx: AppContext, file: files.StoredFile, models: Model[]): Promise<Json> {
  const { filename, kind, type } = file
  const findWithout = (input: string): Model | undefined =>
    models.find(({ inputs }) => !inputs.includes(input))
  if (kind === 'image') {
    const model = findWithout('image')
    if (model) throw new ApiError('no_image_input', { model: model.id })
    return { type: 'image_url', image_url: { url: await dataUrlOf(ctx, file) } }
  }
  if (kind === 'pdf') checkPdf(file, filename)
  if (kind === 'video') {
    const model = findWithout('video')
    if (model) throw badMedia('W609', `${model.id} does not accept the video ${filename}.`)
    return { type: 'video_url', video_url: { url: await dataUrlOf(ctx, file) } }
  }
  if (!needsTranscript(file)) return requireText(file, await files.readWords(ctx, file))
  const model = findWithout('audio')
  if (model) throw badMedia('W203', `${model.id} does not accept the audio ${filename}.`)
  const format = type === 'audio/mpeg' ? 'mp3' : type.replace('audio/', '')
  return { type: 'input_audio', input_audio: { data: await base64Of(ctx, file), format } }
}

const base64Of = async (ctx: AppContext, file: files.StoredFile): Promise<string> =>
  Buffer.from(await files.readBytes(ctx, file)).toString('base64')

const dataUrlOf = async (ctx: AppContext, file: files.StoredFile): Promise<string> =>
  `data:${file.type};base64,${await base64Of(ctx, file)}`
