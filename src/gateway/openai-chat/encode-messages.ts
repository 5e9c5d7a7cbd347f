import { isRecord, type Json, recordsIn } from '../../kernel/schema.ts'
import { isMarked, markOf } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  Message,
  TextPart,
  ThinkingPart,
  ToolMessage,
  UserMessage,
} from '../conversation/chat-request.ts'
import { isMedia } from '../conversation/contents.ts'
import type { Family } from './families.ts'
import { writeMedia } from './media.ts'
import {
  blocksField,
  callDetail,
  type Detail,
  extraContentOf,
  numbered,
  readDetails,
  textOf,
  textParts,
  thinkingPart,
  thinkingTextOf,
  writeDetails,
} from './thinking.ts'

/** Writes a conversation for the upstreams of a family. Throws `bad_request`. */
export function encodeMessages(messages: readonly Message[], family: Family): Json[] {
  const writer = new MessageWriter(family)
  for (const message of messages) writer.add(message)
  return writer.end()
}

/** Returns whether a family refuses messages that others take, or loses what they say. */
export function needsRewrite(messages: unknown, family: Family): boolean {
  const { thinking, hasCacheMarks, callId } = family
  return recordsIn(messages).some((message) => {
    const calls = recordsIn(message.tool_calls)
    const ids = [...calls.map(({ id }) => id), message.tool_call_id]
    if (callId && ids.some((id) => typeof id === 'string' && callId(id) !== id)) return true
    const marked = [message, ...recordsIn(message.content), ...calls]
    if (!hasCacheMarks && marked.some(isMarked)) return true
    if (message.role !== 'assistant' || !hasThinking(message)) return false
    if (thinking === 'details') return !message.reasoning_details && readDetails(message).length > 0
    return thinking !== 'reasoning_content' || textOf(message.reasoning_content) === ''
  })
}

const hasThinking = (message: Json): boolean =>
  thinkingTextOf(message) !== '' || readDetails(message).length > 0

class MessageWriter {
  private readonly written: Json[] = []
  /** Media of tool results, which only a user message may have. */
  private media: Json[] = []

  constructor(private readonly family: Family) {}

  add(message: Message): void {
    switch (message.role) {
      case 'tool':
        return this.addResult(message)
      case 'user':
        return this.addUser(message)
      case 'assistant':
        this.addMedia()
        return void this.written.push(this.writeAssistant(message))
      default:
        this.addMedia()
        this.written.push({
          role: message.role,
          ...message.extra,
          content: this.writeTexts(message.content),
        })
    }
  }

  end(): Json[] {
    this.addMedia()
    return this.written
  }

  private addMedia(): void {
    if (this.media.length > 0) this.written.push({ role: 'user', content: this.media })
    this.media = []
  }

  private addUser({ content, extra }: UserMessage): void {
    const parts = content.map((part) =>
      isMedia(part) ? writeMedia(part, this.hasMarks) : this.writeText(part),
    )
    const all = [...this.media, ...parts]
    this.media = []
    this.written.push({ role: 'user', ...extra, content: simple(all) })
  }

  private addResult(message: ToolMessage): void {
    const { callId, content, isError, isCached, extra } = message
    const id = this.idOf(callId)
    const texts = content.filter((part) => part.type === 'text')
    const media = content.filter(isMedia)
    if (media.length > 0) {
      texts.push({ type: 'text', text: 'The media of this result are in the next message.' })
      this.media.push(
        { type: 'text', text: `Media of the result of ${id}:` },
        ...media.map((part) => writeMedia(part, this.hasMarks)),
      )
    }
    // Chats have no field for a failed call.
    if (isError) texts.splice(0, 1, failed(texts[0]))
    const last = texts.at(-1) ?? { type: 'text', text: '' }
    const parts = [...texts.slice(0, -1), isCached ? { ...last, isCached } : last]
    this.written.push({
      role: 'tool',
      tool_call_id: id,
      ...extra,
      content: this.writeTexts(parts),
    })
  }

