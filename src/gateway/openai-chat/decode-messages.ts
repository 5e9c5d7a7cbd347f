import { ApiError } from '../../kernel/errors.ts'
import { asString, isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import { isMarked } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  MediaPart,
  Message,
  TextPart,
  ThinkingPart,
} from '../conversation/chat-request.ts'
import { isMedia } from '../conversation/contents.ts'
import { endsThought, signCalls } from '../conversation/sealed-thought.ts'
import { argumentsText, originalId } from '../conversation/tools.ts'
import { invalidField } from '../fields.ts'
import { type MediaKind, mediaKinds, readMedia } from './media.ts'
import {
  callSignatureOf,
  joinDetails,
  readDetails,
  readThinkingPart,
  thinkingTextOf,
} from './thinking.ts'

interface DecodedMessages {
  /** The messages as they were sent, with roles that upstreams know. */
  sent: Json[]
  messages: Message[]
  /** True if upstreams refuse the messages as they were sent. */
  needsRepair: boolean
}

/**
 * Parses the messages of a chat request in the order of section 7: missing, roles, parts, none
 * usable. `developerRole` replaces the role `developer`. Throws `no_messages`, `bad_role`,
 * `bad_part`, `no_usable_messages`, `bad_request`.
 */
export function decodeMessages(raw: unknown, developerRole: 'system' | undefined): DecodedMessages {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const roles = new RoleReader(developerRole)
  const turns = raw.map((message: unknown) => roles.read(message))
  const contents = new ContentReader()
  const messages = turns.flatMap((turn) => contents.read(turn))
  if (!contents.isUsable) throw new ApiError('no_usable_messages')
  const needsRepair = roles.needsRepair || contents.needsRepair
  return { sent: turns.map(({ sent }) => sent), messages, needsRepair }
}

/** A message with its role, and the ids of its calls. */
interface Turn {
  sent: Json
  role: Message['role']
  callIds: string[]
  /** The call that a tool message replies to. */
  callId: string
}

/**
 * Checks the roles of messages. A tool message needs an earlier call of an assistant
 * (docs/spec/gateway-decisions.md, "Roles"). Calls and results without an id get one, in their
 * order, and so does a call whose id an earlier one has: some servers begin anew in each turn.
 */
class RoleReader {
  needsRepair = false
  /** By the id that the client sent: its calls in the last turn that has it, and their results. */
  private readonly known = new Map<unknown, { turn: number; ids: string[]; replies: number }>()
  /** The calls without an id of the last turn, and how many of them have a result. */
  private open: string[] = []
  private replies = 0
  private count = 0

  constructor(private readonly developerRole: 'system' | undefined) {}

  read(message: unknown): Turn {
    if (!isRecord(message)) throw new ApiError('bad_role', {})
    const { role, tool_call_id: id, tool_calls } = message
    this.count += 1
    const turn = { sent: message, callIds: [], callId: '' }
    switch (role) {
      case 'developer':
        if (!this.developerRole) throw new ApiError('bad_role', { isDeveloper: true })
        return { ...turn, sent: { ...message, role: this.developerRole }, role: this.developerRole }
      case 'tool':
        return { ...turn, role, callId: this.readReply(id) }
      case 'assistant':
        return {
          ...turn,
          role,
          callIds: recordsIn(tool_calls).map((call, at) => this.readCall(call, at)),
        }
      case 'system':
      case 'user':
        return { ...turn, role }
      default:
        throw new ApiError('bad_role', { isDeveloper: false })
    }
  }

  private readReply(id: unknown): string {
    if (!isMissing(id)) {
      const calls = this.known.get(id)
      const own = calls?.ids[calls.replies]
      if (!calls || own === undefined) throw new ApiError('bad_role', { isDeveloper: false })
      // The last call may have several results.
      calls.replies = Math.min(calls.replies + 1, calls.ids.length - 1)
      return own
    }
    const next = this.open[this.replies++]
    if (next === undefined) throw new ApiError('bad_role', { isDeveloper: false })
    return next
  }

