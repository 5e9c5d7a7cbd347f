import type { AppContext } from '../../context.ts'
import { nano, type NanoUsd, zero } from '../../core/money.ts'
import { ApiError, type MediaCode } from '../../errors.ts'
import {
  filesPerRequestMax,
  gatewayBodyBytesMax,
  pdfPagesMax,
  pdfsPerRequestMax,
  soundSecondsMax,
} from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { misfit } from '../fields.ts'
import * as files from '../files/files.ts'
import type { Spender } from '../key.ts'
import type { Asked } from './asked.ts'
import { inlineBytes, inlineName, isInlinePdf } from './inline.ts'
import type { Media } from './messages.ts'

type Part = Record<string, unknown>

/** What was heard in a sound, and what the request paid for that. */
export interface Heard {
  words: string
  cost: NanoUsd
}

/** Hears the words of a sound, once and for all. */
export type Hear = (file: files.StoredFile) => Promise<Heard>

/** Sounds of a request that nobody heard yet. To hear them is paid. */
export interface Unheard {
  sounds: number
  hear(): Promise<{ asked: Asked; cost: NanoUsd }>
}

/**
 * The request with its uploaded files in the place of their ids (document 2, POST /v1/files): a
 * PDF, a text or a sound goes in as words, a picture and a film as what they are; where no model
 * listens, a sound as a sound if every model takes it. A sound that is still to be heard has no
 * words in it yet. Refuses no_file, too_many_pdfs, no_picture_input, bad_media, too_large,
 * bad_request.
 */
export async function withUploads(
  ctx: AppContext,
  account: Spender['account'],
  asked: Asked,
  models: Model[],
  listener: () => Hear | undefined,
): Promise<{ asked: Asked; unheard?: Unheard }> {
  const named = asked.conversation.media.flatMap((media) =>
    media.fileId === undefined ? [] : [{ media, id: media.fileId }],
  )
  if (named.length === 0) return { asked }
  if (named.length > filesPerRequestMax) {
    throw misfit('messages', `A request names at most ${filesPerRequestMax} files.`)
  }
  const found: { media: Media; file: files.StoredFile }[] = []
  for (const { media, id } of named) {
    found.push({ media, file: await files.the(ctx, account, id) })
  }
  const pdfs = found.filter(({ file }) => file.kind === 'pdf').length
  if (pdfs + asked.conversation.media.filter(isInlinePdf).length > pdfsPerRequestMax) {
    throw new ApiError('too_many_pdfs', { max: pdfsPerRequestMax })
  }
  const bytes = found.reduce((sum, { file }) => sum + file.bytes, 0)
  if (bytes > gatewayBodyBytesMax) {
    throw new ApiError('too_large', { bytes, max: gatewayBodyBytesMax })
  }
  const hear = listener()
  const sounds = hear ? found.filter(({ file }) => isUnheard(file)) : []
  const parts = new Map<unknown, Part>()
  for (const one of found) {
    const { media, file } = one
    checkLength(file)
    const part = sounds.includes(one) ? saying(file, '') : await partOf(ctx, file, models)
    parts.set(media.part, part)
  }
  const begun = filled(asked, parts)
  if (!hear || sounds.length === 0) return { asked: begun }
  const hearAll: Unheard['hear'] = async () => {
    // One that is named twice is heard once.
    const heard = new Map<string, Heard>()
    for (const { media, file } of sounds) {
      const one = heard.get(file.id) ?? (await hear(file))
      heard.set(file.id, one)
      parts.set(media.part, said(file, one.words, ' It was heard, which is charged once.'))
    }
    const cost = [...heard.values()].reduce((sum, one) => nano(sum + one.cost), zero)
    return { asked: filled(asked, parts), cost }
  }
  return { asked: begun, unheard: { sounds: sounds.length, hear: hearAll } }
}

function filled(asked: Asked, parts: Map<unknown, Part>): Asked {
  const messages = asked.conversation.messages.map((message) => replaced(message, parts))
  const conversation = { ...asked.conversation, messages }
  return { ...asked, conversation, body: { ...asked.body, messages } }
}

function replaced(message: Part, parts: Map<unknown, Part>): Part {
  if (!Array.isArray(message.content)) return message
  const content = message.content.map((part: unknown) => parts.get(part) ?? part)
  return { ...message, content }
}

const unfit = (code: MediaCode, why: string) => new ApiError('bad_media', { code, why })

/** One without pages is encrypted. */
function checkPdf({ pages }: { pages?: number | null | undefined }, name: string): void {
  if (pages == null) throw unfit('W608', `${name} is encrypted.`)
  if (pages > pdfPagesMax) throw unfit('W606', `${name} has more than ${pdfPagesMax} pages.`)
}

/**
 * Looks into the PDFs that a request holds itself, as an upload does. One that we cannot read goes
 * on as it came: its model may. Refuses bad_media, try_again.
 */
export async function checkInlinePdfs(
  ctx: AppContext,
  account: Spender['account'],
  { conversation }: Asked,
): Promise<void> {
  for (const media of conversation.media.filter(isInlinePdf)) {
    const bytes = inlineBytes(media)
    const pdf = bytes && (await files.pagesOf(ctx, account, bytes))
    if (pdf) checkPdf(pdf, inlineName(media))
  }
}

const isUnheard = ({ kind, words }: files.StoredFile): boolean => kind === 'audio' && words === null

function checkLength({ filename, lastsMs }: files.StoredFile): void {
  if ((lastsMs ?? 0) <= soundSecondsMax * 1_000) return
  throw unfit('W607', `${filename} lasts more than ${soundSecondsMax / 60} minutes.`)
}

const saying = ({ filename }: files.StoredFile, words: string): Part => ({
  type: 'text',
  text: `File "${filename}":\n${words}`,
})

function said(file: files.StoredFile, words: string | undefined, charged = ''): Part {
  if (words) return saying(file, words)
  throw unfit('W611', `No words were found in ${file.filename}.${charged} Leave it out.`)
}

async function partOf(ctx: AppContext, file: files.StoredFile, models: Model[]): Promise<Part> {
  const { filename, kind } = file
  const refusing = (input: string): Model | undefined =>
    models.find(({ inputs }) => !inputs.includes(input))
  if (kind === 'image') {
    const blind = refusing('image')
    if (blind) throw new ApiError('no_picture_input', { model: blind.id })
    const url = `data:${file.type};base64,${await base64Of(ctx, file)}`
    return { type: 'image_url', image_url: { url } }
  }
  if (kind === 'pdf') checkPdf(file, filename)
  if (kind === 'video') {
    const blind = refusing('video')
    if (blind) throw unfit('W609', `${blind.id} cannot watch ${filename}.`)
    const url = `data:${file.type};base64,${await base64Of(ctx, file)}`
    return { type: 'video_url', video_url: { url } }
  }
  if (!isUnheard(file)) return said(file, await files.wordsOf(ctx, file))
  const deaf = refusing('audio')
  if (deaf) throw unfit('W203', `${deaf.id} cannot listen to ${filename}.`)
  const format = file.type === 'audio/mpeg' ? 'mp3' : file.type.replace('audio/', '')
  return { type: 'input_audio', input_audio: { data: await base64Of(ctx, file), format } }
}

const base64Of = async (ctx: AppContext, file: files.StoredFile): Promise<string> =>
  Buffer.from(await files.bytesOf(ctx, file)).toString('base64')
