import { publicUrl } from '../../core/fetch.ts'
import { isRecord } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import {
  conversationCharsMax,
  inlineMediaBytesMax,
  pdfsPerRequestMax,
  smallWindowTokens,
} from '../../limits.ts'
import type { Found, Model } from '../../models/catalogue.ts'
import { promptTokensOf } from '../../models/tokens.ts'
import { misfit, notPublic } from '../fields.ts'
import type { Asked } from './asked.ts'
import { contentOf, isInlinePdf, sizeOf } from './inline.ts'
import type { Media } from './messages.ts'

/** The input kind of a model that each part kind needs. */
const inputOf = {
  image_url: 'image',
  file: 'file',
  input_audio: 'audio',
  video_url: 'video',
} as const
const fileInputs = ['file', 'audio', 'video']

/** Whether a model's window is a small one; a window that is not known is not. */
const isSmall = ({ contextLength }: Model): boolean =>
  contextLength > 0 && contextLength < smallWindowTokens

/**
 * Checks what a model takes against what a request holds (document 2, section 7), after the model
 * was found. Refuses conversation_too_long, no_picture_input, no_file_input, bad_media,
 * too_many_pdfs, bad_request.
 */
export function checkFits(asked: Asked, model: Model): void {
  const { chars, media } = asked.conversation
  if (isSmall(model) && chars > conversationCharsMax) {
    throw new ApiError('conversation_too_long', { max: conversationCharsMax })
  }
  for (const one of media) if (one.fileId === undefined) checkInline(one, model)
  const pdfs = media.filter(isInlinePdf).length
  if (pdfs > pdfsPerRequestMax) throw new ApiError('too_many_pdfs', { max: pdfsPerRequestMax })
}

/**
 * The model of a request, and of its fallbacks those that take what it holds: one that does not is
 * no reason to refuse what the model takes.
 */
export function fitting(asked: Asked, [first, ...rest]: Found[]): Found[] {
  const takes = ({ model }: Found): boolean => {
    try {
      checkFits(asked, model)
      return true
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }
  return first ? [first, ...rest.filter(takes)] : []
}

function checkInline({ kind, part }: Media, model: Model): void {
  const { inputs } = model
  if (!inputs.includes(inputOf[kind])) {
    if (kind === 'image_url') throw new ApiError('no_picture_input', { model: model.id })
    if (kind === 'video_url' && fileInputs.some((input) => inputs.includes(input))) {
      throw new ApiError('bad_media', { code: 'W609', why: `${model.id} cannot watch video.` })
    }
    throw new ApiError('no_file_input', { model: model.id })
  }
  const content = contentOf({ kind, part })
  if (content === undefined) throw misfit('messages', `A part of the type ${kind} has no content.`)
  checkAddresses({ kind, part })
  if (sizeOf(content) > inlineMediaBytesMax) {
    const why = `A part has at most ${inlineMediaBytesMax} bytes. Upload it with POST /v1/files.`
    throw new ApiError('bad_media', { code: 'W605', why })
  }
}

const dataUrl = /^data:/i
/** What of a part is no address, whatever it looks like. */
const words = ['type', 'filename', 'detail', 'format']

/** No address goes on that points inside, as in other requests (fields.ts). Refuses bad_request. */
function checkAddresses({ kind, part }: Pick<Media, 'kind' | 'part'>): void {
  const held = part[kind]
  const own = Object.entries({ ...part, ...(isRecord(held) ? held : { url: held }) })
  for (const [name, value] of own) {
    if (typeof value !== 'string' || words.includes(name) || dataUrl.test(value)) continue
    const isAddress = name === 'url' || URL.canParse(value)
    if (isAddress && (kind === 'input_audio' || !publicUrl(value))) {
      throw notPublic('messages', kind)
    }
  }
}

/** Refuses window_exceeded when the words of a request with files cannot fit the model. */
export function checkWindow({ conversation }: Asked, { contextLength }: Model): void {
  if (contextLength === 0 || !conversation.media.some(({ kind }) => kind !== 'image_url')) return
  const messages = conversation.messages.map(wordsIn)
  if (promptTokensOf({ messages }, 0) > contextLength) {
    throw new ApiError('window_exceeded', { window: contextLength })
  }
}

/** The words of a message: pictures and the files that it holds as bytes are not read as text. */
function wordsIn(message: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(message.content)) return message
  const isText = (part: unknown) => isRecord(part) && part.type === 'text'
  return { ...message, content: message.content.filter(isText) }
}
