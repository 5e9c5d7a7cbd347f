import { asString, type Json, lookUp, recordOf, recordsIn } from '../../kernel/schema.ts'
import type { Api, ThinkingPart } from '../conversation/chat-request.ts'
import { endsThought, parseSeal, sealText } from '../conversation/sealed-thought.ts'

/** OpenRouter's formats of signatures, by the API of the model that signs. */
const formats: Partial<Record<Api, string>> = {
  messages: 'anthropic-claude-v1',
  gemini: 'google-gemini-v1',
  responses: 'openai-responses-v1',
}

/** A thought, or a part of one, as `reasoning_details` has it. */
export interface Detail extends Omit<ThinkingPart, 'type'> {
  /** The number of the thought. Details of one thought have the same. */
  index?: number
}

/** Returns the text of a content: a string, or parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsIn(content)
        .map(({ text }) => asString(text))
        .join('')

/** Returns the thinking text of a message or a delta, under either of its names. */
export const thinkingTextOf = ({ reasoning_content, reasoning }: Json): string =>
  textOf(reasoning_content) || textOf(reasoning)

export const textOfThinkingPart = ({ thinking }: Json): string => textOf(thinking)

/** Reads a part of Mistral's content with thinking. A model that signs its thoughts needs both. */
export function readThinkingPart(part: Json): Detail {
  const seal = parseSeal(asString(part.signature), 'chat')
  return { text: textOfThinkingPart(part), ...(seal.signature !== '' && seal) }
}

/** Writes a thought as a part of Mistral's content. */
export const thinkingPart = ({
  text,
  signature,
  origin = 'chat',
  isEncrypted = false,
}: Detail): Json => ({
  type: 'thinking',
  thinking: textParts(text),
  ...(signature !== undefined && {
    signature: sealText({ signature, origin, isEncrypted }, 'chat'),
  }),
})

export const textParts = (text: string): Json[] => (text === '' ? [] : [{ type: 'text', text }])

/**
 * Reads signed and other thoughts: OpenRouter's `reasoning_details`, LiteLLM's `thinking_blocks`.
 */
export function readDetails({ reasoning_details, thinking_blocks }: Json): Detail[] {
  const blocks = recordsIn(thinking_blocks).map(readBlock)
  return blocks.length > 0 ? blocks : recordsIn(reasoning_details).flatMap(readDetail)
}

function readDetail(detail: Json): Detail[] {
  const { type, text, summary, data, signature, format } = detail
  const head = {
    ...(typeof detail.id === 'string' && detail.id !== '' && { id: detail.id }),
    ...(typeof detail.index === 'number' && { index: detail.index }),
  }
  if (typeof data === 'string' && type !== 'reasoning.text') {
    return [{ ...head, text: '', isEncrypted: true, ...sealOf(data, format) }]
  }
  const words = asString(text) || asString(summary)
  if (typeof signature === 'string' && signature !== '') {
    return [{ ...head, text: words, ...sealOf(signature, format) }]
  }
  return words === '' ? [] : [{ ...head, text: words }]
}

/** Returns a signature with its origin. Without a format it is Anthropic's, who sign text. */
function sealOf(text: string, format: unknown): Pick<Detail, 'signature' | 'origin'> {
  const known = Object.entries(formats).find(([, name]) => name === format)?.[0]
  const seal = parseSeal(text, 'chat')
  const origin = (['messages', 'gemini', 'responses'] as const).find((api) => api === known)
  if (origin) return { signature: text, origin }
  return seal.origin === 'chat' && typeof format !== 'string'
    ? { signature: text, origin: 'messages' }
    : seal
}

function readBlock({ type, thinking, signature, data }: Json): Detail {
  if (type === 'redacted_thinking') {
    return { text: '', signature: asString(data), isEncrypted: true, origin: 'messages' }
  }
  const isSigned = typeof signature === 'string' && signature !== ''
  return { text: asString(thinking), ...(isSigned && { signature, origin: 'messages' as const }) }
}

/** Writes `reasoning_details`. The summary of an encrypted thought is a detail of its own. */
export const writeDetails = (details: readonly Detail[]): Json[] => details.flatMap(writeDetail)

/** Returns the next part of a thought that has not ended. */
export const textDetail = (text: string, index: number): Json => ({
  type: 'reasoning.text',
  text,
  index,
})

function writeDetail(detail: Detail): Json[] {
  const { text, signature, isEncrypted, origin = 'chat', id, index } = detail
  const position = { ...(id !== undefined && { id }), ...(index !== undefined && { index }) }
  const known = lookUp(formats, origin)
  const format = known ?? 'unknown'
  // OpenRouter's AI SDK provider drops a text that could be Anthropic's and has no signature.
  if (signature === undefined) return [{ type: 'reasoning.text', text, format, ...position }]
  const sealed = known ? signature : sealText({ signature, origin }, 'chat')
  const signed = { format, ...position }
  if (!isEncrypted) return [{ type: 'reasoning.text', text, signature: sealed, ...signed }]
  const summary = text === '' ? [] : [{ type: 'reasoning.summary', summary: text, ...signed }]
  return [...summary, { type: 'reasoning.encrypted', data: sealed, ...signed }]
}

/** Returns the details of a whole message with their numbers. */
export const numbered = (details: readonly Detail[]): Detail[] =>
  details.map((detail, index) => ({ ...detail, index }))

/** Returns LiteLLM's field of the thoughts that Anthropic signed. */
export function blocksField(thoughts: readonly Detail[]): { thinking_blocks?: Json[] } {
  const thinking_blocks = thoughts.flatMap(writeBlock)
  return thinking_blocks.length > 0 ? { thinking_blocks } : {}
}

function writeBlock({ text, signature, isEncrypted, origin }: Detail): Json[] {
  if (origin !== 'messages' || signature === undefined) return []
  return isEncrypted
    ? [{ type: 'redacted_thinking', data: signature }]
    : [{ type: 'thinking', thinking: text, signature }]
}

/**
 * Joins the pieces of a stream's details: OpenRouter sends the text of a thought and its signature
 * in separate details.
 */
export function joinDetails(details: readonly Detail[]): Detail[] {
  const joined: Detail[] = []
  for (const detail of details) {
    const last = joined.at(-1)
    const isOpen = last && last.signature === undefined && last.index === detail.index
    if (isOpen && endsThought(detail)) {
      Object.assign(last, detail, { text: last.text + detail.text })
    } else joined.push({ ...detail })
  }
  return joined
}

/** Returns Google's signature of the thought that led to a call. LiteLLM has it elsewhere. */
export function callSignatureOf({ extra_content, provider_specific_fields }: Json) {
  const google = recordOf(recordOf(extra_content).google)
  const found = google.thought_signature ?? recordOf(provider_specific_fields).thought_signature
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** Returns Google's signature of a call as OpenRouter has it, for clients that keep only those. */
export const callDetail = (id: string, signature: string | undefined): Detail[] =>
  signature === undefined ? [] : [{ text: '', id, signature, isEncrypted: true, origin: 'gemini' }]

/** Returns Google's field for that signature. */
export const extraContentOf = (signature: string | undefined): Json =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }
