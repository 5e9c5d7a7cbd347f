/** One file, because whole responses, streams and passed events have the same form. */
import { asString, isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type CallEvent,
  type ChatEvent,
  type ChatResponse,
  type Citation,
  gather,
  type SignatureEvent,
} from '../conversation/chat-event.ts'
import type { ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { endsThought } from '../conversation/sealed-thought.ts'
import { portableId } from '../conversation/tools.ts'
import {
  doneMark,
  encodeEvent,
  eventOf,
  isComment,
  keepAlive,
  noBytes,
  type StreamEvent,
} from '../events.ts'
import type { Usage } from '../models/usage.ts'
import { toOpenRouterError } from '../openrouter/error-response.ts'
import { toFunctionCalls } from './functions.ts'
import {
  finishReasons,
  type Flavor,
  hasOtherThinking,
  needsRepair,
  repairMessage,
  withoutThinking,
  writeCall,
  writeCallPieces,
  writeChoice,
  writeCitation,
  writeUsage,
} from './message.ts'
import { MistralChunks } from './mistral-chunks.ts'
import { readUsageOf, readWholeChat } from './read.ts'
import {
  blocksField,
  callDetail,
  type Detail,
  readDetails,
  textDetail,
  textOf,
  textOfThinkingPart,
  textParts,
  thinkingPart,
  writeDetails,
} from './thinking.ts'

/** The options of a client of the chat API. */
export interface ChatWriterOptions {
  /** The id of the model that the client asked for. */
  model: string
  /** The id of a response that has none. OpenRouter's clients get it for every response. */
  id: string
  /** The name of the upstream, for OpenRouter's clients. */
  provider?: string
  /** Unix seconds. */
  created: number
  /** True if a stream ends with the usage. */
  wantsUsage: boolean
  /** True if the client knows functions but no tools. */
  hasFunctions?: boolean
  flavor: Flavor
}

/** Creates the codec of a client of the chat API. */
export const createChatClient = (options: ChatWriterOptions): ClientCodec => ({
  createWriter: () => new ChatWriter(options),
  encode: (response, final) => encodeCompletion(response, final, options),
  pass: (response, final) => passCompletion(response, final, options),
})

function encodeCompletion(
  response: ChatResponse,
  final: FinalUsage,
  options: ChatWriterOptions,
): Json {
  const { flavor, model, hasFunctions } = options
  const completion = {
    id: response.id ?? options.id,
    object: 'chat.completion',
    created: response.created ?? options.created,
    model,
    system_fingerprint: null,
    ...response.extra,
    ...ownHead(options),
    choices: response.choices.map((choice, index) => writeChoice(choice, index, flavor)),
    usage: writeUsage(undefined, final),
  }
  return hasFunctions ? toFunctionCalls(completion) : completion
}

/** Returns the fields that OpenRouter's clients get for every response. */
const ownHead = ({ flavor, id, provider }: ChatWriterOptions): Json =>
  flavor === 'openrouter' ? { id, ...(provider !== undefined && { provider }) } : {}

/** Some clients require `system_fingerprint`. */
function passCompletion(response: Json, final: FinalUsage, options: ChatWriterOptions): Json {
  const { flavor, hasFunctions } = options
  const completion = {
    system_fingerprint: null,
    ...response,
    ...ownHead(options),
    ...(response.model !== undefined && { model: options.model }),
    ...repairChoices(response, flavor),
    usage: writeUsage(readUsageOf(response)?.own, final),
  }
  return hasFunctions ? toFunctionCalls(completion) : completion
}

function repairChoices(response: Json, flavor: Flavor): Json {
  const sent = recordsIn(response.choices)
  if (!sent.some(({ message }) => needsRepair(recordOf(message), flavor))) return {}
  const read = gather(readWholeChat(response)).choices
  const choices = sent.map((choice, at) => {
    const { index, message } = choice
    const own = read[Number.isInteger(index) ? Number(index) : at]
    return own && isRecord(message) && needsRepair(message, flavor)
      ? { ...choice, message: repairMessage(message, own, flavor) }
      : choice
  })
  return { choices }
}

/** Writes one stream of chunks. */
class ChatWriter implements StreamWriter {
  /** The fields that all chunks share. */
  private head: Json
  /** The usage in the upstream's own form. */
  private ownUsage: Json | undefined
  /** The usage that the client has. */
  private reported: Usage | undefined
  /** The choices that have begun. */
  private readonly begun = new Set<number>()
  /** The texts and the numbers of the open thoughts, by choice. */
  private readonly thoughts = new Map<number, { text: string; index: number }>()
  /** The entries of lists so far, by choice and field. */
  private readonly counts = new Map<string, number>()
  /** The custom calls, by choice and call. */
  private readonly custom = new Set<string>()
  private readonly held: MistralChunks | undefined
  private hasEnded = false
  /** True if the upstream has details of thoughts. */
  private hasOwnDetails = false

  constructor(private readonly options: ChatWriterOptions) {
    const { id, created, model, flavor } = options
    this.head = { id, object: 'chat.completion.chunk', created, model, ...ownHead(options) }
    if (flavor === 'mistral') this.held = new MistralChunks()
  }

  write(events: readonly ChatEvent[]): Uint8Array {
    this.held?.add(events)
    return joined(joinAdjacent(events).map((event) => this.writeEvent(event)))
  }

  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    if (own.data === undefined) return isComment(own) ? own : undefined
    this.held?.add(events)
    for (const event of events) this.note(event)
    if (events.some(({ type }) => type === 'done' || type === 'error')) return undefined
    const chunk = jsonOf(own, events)
    if (!chunk) return undefined
    const { hasFunctions } = this.options
    const changed = this.change(chunk, events)
    const { choices, usage, ...head } = changed
    this.head = head
    // The usage is written at the end, with its cost.
    if (isRecord(chunk.usage) && itemsOf(choices).length === 0) return undefined
    if (changed === chunk && !hasFunctions && !this.held) return own
    const bytes = this.present(changed)
    return bytes.byteLength === 0 ? undefined : eventOf(bytes)
  }

  beat(): Uint8Array {
    return keepAlive
  }

  /** Google reports a usage with each event. Clients add up those that they get. */
  report(final: FinalUsage): Uint8Array {
    return this.hasEnded ? this.writeReport(final) : noBytes
  }

  private writeReport(final: FinalUsage): Uint8Array {
    if (!this.options.wantsUsage || this.held) return noBytes
    this.reported = final.usage
    const usage = writeUsage(this.ownUsage, final)
    return encodeEvent({ ...this.head, choices: [], usage })
  }

  end(final: FinalUsage): Uint8Array {
    const isReported = Bun.deepEquals(this.reported, final.usage)
    if (!this.held) return joined([isReported ? noBytes : this.writeReport(final), doneMark])
    const ending = this.held.end(this.head)
    const last = ending.pop() ?? { ...this.head, choices: [] }
    const usage = writeUsage(this.ownUsage, final)
    return joined([...ending.map(encodeEvent), encodeEvent({ ...last, usage }), doneMark])
  }

  fail(error: Json): Uint8Array {
    const { flavor, id } = this.options
    if (flavor !== 'openrouter') return encodeEvent({ error })
    return encodeEvent({
      id,
      object: 'chat.completion.chunk',
      created: 0,
      model: '',
      error: toOpenRouterError({ error }),
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    })
  }

  /** Returns the bytes of a chunk; none for one that is held back. */
  private present(chunk: Json): Uint8Array {
    const now = this.held ? this.held.read(chunk) : chunk
    if (!now) return noBytes
    return encodeEvent(this.options.hasFunctions ? toFunctionCalls(now) : now)
  }

  private writeEvent(event: JoinedEvent): Uint8Array {
    if (event.type === 'start') this.begin(event)
    this.note(event)
    if (!('choice' in event)) return noBytes
    const { choice } = event
    const unsigned = this.endUnsigned(choice, [event])
    const delta = withDetails(this.deltaOf(event), unsigned)
    if (!delta) return noBytes
    const role = this.begun.has(choice) ? {} : { role: 'assistant' }
    this.begun.add(choice)
    const logprobs = event.type === 'text' && event.logprobs
    const written = {
      index: choice,
      delta: { ...role, ...delta },
      ...(logprobs && { logprobs: { content: logprobs, refusal: null } }),
      finish_reason: event.type === 'end' ? finishReasons[event.reason] : null,
    }
    return this.present({ ...this.head, choices: [written] })
  }

  private note(event: ChatEvent | JoinedEvent): void {
    if (event.type === 'usage') this.ownUsage = event.usage.own
    if (event.type === 'end') this.hasEnded = true
    if (event.type === 'thinking') this.thoughtOf(event.choice).text += event.text
  }

  private begin({ id, created, extra }: Extract<ChatEvent, { type: 'start' }>): void {
    this.head = {
      ...this.head,
      ...(id !== undefined && { id }),
      ...(created !== undefined && { created }),
      ...extra,
      ...ownHead(this.options),
    }
  }

  private deltaOf(event: Extract<JoinedEvent, { choice: number }>): Json | undefined {
    switch (event.type) {
      case 'text':
        return { content: event.text }
      case 'refusal':
        return { refusal: event.text }
      case 'thinking':
        return this.think(event.choice, event.text)
      case 'signature':
        return this.sign(event)
      case 'call': {
        const { call: index, choice: _, ...call } = event
        const { flavor } = this.options
        const details = callDetail(portableId(call.id), call.signature)
        if (call.isCustom) this.custom.add(`${event.choice}/${index}`)
        return {
          ...(flavor === 'openrouter' &&
            details.length > 0 && { reasoning_details: this.detailsOfCalls([event]) }),
          ...(details.length > 0 && flavor === 'mistral' && { content: details.map(thinkingPart) }),
          tool_calls: [{ index, ...writeCall({ arguments: '', ...call }) }],
        }
      }
      case 'arguments': {
        const { choice, call: index, text } = event
        const isCustom = this.custom.has(`${choice}/${index}`)
        const called = isCustom ? { custom: { input: text } } : { function: { arguments: text } }
        return { tool_calls: [{ index, ...called }] }
      }
      case 'citation':
        return this.entries(event.choice, { annotations: event.citations.map(writeCitation) })
      case 'end':
        return {}
      case 'audio':
        return undefined
    }
  }

  private think(choice: number, text: string): Json {
    if (this.options.flavor === 'mistral') return { content: [thinkingPart({ text })] }
    if (this.options.flavor === 'openai') return { reasoning_content: text }
    const reasoning_details = [textDetail(text, this.thoughtOf(choice).index)]
    return { reasoning_content: text, reasoning: text, reasoning_details }
  }

  /** Sends OpenAI's clients the whole signed thought: they have its text in another field only. */
  private sign({ choice, type: _, ...seal }: SignatureEvent): Json {
    if (this.options.flavor === 'mistral') return { content: [thinkingPart({ ...seal, text: '' })] }
    const { text, index } = this.endThought(choice)
    const isSent = !endsThought(seal) || this.options.flavor === 'openrouter'
    const reasoning_details = writeDetails([{ ...seal, text: isSent ? '' : text, index }])
    return { reasoning_details, ...this.entries(choice, blocksField([{ ...seal, text }])) }
  }

  /** Returns Google's signatures of calls as details, for OpenRouter's clients. */
  private detailsOfCalls(calls: readonly CallEvent[]): Json[] {
    return calls.flatMap(({ choice, id, signature }) => {
      const [detail] = callDetail(portableId(id), signature)
      return detail ? writeDetails([{ ...detail, index: this.endThought(choice).index }]) : []
    })
  }

  /** Numbers the entries of further lists: OpenAI's Python SDK rejects those without an index. */
  private entries(choice: number, lists: Record<string, Json[]>): Json {
    const numbered = Object.entries(lists).map(([name, list]) => {
      const key = `${choice}/${name}`
      const first = this.counts.get(key) ?? 0
      this.counts.set(key, first + list.length)
      return [name, first === 0 ? list : list.map((entry, at) => ({ ...entry, index: first + at }))]
    })
    return Object.fromEntries(numbered)
  }

  /** Returns the open thought, and opens the next one. */
  private endThought(choice: number): { text: string; index: number } {
    const thought = this.thoughtOf(choice)
    this.thoughts.set(choice, { text: '', index: thought.index + 1 })
    return thought
  }

  private thoughtOf(choice: number): { text: string; index: number } {
    const known = this.thoughts.get(choice) ?? { text: '', index: 0 }
    this.thoughts.set(choice, known)
    return known
  }

  /** Returns a chunk of an upstream as the client knows it: the same where nothing must change. */
  private change(chunk: Json, events: readonly ChatEvent[]): Json {
    const { model } = this.options
    const choices = itemsOf(chunk.choices).map((choice, at) =>
      this.changeChoice(choice, at, events),
    )
    const isSame = choices.every((choice, at) => choice === itemsOf(chunk.choices)[at])
    const isRenamed = typeof chunk.model === 'string' && chunk.model !== model
    const changes: Json = {
      ...ownHead(this.options),
      ...(isRenamed && { model }),
      ...(chunk.object === 'chat.completion' && { object: 'chat.completion.chunk' }),
      ...(!isSame && { choices }),
    }
    const hasUsage = isRecord(chunk.usage)
    if (Object.keys(changes).length === 0 && !hasUsage) return chunk
    const { usage, ...others } = { ...chunk, ...changes }
    return hasUsage || usage === undefined ? others : { ...others, usage }
  }

  private changeChoice(choice: unknown, at: number, events: readonly ChatEvent[]): unknown {
    if (!isRecord(choice)) return choice
    const { message, ...others } = choice
    const isWhole = !isRecord(choice.delta) && isRecord(message)
    const index = Number.isInteger(choice.index) ? Number(choice.index) : at
    const delta = isWhole ? message : recordOf(choice.delta)
    const read = this.withThinking(this.repairDelta(delta, index, events), index, events)
    const unsigned = [
      ...this.endUnsigned(index, events),
      ...this.ownCallDetails(delta, index, events),
    ]
    const repaired = withDetails(this.withBlocks(read, index, events), unsigned) ?? read
    const isOld = choice.finish_reason === 'function_call'
    if (repaired === delta && !isWhole && !isOld) return choice
    return { ...others, delta: repaired, ...(isOld && { finish_reason: 'tool_calls' }) }
  }

  /** Writes thinking where clients of OpenRouter and Mistral read it. */
  private withThinking(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    const { flavor } = this.options
    if (flavor === 'openai') return delta
    const text = events
      .map((event) => (event.type === 'thinking' && event.choice === choice ? event.text : ''))
      .join('')
    if (flavor === 'openrouter') return this.withOwnDetails(delta, choice, events, text)
    if (!hasOtherThinking(delta)) return delta
    const signed = events.flatMap((event): Detail[] => {
      if (!('choice' in event) || event.choice !== choice) return []
      if (event.type === 'call') return callDetail(event.id, event.signature)
      return event.type === 'signature' ? [{ ...event, text: '' }] : []
    })
    const thoughts = [...(text === '' ? [] : [{ text }]), ...signed].map(thinkingPart)
    const content = [...thoughts, ...textParts(asString(delta.content))]
    return { ...withoutThinking(delta), ...(content.length > 0 && { content }) }
  }

  /** Adds details where the upstream has none, or repeats in them what the client has. */
  private withOwnDetails(
    delta: Json,
    choice: number,
    events: readonly ChatEvent[],
    text: string,
  ): Json {
    const { index } = this.thoughtOf(choice)
    const sent = readDetails({ reasoning_details: delta.reasoning_details })
    const isSame = sent.length > 0 && sent.map((detail) => detail.text).join('') === text
    const signed = events.flatMap((event) =>
      event.type === 'signature' && event.choice === choice ? [{ ...event, text: '', index }] : [],
    )
    const written = [...(text === '' ? [] : [textDetail(text, index)]), ...writeDetails(signed)]
    return {
      ...delta,
      ...(text !== '' && { reasoning_content: text, reasoning: text }),
      ...(!isSame && written.length > 0 && { reasoning_details: written }),
    }
  }

  /** Returns the details of signed calls, for OpenRouter's clients, where the upstream has none. */
  private ownCallDetails(delta: Json, choice: number, events: readonly ChatEvent[]): Json[] {
    if (recordsIn(delta.reasoning_details).length > 0) this.hasOwnDetails = true
    if (this.options.flavor !== 'openrouter' || this.hasOwnDetails) return []
    const calls = events.flatMap((event) =>
      event.type === 'call' && event.choice === choice ? [event] : [],
    )
    return this.detailsOfCalls(calls)
  }

  /** Ends the open thought before other output: without a signature it is of no known format. */
  private endUnsigned(choice: number, events: readonly (ChatEvent | JoinedEvent)[]): Json[] {
    if (this.options.flavor !== 'openrouter') return []
    const { text, index } = this.thoughtOf(choice)
    const types = events.flatMap((event) =>
      'choice' in event && event.choice === choice ? [event.type] : [],
    )
    const isOver = types.some((type) => type !== 'thinking' && type !== 'signature')
    if (text === '' || !isOver || types.includes('signature')) return []
    this.endThought(choice)
    return writeDetails([{ text: '', index }])
  }

  /** Adds LiteLLM's form of the thoughts that end here, the only one that its clients keep. */
  private withBlocks(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    if (!events.some(({ type }) => type === 'signature')) return delta
    const thoughts = events.flatMap((event) =>
      event.type === 'signature' && event.choice === choice
        ? [{ ...event, text: this.endThought(choice).text }]
        : [],
    )
    const isComplete = this.options.flavor === 'mistral' || Array.isArray(delta.thinking_blocks)
    const added = isComplete ? {} : this.entries(choice, blocksField(thoughts))
    return Object.keys(added).length > 0 ? { ...delta, ...added } : delta
  }

  /** Returns a delta in the client's form, where a server has another one. */
  private repairDelta(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    const { content, tool_calls, function_call, ...others } = delta
    const pieces = writeCallPieces(events, choice)
    const isList = this.options.flavor !== 'mistral' && Array.isArray(content)
    const areSame = !isRecord(function_call) && areEqual(recordsIn(tool_calls), pieces)
    if (!isList && areSame) return delta
    const parts = recordsIn(content)
    const thinking = parts.map(textOfThinkingPart).join('')
    return {
      ...others,
      ...(content !== undefined && { content: isList ? textOf(parts) : content }),
      ...(isList && thinking !== '' && { reasoning_content: thinking }),
      ...(areSame
        ? tool_calls !== undefined && { tool_calls }
        : pieces.length > 0 && { tool_calls: pieces }),
    }
  }
}

