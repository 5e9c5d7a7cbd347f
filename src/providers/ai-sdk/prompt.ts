import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider'

import { isRecord, recordOf } from '../../core/schema.ts'
import { asString, recordsIn } from '../response.ts'

type Json = Record<string, unknown>
type Role<R extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: R }>
type Said = Role<'assistant'>['content'][number]
type Part = LanguageModelV4TextPart | LanguageModelV4FilePart

/**
 * OpenAI's messages as the provider packages take them. Every system message goes to the front:
 * most providers know no other place for one.
 */
export function buildPrompt(messages: Json[]): LanguageModelV4Prompt {
  const isSystem = ({ role }: Json): boolean => role === 'system' || role === 'developer'
  const system = messages.filter(isSystem).map(({ content }): LanguageModelV4Message => {
    return { role: 'system', content: wordsOf(content) }
  })
  return [...system, ...turnsOf(messages.filter((message) => !isSystem(message)))]
}

/** The answers of tools to one turn stand in one message. */
function turnsOf(messages: Json[]): LanguageModelV4Prompt {
  const turns: LanguageModelV4Prompt = []
  const tools = new Map<unknown, string>()
  for (const message of messages) {
    const last = turns.at(-1)
    if (message.role === 'assistant') {
      for (const call of recordsIn(message.tool_calls)) tools.set(call.id, nameOf(call))
      turns.push({ role: 'assistant', content: saidIn(message) })
    } else if (message.role === 'tool') {
      const result = resultOf(message, tools)
      if (last?.role === 'tool') last.content.push(result)
      else turns.push({ role: 'tool', content: [result] })
    } else {
      turns.push({ role: 'user', content: partsOf(message.content) })
    }
  }
  return turns
}

const nameOf = ({ function: called }: Json): string =>
  isRecord(called) ? asString(called.name) : ''

const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsIn(content)
        .map(({ text }) => asString(text))
        .join('\n')

function resultOf(message: Json, tools: Map<unknown, string>): Role<'tool'>['content'][number] {
  const { tool_call_id: id, content } = message
  return {
    type: 'tool-result',
    toolCallId: asString(id),
    toolName: tools.get(id) ?? '',
    output: { type: 'text', value: wordsOf(content) },
  }
}

/** Thoughts go back with their signature, without which a provider does not take them. */
function saidIn(message: Json): Said[] {
  const words = wordsOf(message.content)
  return [
    ...recordsIn(message.reasoning_details).flatMap((detail) => thoughtOf(detail, message)),
    ...(words ? [{ type: 'text' as const, text: words }] : []),
    ...recordsIn(message.tool_calls).map(callOf),
  ]
}

function thoughtOf(detail: Json, message: Json): Said[] {
  const { signature, data } = detail
  const text = asString(detail.text) || asString(message.reasoning_content)
  if (typeof data === 'string') {
    return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: data } } }]
  }
  if (typeof signature !== 'string') return []
  const google = { thoughtSignature: signature }
  return [{ type: 'reasoning', text, providerOptions: { anthropic: { signature }, google } }]
}

function callOf(call: Json): Said {
  const { extra_content: extra, function: called } = call
  const google = recordOf(recordOf(extra).google)
  const signature = google.thought_signature
  return {
    type: 'tool-call',
    toolCallId: asString(call.id),
    toolName: nameOf(call),
    input: parsed(isRecord(called) ? asString(called.arguments) : ''),
    ...(typeof signature === 'string' && {
      providerOptions: { google: { thoughtSignature: signature } },
    }),
  }
}

/** The arguments of a call, which are an object for every provider. */
function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return recordOf(value)
  } catch {
    return {}
  }
}

function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return recordsIn(content).flatMap(partOf)
}

function partOf(part: Json): Part[] {
  const held = part[asString(part.type)]
  const media = recordOf(held)
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: asString(part.text), ...cachedBy(part) }]
    case 'image_url':
      return fileAt(typeof held === 'string' ? held : media.url, 'image/*')
    case 'video_url':
      return fileAt(typeof held === 'string' ? held : media.url, 'video/mp4')
    case 'input_audio': {
      const mediaType = media.format === 'mp3' ? 'audio/mpeg' : `audio/${asString(media.format)}`
      return [{ type: 'file', mediaType, data: { type: 'data', data: asString(media.data) } }]
    }
    case 'file':
      return fileAt(media.file_data, 'application/pdf', asString(media.filename))
    default:
      return []
  }
}

/** Anthropic's mark for what is to be kept in its cache. */
function cachedBy({ cache_control: mark }: Json) {
  if (!isRecord(mark) || mark.type !== 'ephemeral') return {}
  return { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
}

const dataUrl = /^data:([\w.+-]+\/[\w.+*-]+)[^,]*;base64,/i
const pictureEnding = /\.(png|webp|gif|heic|avif)$/i

/** A file that stands in a data: address, or that the provider fetches itself. */
function fileAt(address: unknown, mediaType: string, filename = ''): LanguageModelV4FilePart[] {
  const url = asString(address)
  const named = filename ? { filename } : {}
  const [start = '', type = mediaType] = dataUrl.exec(url) ?? []
  if (start) {
    const data = { type: 'data' as const, data: url.slice(start.length) }
    return [{ type: 'file', mediaType: type, data, ...named }]
  }
  const at = URL.parse(url)
  if (at) {
    // Of bytes the package tells the type itself, of an address it has to be told.
    const [, ending = 'jpeg'] = pictureEnding.exec(at.pathname) ?? []
    const type = mediaType.replace('*', ending.toLowerCase())
    return [{ type: 'file', mediaType: type, data: { type: 'url', url: at }, ...named }]
  }
  return url ? [{ type: 'file', mediaType, data: { type: 'data', data: url }, ...named }] : []
}
