import { ApiError } from '../../kernel/errors.ts'
import { publicUrl } from '../../kernel/fetch.ts'
import {
  conversationCharsMax,
  inlineMediaBytesMax,
  pdfsPerRequestMax,
  smallWindowTokens,
} from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import type { ChatRequest, MediaPart } from '../conversation/chat-request.ts'
import { countChars, fileIdOf, mediaIn } from '../conversation/contents.ts'
import { invalidField, privateUrlError } from '../fields.ts'
import type { Model, ResolvedModel } from '../models/catalog.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import { isInlinePdf, kindNames, sizeOf } from './inline-media.ts'

const fileInputs = ['file', 'audio', 'video']

const hasSmallWindow = ({ contextLength }: Model): boolean =>
  contextLength > 0 && contextLength < smallWindowTokens

/**
 * Checks that a model accepts the contents of a request (document 2, section 7). Throws
 * `conversation_too_long`, `no_image_input`, `no_file_input`, `bad_media`, `too_many_pdfs`,
 * `bad_request`.
 */
export function validateCapabilities(request: ChatRequest, model: Model): void {
  const media = mediaIn(request.messages)
  if (hasSmallWindow(model) && countChars(request.messages) > conversationCharsMax) {
    throw new ApiError('conversation_too_long', { max: conversationCharsMax })
  }
  for (const part of media) if (fileIdOf(part) === undefined) validateInline(part, model)
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
  const { type, source } = media
  if (!inputs.includes(type)) {
    if (type === 'image') throw new ApiError('no_image_input', { model: id })
    if (type === 'video' && fileInputs.some((input) => inputs.includes(input))) {
      throw new ApiError('bad_media', { code: 'W609', why: `${id} does not accept video.` })
    }
    throw new ApiError('no_file_input', { model: id })
  }
  const kind = kindNames[type]
  if ('data' in source ? source.data === '' : 'url' in source && source.url === '') {
    throw invalidField('messages', `A part of the type ${kind} has no content.`)
  }
  checkUrls(media, kind)
  if (sizeOf(media) > inlineMediaBytesMax) {
    const why = `A part may have at most ${inlineMediaBytesMax} bytes. Upload it with POST /v1/files.`
    throw new ApiError('bad_media', { code: 'W605', why })
  }
}

/** Throws `bad_request` for a URL in a part that may point into the private network. */
function checkUrls({ type, source, extra = {} }: MediaPart, kind: string): void {
  const others = Object.values(extra).flatMap((value) =>
    isRecord(value) ? Object.values(value) : [value],
  )
  const urls = others.filter((value) => typeof value === 'string' && URL.canParse(value))
  if ('url' in source) urls.push(source.url)
  for (const url of urls) {
    if (typeof url !== 'string' || /^data:/i.test(url)) continue
    if (type === 'audio' || !publicUrl(url)) throw privateUrlError('messages', kind)
  }
}

/** Returns whether a request has files, whose text may exceed the window of a model. */
export const hasFiles = ({ messages }: ChatRequest): boolean =>
  mediaIn(messages).some(({ type }) => type !== 'image')

/** Throws `window_exceeded` when the text of a request exceeds the model's window. */
export function checkContextWindow(request: ChatRequest, { contextLength }: Model): void {
  if (contextLength === 0) return
  const texts = request.messages.map(({ role, content }) => ({
    role,
    content: content.filter(({ type }) => type === 'text'),
  }))
  if (estimatePromptTokens({ messages: texts }, 0) > contextLength) {
    throw new ApiError('window_exceeded', { window: contextLength })
  }
}
