import { unknownWindowTokens } from '../../kernel/limits.ts'
import { isRecord, itemsOf, type Json, recordOf, toText } from '../../kernel/schema.ts'

/**
 * Token counts without a tokenizer. A token of a byte-level vocabulary has at least one byte, so
 * the bytes of a request bound its tokens for any model. The JSON syntax of a message exceeds what
 * a model's template adds to it.
 */

/** Tokens that templates add once, for a system line and the tools. */
const templateTokens = 1_000
/** The estimate counts four ASCII characters, or one other character, as a token. */
const asciiPerToken = 4

const isImage = (part: unknown): boolean => isRecord(part) && part.type === 'image_url'

/**
 * Returns whether the bytes of a part do not bound its tokens: media by URL, videos, and files,
 * where few bytes may be many pages. Audio data has more bytes than tokens.
 */
function isUnbounded(part: unknown): boolean {
  const { type, input_audio: audio } = recordOf(part)
  if (type === 'input_audio') return typeof recordOf(audio).data !== 'string'
  return type === 'file' || type === 'video_url'
}

/** Returns whether input tokens may represent audio, including that of videos. */
export const mayContainAudio = ({ messages }: Json): boolean =>
  itemsOf(messages).some((message) =>
    partsOf(message).some(
      (part) => isRecord(part) && !['text', 'image_url'].includes(toText(part.type)),
    ),
  )

const partsOf = (message: unknown): readonly unknown[] => itemsOf(recordOf(message).content)

/** Returns the request without its images as JSON, and the number of images. */
function withoutImages(body: Json): { text: string; images: number } {
  if (!Array.isArray(body.messages)) return { text: JSON.stringify(body), images: 0 }
  let images = 0
  const messages = body.messages.map((message: unknown) => {
    const parts = partsOf(message)
    const others = parts.filter((part) => !isImage(part))
    if (others.length === parts.length) return message
    images += parts.length - others.length
    return { ...recordOf(message), content: others }
  })
  return { text: JSON.stringify({ ...body, messages }), images }
}

/** The size of a request, as far as its input tokens depend on it. */
export interface PromptSize {
  /** Those of its JSON without images. */
  bytes: number
  images: number
  hasUnbounded: boolean
}

/** Measures a request. This writes it as JSON, so it is done once for each. */
export function measurePrompt(body: Json): PromptSize {
  const hasUnbounded = itemsOf(body.messages).some((message) => partsOf(message).some(isUnbounded))
  const { text, images } = withoutImages(body)
  return { bytes: Buffer.byteLength(text), images, hasUnbounded }
}

/** Returns an upper bound of the input tokens of a request that a model without a window gets. */
export const maxInputTokens = (body: Json, imageTokens: number): number =>
  maxTokensOf(measurePrompt(body), imageTokens)

/**
 * Returns an upper bound of a request's input tokens, about four times the count of English text.
 * An image counts as `imageTokens`, unbounded media as a whole window. A `window` of 0 is unknown
 * and does not limit the result.
 */
export function maxTokensOf(size: PromptSize, imageTokens: number, window = 0): number {
  const { bytes, images, hasUnbounded } = size
  const bound = bytes + images * imageTokens + templateTokens
  return Math.min(
    hasUnbounded ? bound + (window || unknownWindowTokens) : bound,
    window || Infinity,
  )
}

/** Estimates the tokens of a text that arrives in parts, for responses without usage. */
export class TokenCount {
  private ascii = 0
  private others = 0

  add(text: string): void {
    // By index: iteration would create a string per character.
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit < 0x80) this.ascii += 1
      else this.others += 1
      // Only surrogates need their code point, which costs three times as much to read.
      if (unit >= 0xd8_00 && (text.codePointAt(at) ?? 0) > 0xff_ff) at += 1
    }
  }

  /** Adds UTF-8 text: each character has one byte that is no continuation. */
  addBytes(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < 0x80) this.ascii += 1
      else if (byte >= 0xc0) this.others += 1
    }
  }

  /** 0 only without text. */
  get tokens(): number {
    return Math.ceil(this.ascii / asciiPerToken) + this.others
  }
}

export function estimateTokens(text: string): number {
  const count = new TokenCount()
  count.add(text)
  return count.tokens
}

/** Estimates the input tokens of a request, at most `maxInputTokens`. */
export function estimatePromptTokens(body: Json, imageTokens: number): number {
  const { messages, tools, functions, response_format, prediction } = body
  const input = { messages, tools, functions, response_format, prediction }
  const { text, images } = withoutImages(input)
  return estimateTokens(text) + images * imageTokens
}