  private readCall({ id }: Json, at: number): string {
    if (at === 0) {
      this.open = []
      this.replies = 0
    }
    const newId = `call_${this.count}_${at}`
    if (isMissing(id) || this.known.has(id)) this.needsRepair = true
    if (isMissing(id)) {
      this.open.push(newId)
      return newId
    }
    const earlier = this.known.get(id)
    const own = earlier ? newId : this.original(typeof id === 'string' ? id : JSON.stringify(id))
    if (earlier?.turn === this.count) earlier.ids.push(own)
    else this.known.set(id, { turn: this.count, ids: [own], replies: 0 })
    return own
  }

  private original(id: string): string {
    const original = originalId(id)
    if (original !== id) this.needsRepair = true
    return original
  }
}

const isMissing = (id: unknown): boolean => id === undefined || id === null || id === ''

/** Fields of messages that the conversation has in another form, and those that say nothing. */
const placedInMessages = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'cache_control',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'provider_specific_fields',
  'annotations',
])

/** Parses the contents of messages. */
class ContentReader {
  needsRepair = false
  isUsable = false

  read({ sent, role, callIds, callId }: Turn): Message[] {
    const isAssistant = role === 'assistant'
    const parts = this.readContent(sent.content, isAssistant)
    const extra = messageExtra(sent)
    if (isAssistant) return [this.readAssistant(sent, parts, callIds, extra)]
    const content = parts.filter((part) => part.type === 'text' || isMedia(part))
    if (role === 'tool') {
      if (content.some(isMedia)) this.needsRepair = true
      return [{ role, callId, content, ...(isMarked(sent) && { isCached: true }), ...extra }]
    }
    const last = content.at(-1)
    if (isMarked(sent) && last) last.isCached = true
    if (role === 'user') return [{ role, content, ...extra }]
    // Only users may send media to other APIs.
    const media = content.filter(isMedia)
    const system: Message = {
      role,
      content: content.filter((part) => part.type === 'text'),
      ...extra,
    }
    return media.length > 0 ? [system, { role: 'user', content: media }] : [system]
  }

  private readAssistant(
    sent: Json,
    parts: AssistantMessage['content'],
    ids: string[],
    extra: { extra?: Json },
  ): AssistantMessage {
    // The default of Mistral's clients, and fields of LiteLLM's and of streams: others refuse them.
    const isIndexed = recordsIn(sent.thinking_blocks).some(({ index }) => index !== undefined)
    if (sent.prefix === false || hasLiteLlmFields(sent) || isIndexed) this.needsRepair = true
    const details = joinDetails(readDetails(sent))
    const sentCalls = recordsIn(sent.tool_calls)
    const calls = sentCalls.map((call, at) => this.readCall(call, ids[at] ?? ''))
    const callsById = new Map(calls.map((call) => [call.id, call]))
    const thoughts: ThinkingPart[] = []
    for (const { index: _, ...detail } of details) {
      const call = detail.isEncrypted && callsById.get(originalId(detail.id ?? ''))
      if (call && detail.origin === 'gemini') call.signature ??= detail.signature ?? ''
      else thoughts.push({ type: 'thinking', ...detail })
    }
    const text = thinkingTextOf(sent)
    // The text of OpenAI's encrypted thoughts is their summary.
    const textless = thoughts.find(
      ({ isEncrypted, origin }) => !isEncrypted || origin === 'responses',
    )
    // Some clients keep the text and the signature in separate fields.
    if (text !== '' && !thoughts.some((thought) => thought.text !== '')) {
      if (textless) textless.text = text
      else thoughts.unshift({ type: 'thinking', text })
    }
    const refusal = asString(sent.refusal)
    const content = [
      ...thoughts,
      // Mistral's clients have the signature of a call in the content.
      ...signCalls([
        ...parts,
        ...(refusal === '' ? [] : [{ type: 'text' as const, text: refusal, isDeclined: true }]),
        ...calls,
      ]),
    ]
    const last = content.at(-1)
    if (isMarked(sent) && last && last.type !== 'thinking') last.isCached = true
    return { role: 'assistant', content, ...extra }
  }

