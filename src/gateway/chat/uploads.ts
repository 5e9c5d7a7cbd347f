import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type MediaCode } from '../../kernel/errors.ts'
import {
  audioSecondsMax,
  filesPerRequestMax,
  gatewayBodyBytesMax,
  pdfPagesMax,
  pdfsPerRequestMax,
} from '../../kernel/limits.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import type { Transcript } from '../../kernel/state/responses.ts'
import { createTranscriber } from '../audio/transcriber.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import type { ChatRequest, MediaPart, TextPart } from '../conversation/chat-request.ts'
import { fileIdOf, mediaIn, replaceMedia } from '../conversation/contents.ts'
import { invalidField } from '../fields.ts'
import * as files from '../files/files.ts'
import type { Model } from '../models/catalog.ts'

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
  const parts = new Map<MediaPart, TextPart | MediaPart>()
  for (const upload of uploads) {
    const { media, file } = upload
    checkDuration(file)
    const isPending = pending.includes(upload)
    parts.set(media, isPending ? textPart(file, '') : await partOf(ctx, file, models))
  }
  const inserted = withParts(request, parts)
  if (!transcribe || pending.length === 0) return { request: inserted }
  const transcribeAll: PendingTranscription['transcribe'] = async () => {
    // A file that is named twice is transcribed once.
    const transcripts = new Map<string, Transcript>()
    for (const { media, file } of pending) {
      const transcript = transcripts.get(file.id) ?? (await transcribe(file))
      transcripts.set(file.id, transcript)
      const charged = ' Its transcription is charged once.'
      parts.set(media, requireText(file, transcript.words, charged))
    }
    const cost = [...transcripts.values()].reduce((sum, one) => nano(sum + one.cost), zero)
    return { request: withParts(request, parts), cost }
  }
  return { request: inserted, pending: { files: pending.length, transcribe: transcribeAll } }
}

/** Finds the uploaded files of a request and checks their number and size. */
async function findUploads(
  ctx: AppContext,
  account: Spender['account'],
  request: ChatRequest,
): Promise<Upload[]> {
  const all = mediaIn(request.messages)
  const named = all.filter((media) => fileIdOf(media) !== undefined)
  if (named.length > filesPerRequestMax) {
    throw invalidField('messages', `A request may name at most ${filesPerRequestMax} files.`)
  }
  const uploads: Upload[] = []
  for (const media of named) {
    uploads.push({ media, file: await files.use(ctx, account, fileIdOf(media) ?? '') })
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

/** Returns a request with other parts. The codec of its upstream writes it anew. */
const withParts = (
  { raw: _, ...request }: ChatRequest,
  parts: ReadonlyMap<MediaPart, TextPart | MediaPart>,
): ChatRequest => ({
  ...request,
  messages: replaceMedia(request.messages, (media) => parts.get(media) ?? media),
})

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
export async function checkInlinePdfs(ctx: AppContext, request: ChatRequest): Promise<void> {
  for (const media of mediaIn(request.messages).filter(isInlinePdf)) {
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

const textPart = ({ filename }: files.StoredFile, text: string): TextPart => ({
  type: 'text',
  text: `File "${filename}":\n${text}`,
})

function requireText(file: files.StoredFile, text: string | undefined, charged = ''): TextPart {
  if (text) return textPart(file, text)
  throw badMedia('W611', `${file.filename} has no text.${charged} Remove it from the request.`)
}

async function partOf(
  ctx: AppContext,
  file: files.StoredFile,
  models: Model[],
): Promise<TextPart | MediaPart> {
  const { filename, kind } = file
  const findWithout = (input: string): Model | undefined =>
    models.find(({ inputs }) => !inputs.includes(input))
  if (kind === 'image') {
    const model = findWithout('image')
    if (model) throw new ApiError('no_image_input', { model: model.id })
    return mediaPart(ctx, 'image', file)
  }
  if (kind === 'pdf') checkPdf(file, filename)
  if (kind === 'video') {
    const model = findWithout('video')
    if (model) throw badMedia('W609', `${model.id} does not accept the video ${filename}.`)
    return mediaPart(ctx, 'video', file)
  }
  if (!needsTranscript(file)) return requireText(file, await files.readWords(ctx, file))
  const model = findWithout('audio')
  if (model) throw badMedia('W203', `${model.id} does not accept the audio ${filename}.`)
  return mediaPart(ctx, 'audio', file)
}

async function mediaPart(
  ctx: AppContext,
  type: MediaPart['type'],
  file: files.StoredFile,
): Promise<MediaPart> {
  const data = Buffer.from(await files.readBytes(ctx, file)).toString('base64')
  return { type, source: { data, mediaType: file.type } }
}

const inlineName = ({ filename }: MediaPart): string => filename ?? 'The file'

/** `%PDF-` in base64, for clients that send no type. */
const pdfMark = /^JVBERi/

/** Returns whether a part contains a PDF, by its type, its name or its first bytes. */
export function isInlinePdf(media: MediaPart): boolean {
  const { type, source } = media
  if (type !== 'file' || fileIdOf(media) !== undefined) return false
  const isPdf =
    'data' in source && (source.mediaType === 'application/pdf' || pdfMark.test(source.data))
  return isPdf || inlineName(media).toLowerCase().endsWith('.pdf')
}

/** Returns the decoded size of inline data, without decoding it; that of an address for others. */
export const sizeOf = ({ source }: MediaPart): number =>
  'data' in source ? Buffer.byteLength(source.data, 'base64') : 0

/** Returns the bytes of inline data; undefined for an address or an upload. */
const inlineBytes = ({ source }: MediaPart): Uint8Array | undefined =>
  'data' in source ? Buffer.from(source.data, 'base64') : undefined
