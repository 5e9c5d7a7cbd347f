import { ApiError } from '../../kernel/errors.ts'
import { publicUrl } from '../../kernel/fetch.ts'
import {
  conversationCharsMax,
  inlineMediaBytesMax,
  pdfsPerRequestMax,
  smallWindowTokens,
} from '../../kernel/limits.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { invalidField, privateUrlError } from '../fields.ts'
import type { Model, ResolvedModel } from '../models/catalog.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import type { MediaPart } from './conversation.ts'
import { contentOf, isInlinePdf, sizeOf } from './inline-media.ts'
import type { ChatRequest } from './request.ts'

/** The model input that each kind of content part needs. */
const inputOf = {
  image_url: 'image',
  file: 'file',
  input_audio: 'audio',
  video_url: 'video',
} as const
const fileInputs = ['file', 'audio', 'video']

const hasSmallWindow = ({ contextLength }: Model): boolean =>
  contextLength > 0 && contextLength < smallWindowTokens

/**
 * Checks that a model accepts the contents of a request (document 2, section 7). Throws
 * `conversation_too_long`, `no_image_input`, `no_file_input`, `bad_media`, `too_many_pdfs`,
 * `bad_request`.
 */
export function validateCapabilities({ conversation }: ChatRequest, model: Model): void {
  const { chars, media } = conversation
  if (hasSmallWindow(model) && chars > conversationCharsMax) {
    throw new ApiError('conversation_too_long', { max: conversationCharsMax })
  }
  for (const part of media) if (part.fileId === undefined) validateInline(part, model)
  const pdfs = media.filter(isInlinePdf).length
  if (pdfs > pdfsPerRequestMax) throw new ApiError('too_many_pdfs', { max: pdfsPerRequestMax })
}

/** Returns the model of a request, and those of its fallbacks that accept its contents. */
export function filterFallbacks(
  request: ChatRequest,
  [first, ...fallbacks]: ResolvedModel[],
): ResolvedModel[] {
  const isCapable = ({ model }: ResolvedModel): boolean => {
    try {
      validateCapabilities(request, model)
      return true
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }
  return first ? [first, ...fallbacks.filter(isCapable)] : []
}

function validateInline(media: MediaPart, { id, inputs }: Model): void {
  const { kind } = media
  if (!inputs.includes(inputOf[kind])) {
    if (kind === 'image_url') throw new ApiError('no_image_input', { model: id })
    if (kind === 'video_url' && fileInputs.some((input) => inputs.includes(input))) {
      throw new ApiError('bad_media', { code: 'W609', why: `${id} does not accept video.` })
    }
    throw new ApiError('no_file_input', { model: id })
  }
  const content = contentOf(media)
  if (content === undefined) {
    throw invalidField('messages', `A part of the type ${kind} has no content.`)
  }
  checkPartUrls(media)
  if (sizeOf(content) > inlineMediaBytesMax) {
    const why = `A part may have at most ${inlineMediaBytesMax} bytes. Upload it with POST /v1/files.`
    throw new ApiError('bad_media', { code: 'W605', why })
  }
}

const dataUrl = /^data:/i
/** Fields of a part that are never URLs. */
const textFields = ['type', 'filename', 'detail', 'format']

/** Throws `bad_request` for a URL in a part that may point into the private network. */
function checkPartUrls({ kind, part }: MediaPart): void {
  const inner = part[kind]
  const fields = Object.entries({ ...part, ...(isRecord(inner) ? inner : { url: inner }) })
  for (const [name, value] of fields) {
    if (typeof value !== 'string' || textFields.includes(name) || dataUrl.test(value)) continue
    const isUrl = name === 'url' || URL.canParse(value)
    if (isUrl && (kind === 'input_audio' || !publicUrl(value)))
      throw privateUrlError('messages', kind)
  }
}

/** Throws `window_exceeded` when the text of a request with files exceeds the model's window. */
export function checkContextWindow({ conversation }: ChatRequest, { contextLength }: Model): void {
  if (contextLength === 0 || !conversation.media.some(({ kind }) => kind !== 'image_url')) return
  const messages = conversation.messages.map(textOnly)
  if (estimatePromptTokens({ messages }, 0) > contextLength) {
    throw new ApiError('window_exceeded', { window: contextLength })
  }
}

function textOnly(message: Json): Json {
  if (!Array.isArray(message.content)) return message
  const isText = (part: unknown) => isRecord(part) && part.type === 'text'
  return { ...message, content: message.content.filter(isText) }
}