/** Returns a delta with details before its own. */
function withDetails(delta: Json | undefined, details: Json[]): Json | undefined {
  if (!delta || details.length === 0) return delta
  return { ...delta, reasoning_details: [...details, ...recordsIn(delta.reasoning_details)] }
}

/** Events that a client gets in one chunk: a call with its arguments, and several citations. */
type JoinedEvent =
  | Exclude<ChatEvent, { type: 'citation' | 'call' }>
  | (CallEvent & { arguments?: string })
  | { type: 'citation'; choice: number; citations: Citation[] }

function joinAdjacent(events: readonly ChatEvent[]): JoinedEvent[] {
  const joined: JoinedEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.type === 'citation') {
      const { choice, citation } = event
      if (last?.type === 'citation' && last.choice === choice) last.citations.push(citation)
      else joined.push({ type: 'citation', choice, citations: [citation] })
    } else if (event.type === 'arguments' && last?.type === 'call' && isOf(last, event)) {
      last.arguments = (last.arguments ?? '') + event.text
    } else joined.push(event.type === 'call' ? { ...event } : event)
  }
  return joined
}

const isOf = (start: CallEvent, piece: { choice: number; call: number }): boolean =>
  start.choice === piece.choice && start.call === piece.call

/** Returns whether clients read the same calls from the upstream's pieces as we did. */
const areEqual = (sent: Json[], read: Json[]): boolean =>
  sent.length === read.length &&
  sent.every((piece, at) => {
    const { index, id, function: called, provider_specific_fields: signed } = read[at] ?? {}
    const args = recordOf(piece.function).arguments
    const isText = args === undefined || args === null || typeof args === 'string'
    const isSameId = id === undefined || id === piece.id
    const isSigned = signed === undefined || isRecord(piece.provider_specific_fields)
    return isText && piece.index === index && isSameId && isSigned && isSameName(piece, called)
  })

const isSameName = (piece: Json, called: unknown): boolean => {
  const name = asString(recordOf(called).name)
  return name === '' || name === asString(recordOf(piece.function).name)
}

const joined = (parts: Uint8Array[]): Uint8Array => {
  const filled = parts.filter(({ byteLength }) => byteLength > 0)
  return filled.length === 1 ? (filled[0] ?? noBytes) : Buffer.concat(filled)
}
