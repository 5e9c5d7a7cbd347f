import { isRecord, itemsOf, recordOf } from '../core/schema.ts'
import { unknownWindowTokens } from '../limits.ts'

/**
 * Counting without a tokenizer. Every token of a byte-level vocabulary stands for at least one
 * byte, so the bytes of a request bound its tokens, whatever the model; the names and brackets of
 * its JSON are more than what a model's template puts around each message.
 */

/** What templates add once (a system line, the frame of the tools). */
const frameTokens = 1_000
/** Our own count takes four ASCII characters, or one other character, for a token. */
const asciiPerToken = 4

type Body = Record<string, unknown>

const isPicture = (part: unknown): boolean => isRecord(part) && part.type === 'image_url'

/**
 * Media whose tokens its request does not bound: what stands elsewhere, and films and files, whose
 * few bytes may be many pages. A second of sound has fewer tokens than bytes.
 */
function isUnbound(part: unknown): boolean {
  const { type, input_audio: sound } = recordOf(part)
  if (type === 'input_audio') return typeof recordOf(sound).data !== 'string'
  return type === 'file' || type === 'video_url'
}

/** Whether some of a request's tokens may stand for sound, that of films among it. */
export const mayContainAudio = ({ messages }: Body): boolean =>
  itemsOf(messages).some((message) =>
    partsOf(message).some(
      (part) => isRecord(part) && !['text', 'image_url'].includes(String(part.type)),
    ),
  )

const partsOf = (message: unknown): readonly unknown[] => itemsOf(recordOf(message).content)

/** The request without its pictures, as text, and how many pictures there were. */
function withoutPictures(body: Body): { text: string; pictures: number } {
  if (!Array.isArray(body.messages)) return { text: JSON.stringify(body), pictures: 0 }
  let pictures = 0
  const messages = body.messages.map((message: unknown) => {
    const parts = partsOf(message)
    const words = parts.filter((part) => !isPicture(part))
    if (words.length === parts.length) return message
    pictures += parts.length - words.length
    return { ...recordOf(message), content: words }
  })
  return { text: JSON.stringify({ ...body, messages }), pictures }
}

/**
 * The most input tokens a request can have: a true bound, about four times the count of English
 * text. A picture counts as `pictureTokens`, media without a bound as a whole window. A `window` of
 * 0 is not known, and cuts nothing: what was sent may fit it.
 */
export function maxInputTokens(body: Body, pictureTokens: number, window = 0): number {
  const isWindow = itemsOf(body.messages).some((message) => partsOf(message).some(isUnbound))
  const { text, pictures } = withoutPictures(body)
  const held = Buffer.byteLength(text) + pictures * pictureTokens + frameTokens
  return Math.min(isWindow ? held + (window || unknownWindowTokens) : held, window || Infinity)
}

/** Our own count of the tokens of a text that comes in parts: for answers without usage. */
export class TokenCount {
  private ascii = 0
  private others = 0

  add(text: string): void {
    // By number: `of` would make a text of each character.
    for (let at = 0; at < text.length; at += 1) {
      const code = text.codePointAt(at) ?? 0
      if (code < 0x80) this.ascii += 1
      else this.others += 1
      if (code > 0xff_ff) at += 1
    }
  }

  /** The same of a text in UTF-8: each character has one byte that is no continuation. */
  addBytes(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < 0x80) this.ascii += 1
      else if (byte >= 0xc0) this.others += 1
    }
  }

  /** Never 0 unless there was no text. */
  get tokens(): number {
    return Math.ceil(this.ascii / asciiPerToken) + this.others
  }
}

/** The same of a whole text. */
export function estimateTokens(text: string): number {
  const count = new TokenCount()
  count.add(text)
  return count.tokens
}

/** Our own count of what a model reads of a request. It never passes `tokensAtMost`. */
export function estimatePromptTokens(body: Body, pictureTokens: number): number {
  const { messages, tools, functions, response_format, prediction } = body
  const { text, pictures } = withoutPictures({
    messages,
    tools,
    functions,
    response_format,
    prediction,
  })
  return estimateTokens(text) + pictures * pictureTokens
}
