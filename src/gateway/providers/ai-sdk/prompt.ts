import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider'

import { isRecord, type Json, recordOf } from '../../../kernel/schema.ts'
import { asString, recordsIn } from '../response.ts'

type Role<R extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: R }>
type AssistantPart = Role<'assistant'>['content'][number]
type Part = LanguageModelV4TextPart | LanguageModelV4FilePart

/**
 * Converts OpenAI's messages to a prompt of the provider packages. It moves system messages to the
 * front, the only place that most providers accept.
 */
export function buildPrompt(messages: Json[]): LanguageModelV4Prompt {
  const isSystem = ({ role }: Json): boolean => role === 'system' || role === 'developer'
  const system = messages.filter(isSystem).map(({ content }): LanguageModelV4Message => {
    return { role: 'system', content: textOf(content) }
  })
  return [...system, ...toTurns(messages.filter((message) => !isSystem(message)))]
}

/** Converts messages; the tool results of one turn become one message. */
function toTurns(messages: Json[]): LanguageModelV4Prompt {
  const turns: LanguageModelV4Prompt = []
  const tools = new Map<unknown, string>()
  for (const message of messages) {
    const last = turns.at(-1)
    if (message.role === 'assistant') {
      for (const call of recordsIn(message.tool_calls)) tools.set(call.id, nameOf(call))
      turns.push({ role: 'assistant', content: toAssistantParts(message) })
    } else if (message.role === 'tool') {
      const result = toToolResult(message, tools)
      if (last?.role === 'tool') last.content.push(result)
      else turns.push({ role: 'tool', content: [result] })
    } else {
      turns.push({ role: 'user', content: toParts(message.content) })
    }
  }
  return turns
}

const nameOf = ({ function: called }: Json): string =>
  isRecord(called) ? asString(called.name) : ''

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsIn(content)
        .map(({ text }) => asString(text))
        .join('\n')

function toToolResult(message: Json, tools: Map<unknown, string>): Role<'tool'>['content'][number] {
  const { tool_call_id: id, content } = message
  return {
    type: 'tool-result',
    toolCallId: asString(id),
    toolName: tools.get(id) ?? '',
    output: { type: 'text', value: textOf(content) },
  }
}

/** Converts an assistant message. Reasoning goes back with the signature that providers require. */
function toAssistantParts(message: Json): AssistantPart[] {
  const text = textOf(message.content)
  return [
    ...recordsIn(message.reasoning_details).flatMap((detail) => toReasoning(detail, message)),
    ...(text ? [{ type: 'text' as const, text }] : []),
    ...recordsIn(message.tool_calls).map(toToolCall),
  ]
}

function toReasoning(detail: Json, message: Json): AssistantPart[] {
  const { signature, data } = detail
  const text = asString(detail.text) || asString(message.reasoning_content)
  if (typeof data === 'string') {
    return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: data } } }]
  }
  if (typeof signature !== 'string') return []
  const google = { thoughtSignature: signature }
  return [{ type: 'reasoning', text, providerOptions: { anthropic: { signature }, google } }]
}

function toToolCall(call: Json): AssistantPart {
  const { extra_content: extra, function: called } = call
  const google = recordOf(recordOf(extra).google)
  const signature = google.thought_signature
  return {
    type: 'tool-call',
    toolCallId: asString(call.id),
    toolName: nameOf(call),
    input: parseArguments(isRecord(called) ? asString(called.arguments) : ''),
    ...(typeof signature === 'string' && {
      providerOptions: { google: { thoughtSignature: signature } },
    }),
  }
}

/** Parses the arguments of a tool call; every provider requires an object. */
function parseArguments(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return recordOf(value)
  } catch {
    return {}
  }
}

function toParts(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return recordsIn(content).flatMap(toPart)
}

function toPart(part: Json): Part[] {
  const content = part[asString(part.type)]
  const media = recordOf(content)
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: asString(part.text), ...toCacheOptions(part) }]
    case 'image_url':
      return toFile(typeof content === 'string' ? content : media.url, 'image/*')
    case 'video_url':
      return toFile(typeof content === 'string' ? content : media.url, 'video/mp4')
    case 'input_audio': {
      const mediaType = media.format === 'mp3' ? 'audio/mpeg' : `audio/${asString(media.format)}`
      return [{ type: 'file', mediaType, data: { type: 'data', data: asString(media.data) } }]
    }
    case 'file':
      return toFile(media.file_data, 'application/pdf', asString(media.filename))
    default:
      return []
  }
}

/** Converts Anthropic's mark for prompt caching. */
function toCacheOptions({ cache_control: mark }: Json) {
  if (!isRecord(mark) || mark.type !== 'ephemeral') return {}
  return { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
}

const dataUrl = /^data:([\w.+-]+\/[\w.+*-]+)[^,]*;base64,/i
const imageExtension = /\.(png|webp|gif|heic|avif)$/i

/** Converts a data: URL, bare base64, or an address that the provider fetches. */
function toFile(address: unknown, mediaType: string, filename = ''): LanguageModelV4FilePart[] {
  const url = asString(address)
  const name = filename ? { filename } : {}
  const [prefix = '', type = mediaType] = dataUrl.exec(url) ?? []
  if (prefix) {
    const data = { type: 'data' as const, data: url.slice(prefix.length) }
    return [{ type: 'file', mediaType: type, data, ...name }]
  }
  const at = URL.parse(url)
  if (at) {
    // Packages detect the type of bytes, but not of an address.
    const [, extension = 'jpeg'] = imageExtension.exec(at.pathname) ?? []
    const type = mediaType.replace('*', extension.toLowerCase())
    return [{ type: 'file', mediaType: type, data: { type: 'url', url: at }, ...name }]
  }
  return url ? [{ type: 'file', mediaType, data: { type: 'data', data: url }, ...name }] : []
}