  private readCall(call: Json, id: string): CallPart {
    const { type, custom } = call
    const isCustom = type === 'custom' || isRecord(custom)
    const called = recordOf(isCustom ? custom : call.function)
    const { name, arguments: args, input } = called
    const signature = callSignatureOf(call)
    const isMisplaced = isRecord(args) || hasLiteLlmFields(call) || isMarked(called)
    if (isMisplaced) this.needsRepair = true
    return {
      type: 'call',
      id,
      name: asString(name),
      arguments: isCustom ? asString(input) : argumentsText(args),
      ...(isCustom && { isCustom }),
      ...(signature !== undefined && { signature }),
      ...((isMarked(call) || isMarked(called)) && { isCached: true }),
    }
  }

  private readContent(content: unknown, isAssistant: boolean): AssistantMessage['content'] {
    if (content === undefined || content === null) return []
    if (typeof content === 'string') {
      if (content === '') return []
      this.isUsable = true
      return [{ type: 'text', text: content }]
    }
    if (!Array.isArray(content)) {
      throw invalidField('messages', 'A content must be a string or an array of parts.')
    }
    const parts = content.flatMap((part: unknown) => this.readPart(part, isAssistant))
    // An empty list, and an empty text between other parts, are refused by some and say nothing.
    const isEmptied = parts.length > 0 && parts.length < content.length
    if (content.length === 0 || isEmptied) this.needsRepair = true
    return joinThoughts(parts)
  }

  private readPart(part: unknown, isAssistant: boolean): AssistantMessage['content'] {
    if (!isRecord(part)) throw new ApiError('bad_part')
    const kind = mediaKinds.find((known) => known === part.type)
    if (kind) return [this.readMedia(kind, part)]
    if (part.type === 'text') return this.readText(part)
    if (isAssistant && part.type === 'refusal') {
      return [{ type: 'text', text: asString(part.refusal), isDeclined: true }]
    }
    const isReference = part.type === 'reference'
    if (!isAssistant || !(isReference || part.type === 'thinking')) throw new ApiError('bad_part')
    // Mistral's forms, which others refuse. A reference has only numbers of its own documents.
    this.needsRepair = true
    if (isReference) return []
    const thought = readThinkingPart(part)
    const isEmpty = thought.text === '' && thought.signature === undefined
    return isEmpty ? [] : [{ type: 'thinking', ...thought }]
  }

  private readText(part: Json): TextPart[] {
    const { text } = part
    if (typeof text !== 'string') throw invalidField('messages', 'A text part needs a "text".')
    if (text === '') return []
    this.isUsable = true
    return [{ type: 'text', text, ...(isMarked(part) && { isCached: true }) }]
  }

  private readMedia(kind: MediaKind, part: Json): MediaPart {
    const { media, isRepaired } = readMedia(kind, part)
    this.isUsable = true
    if (isRepaired) this.needsRepair = true
    return media
  }
}

/** Joins a thought with its signature, which a stream has in a part of its own. */
function joinThoughts(parts: AssistantMessage['content']): AssistantMessage['content'] {
  const joined: AssistantMessage['content'] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isOpen = last?.type === 'thinking' && last.signature === undefined
    if (isOpen && part.type === 'thinking' && endsThought(part)) {
      Object.assign(last, part, { text: last.text + part.text })
    } else joined.push(part)
  }
  return joined
}

const hasLiteLlmFields = ({ provider_specific_fields: fields }: Json): boolean => isRecord(fields)

function messageExtra(message: Json): { extra?: Json } {
  let extra: Json | undefined
  for (const [name, value] of Object.entries(message)) {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
    const isDefault = name === 'prefix' && value === false
    if (placedInMessages.has(name) || isEmpty || isDefault) continue
    extra ??= {}
    extra[name] = value
  }
  return extra ? { extra } : {}
}
