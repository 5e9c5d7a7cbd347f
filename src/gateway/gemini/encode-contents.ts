import { type Json, parseRecord } from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  CallPart,
  MediaPart,
  Message,
  TextPart,
  ThinkingPart,
  ToolMessage,
} from '../conversation/chat-request.ts'
import { isSystem } from '../conversation/contents.ts'
import { addressTypes, mediaTypeOf, typeOfAddress } from '../conversation/media.ts'
import { argumentsOf } from '../conversation/tools.ts'
import { isGemini3, isGemma } from './models.ts'

/**
 * Encodes a conversation as `contents` and `systemInstruction`. Contents alternate between user and
 * model. A conversation of system messages alone is that of a user.
 */
export function encodeContents(messages: readonly Message[], model: string): Json {
  const system = messages.filter(isSystem).flatMap(({ content }) => systemPart(content))
  const contents = new Contents(isGemini3(model))
  for (const message of messages) contents.add(message)
  const list = contents.list()
  if (system.length === 0) return { contents: list.length > 0 ? list : [emptyContent] }
  if (list.length === 0) return { contents: [{ role: 'user', parts: system }] }
  if (!isGemma(model)) return { systemInstruction: { parts: system }, contents: list }
  const [first, ...others] = list
  const text = `${system.map((part) => part.text).join('\n\n')}\n\n`
  if (first?.role !== 'user') return { contents: [{ role: 'user', parts: [{ text }] }, ...list] }
  return { contents: [{ ...first, parts: [{ text }, ...first.parts] }, ...others] }
}

/** A list without contents is an error at Google that does not name its cause. */
const emptyContent = { role: 'user', parts: [{ text: '' }] }

interface Content {
  role: 'user' | 'model'
  parts: Json[]
}

function systemPart(content: readonly TextPart[]): { text: string }[] {
  const text = content.map((part) => part.text).join('\n')
  return text === '' ? [] : [{ text }]
}

/** Gathers the contents of a conversation. */
class Contents {
  private readonly contents: Content[] = []
  /** The names of the calls, by id. */
  private readonly names = new Map<string, string>()
  /** Media of results, which follow the last result of a turn. */
  private media: Json[] = []

  /** `hasResultMedia`: the model takes media in a `functionResponse`. */
  constructor(private readonly hasResultMedia: boolean) {}

  add(message: Message): void {
    if (message.role === 'tool') return this.addResult(message)
    this.flushMedia()
    if (message.role === 'user') this.push('user', message.content.flatMap(userPart))
    if (message.role === 'assistant') this.addTurn(message)
  }

  list(): Content[] {
    this.flushMedia()
    return this.contents
  }

  private push(role: Content['role'], parts: Json[]): void {
    const last = this.contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else this.contents.push({ role, parts: [...parts] })
  }

  private flushMedia(): void {
    this.push('user', this.media)
    this.media = []
  }

  private addTurn({ content }: AssistantMessage): void {
    for (const part of content) if (part.type === 'call') this.names.set(part.id, part.name)
    this.push('model', content.flatMap(modelPart))
  }

  private addResult({ callId, content, isError = false }: ToolMessage): void {
    const name = this.names.get(callId) ?? 'unknown'
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const media = content.filter((part) => part.type !== 'text')
    const isInside = (part: MediaPart): boolean => this.hasResultMedia && isResultMedia(part)
    const parts = media.filter(isInside).flatMap(mediaPart)
    const response = responseOf(text, isError)
    this.push('user', [
      { functionResponse: { id: callId, name, response, ...(parts.length > 0 && { parts }) } },
    ])
    const others = media.filter((part) => !isInside(part)).flatMap(mediaPart)
    if (others.length === 0) return
    this.media.push({ text: `Media of the result of ${name} (${callId}):` }, ...others)
  }
}

/** Returns whether a result may contain a media part. */
function isResultMedia({ source }: MediaPart): boolean {
  if (!('data' in source)) return false
  const type = mediaTypeOf(source.data, source.mediaType)
  return /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(type)
}

/**
 * Returns the response of a function, an object. A text that is one is sent as it is, if it can be
 * restored to the letter. Google reserves `$ref`.
 */
function responseOf(text: string, isError: boolean): Json {
  const object = text.startsWith('{') && !text.includes('"$ref"') ? parseRecord(text) : undefined
  const isExact = object !== undefined && JSON.stringify(object) === text
  const [name, ...others] = Object.keys(object ?? {})
  const isOwnForm = others.length === 0 && (name === 'result' || name === 'error')
  if (isExact && !isOwnForm && isError === Boolean(object.error)) return object
  return isError ? { error: text || 'The call failed.' } : { result: text }
}

const userPart = (part: TextPart | MediaPart): Json[] =>
  part.type === 'text' ? textPart(part) : mediaPart(part)

const textPart = ({ text }: TextPart): Json[] => (text === '' ? [] : [{ text }])

function modelPart(part: TextPart | ThinkingPart | CallPart | MediaPart): Json[] {
  if (part.type === 'text') return textPart(part)
  if (part.type === 'thinking') return thoughtPart(part)
  return part.type === 'call' ? [callPart(part)] : mediaPart(part)
}

/** Returns a signed thought. A signature without text is that of the text before it. */
function thoughtPart({ text, signature, origin }: ThinkingPart): Json[] {
  if (signature === undefined || origin !== 'gemini') return []
  return [{ text, ...(text !== '' && { thought: true }), thoughtSignature: signature }]
}

function callPart(call: CallPart): Json {
  const { id, name, signature } = call
  return {
    functionCall: { id, name, args: argumentsOf(call) },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

function mediaPart({ type, source }: MediaPart): Json[] {
  if ('data' in source) {
    const label = mediaTypeOf(source.data, source.mediaType)
    const mimeType = /^\w+\/[^*]/.test(label) ? label : addressTypes[type]
    return [{ inlineData: { mimeType, data: source.data } }]
  }
  // The gateway has replaced its own files by their content.
  if (!('url' in source)) return []
  const mimeType = typeOfAddress(type, URL.parse(source.url))
  return [{ fileData: { mimeType, fileUri: source.url } }]
}