  private writeAssistant({ content, extra }: AssistantMessage): Json {
    const words = content.filter((part) => part.type === 'text')
    const texts = words.filter(({ isDeclined }) => !isDeclined)
    const declined = words.filter(({ isDeclined }) => isDeclined)
    const calls = content.filter((part) => part.type === 'call')
    const thoughts = content.filter((part) => part.type === 'thinking')
    const others = content.filter(isMedia)
    const written: string | Json[] =
      others.length > 0
        ? [
            ...texts.map((part) => this.writeText(part)),
            ...others.map((part) => writeMedia(part, this.hasMarks)),
          ]
        : this.writeTexts(texts)
    const isBare = written === '' && (calls.length > 0 || declined.length > 0)
    const refusal = declined.map(({ text }) => text).join('')
    return {
      role: 'assistant',
      ...extra,
      content: isBare ? null : written,
      ...(refusal !== '' && { refusal }),
      ...this.writeThinking(thoughts, calls, written),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => this.writeCall(call)) }),
    }
  }

  private writeThinking(
    thoughts: ThinkingPart[],
    calls: CallPart[],
    content: string | Json[],
  ): Json {
    const text = thoughts.map((thought) => thought.text).join('')
    const isSigned = ({ signature }: ThinkingPart): boolean => signature !== undefined
    switch (this.family.thinking) {
      case 'none':
        return {}
      case 'reasoning':
        return text === '' ? {} : { reasoning: text }
      case 'parts': {
        // Mistral does not know the signatures of other APIs.
        const own = thoughts.map((thought) =>
          thought.origin === 'chat' ? thought : { text: thought.text },
        )
        const known = own.filter((thought) => thought.text !== '' || 'signature' in thought)
        const others = typeof content === 'string' ? textParts(content) : content
        return known.length === 0 ? {} : { content: [...known.map(thinkingPart), ...others] }
      }
      case 'details': {
        const details: Detail[] = [
          ...thoughts.filter(isSigned),
          ...calls.flatMap(({ id, signature }) => callDetail(id, signature)),
        ]
        return {
          ...(text !== '' && { reasoning: text }),
          ...(details.length > 0 && {
            reasoning_details: writeDetails(numbered(details)),
          }),
        }
      }
      case 'reasoning_content': {
        return {
          ...(text !== '' && { reasoning_content: text }),
          ...(this.hasMarks && blocksField(thoughts)),
        }
      }
    }
  }

  private writeCall(call: CallPart): Json {
    const { name, isCustom, signature, isCached } = call
    const called = isCustom
      ? { type: 'custom', custom: { name, input: call.arguments } }
      : { type: 'function', function: { name, arguments: call.arguments || '{}' } }
    return {
      id: this.idOf(call.id),
      ...called,
      ...(this.family.hasExtraContent && extraContentOf(signature)),
      ...(this.hasMarks && markOf(isCached)),
    }
  }

  private get hasMarks(): boolean {
    return this.family.hasCacheMarks === true
  }

  private idOf(id: string): string {
    return this.family.callId?.(id) ?? id
  }

  private writeText({ text, isCached }: TextPart): Json {
    return { type: 'text', text, ...(this.hasMarks && markOf(isCached)) }
  }

  /** Returns texts as one string, which all upstreams take, where no part is marked. */
  private writeTexts(parts: readonly TextPart[]): string | Json[] {
    const isMarkedFor = this.hasMarks && parts.some(({ isCached }) => isCached)
    return isMarkedFor
      ? parts.map((part) => this.writeText(part))
      : parts.map(({ text }) => text).join('\n\n')
  }
}

const failed = (part: TextPart | undefined): TextPart => ({
  ...part,
  type: 'text',
  text: `Error: ${part?.text ?? ''}`,
})

/** Returns the content of one text part as a string, which all upstreams take. */
function simple(parts: Json[]): string | Json[] {
  const [first, ...others] = parts
  if (!first) return ''
  const isText = others.length === 0 && first.type === 'text' && !isRecord(first.cache_control)
  return isText && typeof first.text === 'string' ? first.text : parts
}
