/** One file, because whole responses and streams have the same items. */
import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { type Json, parseRecord, recordsIn } from '../../kernel/schema.ts'
import {
  type CallEvent,
  type ChatEvent,
  type Citation,
  eventsOf,
  type SignatureEvent,
} from '../conversation/chat-event.ts'
import type { ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { endsThought, sealText, type Signed } from '../conversation/sealed-thought.ts'
import { portableId } from '../conversation/tools.ts'
import { encodeNamedEvents, keepAlive, type StreamEvent } from '../events.ts'
import type { Usage } from '../models/usage.ts'
import { PassedEvents, type PassOptions, passWhole, type ResponseError } from './pass.ts'
import { type ClientTool, customInput } from './tools.ts'

/** The parts of a response that do not come from the model. */
export interface ResponsesOptions extends PassOptions {
  /** Fields of the request that every response repeats. */
  echo: Json
  /** The client's tools by the function that stands for each in the chat. */
  tools: Map<string, ClientTool>
  /** The unique base of all ids. */
  name: string
  /** Stores the finished response, and returns whether it did. Undefined: it is not stored. */
  store?: ((response: Json) => Promise<boolean>) | undefined
  /** Unix seconds, for a chat without a time. */
  created: number
}

/** Creates the codec of one response for a client of the Responses API. */
export const createResponsesCodec = (options: ResponsesOptions): ClientCodec => ({
  createWriter: () => new ResponsesWriter(options),
  encode(response, final) {
    const writer = new ResponsesWriter(options)
    writer.add(eventsOf(response))
    return writer.finish(final)
  },
  pass: (response, final) => passWhole(response, final, options),
})

const tooLong: ResponseError = {
  code: 'upstream_stream_error',
  message: 'The response is too long. The prompt and the output until here were charged.',
}

/**
 * Marks a thought that no model signed. Clients that store nothing, such as the AI SDK, drop
 * thoughts without encrypted content, and models such as Kimi need theirs back.
 */
const unsigned = sealText({ signature: '', origin: 'chat' }, 'responses')

/** Writes a response and its events, or passes those of an upstream with this API. */
class ResponsesWriter implements StreamWriter {
  /** Events that are not sent yet. */
  private events: Json[] = []
  private count = 0
  private readonly passed: PassedEvents
  private readonly items: Item[] = []
  private isBegun = false
  private created: number
  private chars = 0
  private usage: Json | null = null
  /** Why the response is incomplete; undefined for a complete one. */
  private cutBy: 'max_output_tokens' | 'content_filter' | undefined

  constructor(private readonly options: ResponsesOptions) {
    this.passed = new PassedEvents(options)
    this.created = options.created
  }

  write(events: readonly ChatEvent[]): Uint8Array {
    this.add(events)
    return this.takeBytes()
  }

  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    return this.passed.pass(own, events)
  }

  beat(): Uint8Array {
    return keepAlive
  }

  async end(final: FinalUsage): Promise<Uint8Array> {
    if (this.passed.hasEvents) return this.passed.end()
    await this.finish(final)
    return this.takeBytes()
  }

  fail(error: Json, final: FinalUsage): Uint8Array {
    const failure = { code: String(error.code), message: String(error.message) }
    if (this.passed.hasEvents) return this.passed.fail(failure)
    this.usage = presentUsage(final)
    return this.failWith(failure)
  }

  cut(): Uint8Array | undefined {
    return this.chars > upstreamResponseBytesMax ? this.failWith(tooLong) : undefined
  }

  /** Ends open items as incomplete. The client has them in this state, too. */
  leave(): void {
    for (const item of this.items) if (item.status === 'in_progress') this.close(item, 'incomplete')
  }

  add(events: Iterable<ChatEvent>): void {
    for (const event of events) this.addEvent(event)
  }

  /**
   * Ends the response as completed, or as incomplete when the model reached its token limit, and
   * stores it before the client knows it.
   */
  async finish(final: FinalUsage): Promise<Json> {
    this.begin()
    const { cutBy, options } = this
    for (const item of this.items) this.finishItem(item, cutBy !== undefined)
    this.usage = presentUsage(final)
    const status = cutBy ? 'incomplete' : 'completed'
    const incomplete_details = cutBy ? { reason: cutBy } : null
    const response: Json = { ...this.response(status), incomplete_details }
    await options.onFinish?.()
    if (options.store) response.store = await options.store(response)
    this.push(`response.${status}`, { response })
    return response
  }

  private push(type: string, fields: Json): void {
    this.events.push({ type, sequence_number: this.count, ...fields })
    this.count += 1
  }

  private takeBytes(): Uint8Array {
    const bytes = encodeNamedEvents(this.events)
    this.events = []
    return bytes
  }

  private failWith({ code, message }: ResponseError): Uint8Array {
    this.begin()
    this.leave()
    this.push('error', { code, message, param: null })
    const response = { ...this.response('failed'), error: { code, message } }
    this.push('response.failed', { response })
    return this.takeBytes()
  }

  private begin(): void {
    if (this.isBegun) return
    this.isBegun = true
    this.push('response.created', { response: this.response('in_progress') })
    this.push('response.in_progress', { response: this.response('in_progress') })
  }

  private addEvent(event: ChatEvent): void {
    if (event.type === 'start') this.created = event.created ?? this.created
    this.begin()
    // A response of this API has one choice.
    if (!('choice' in event) || event.choice !== 0) return
    switch (event.type) {
      case 'text':
        return this.addText('text', event.text, (event.logprobs ?? []).map(presentLogprob))
      case 'refusal':
        return this.addText('refusal', event.text, [])
      case 'thinking':
        return this.addText('reasoning', event.text, [])
      case 'signature':
        return this.addSignature(event)
      case 'call':
        return this.addCall(event)
      case 'arguments':
        return this.addArguments(event.call, event.text)
      case 'citation':
        return this.annotate(event.citation)
      case 'end':
        if (event.reason === 'length') this.cutBy = 'max_output_tokens'
        else if (event.reason === 'filtered') this.cutBy = 'content_filter'
    }
  }

  private addText(kind: PartKind, delta: string, logprobs: Json[]): void {
    if (delta === '') return
    const item = this.openPart(kind)
    const part = item.parts.at(-1)
    if (!part) return
    part.text += delta
    this.chars += delta.length
    part.logprobs.push(...logprobs)
    if (logprobs.length > 0) this.chars += JSON.stringify(logprobs).length
    const fields = { delta, ...logprobsField(kind, logprobs) }
    this.push(`${partKinds[kind].piece}.delta`, { ...locationOf(item), ...fields })
  }

  /** Ends the open thought with its signature. A thought that is only a signature is an item. */
  private addSignature(signed: SignatureEvent): void {
    const last = this.items.at(-1)
    const isOpen = isTextItem(last) && last.type === 'reasoning' && last.status === 'in_progress'
    this.seal(isOpen && endsThought(signed) ? last : this.open('reasoning'), signed)
  }

  private seal(item: TextItem, seal: Signed): void {
    item.sealed = sealText(seal, 'responses')
    this.chars += item.sealed.length
    this.finishItem(item, false)
  }

  /** Adds a citation to the latest text. */
  private annotate({ url, title, content, start, end }: Citation): void {
    const item = this.items.at(-1)
    const part = isTextItem(item) ? item.parts.at(-1) : undefined
    if (!isTextItem(item) || part?.kind !== 'text') return
    const annotation = {
      type: 'url_citation',
      url,
      title,
      ...(content !== undefined && { content }),
      // Clients require both. A citation without a place is of the whole text.
      start_index: start ?? 0,
      end_index: end ?? part.text.length,
    }
    const location = { ...locationOf(item), annotation_index: part.annotations.length }
    part.annotations.push(annotation)
    this.push('response.output_text.annotation.added', { ...location, annotation })
  }

  /** Returns the open item for a kind of part, opening item and part as needed. */
  private openPart(kind: PartKind): TextItem {
    const { item: type, part } = partKinds[kind]
    const last = this.items.at(-1)
    const isOpen = isTextItem(last) && last.type === type && last.status === 'in_progress'
    const item = isOpen ? last : this.open(type)
    if (item.parts.at(-1)?.kind === kind) return item
    this.closePart(item)
    const opened = { kind, text: '', annotations: [], logprobs: [] }
    item.parts.push(opened)
    this.push(`${part}.added`, { ...locationOf(item), part: presentPart(opened) })
    return item
  }

  private open(type: TextItem['type']): TextItem {
    this.finishLastText()
    const at = this.items.length
    const id = `${type === 'message' ? 'msg' : 'rs'}_${this.options.name}${at}`
    return this.addItem({ type, id, at, status: 'in_progress', parts: [] })
  }

  private addItem<I extends Item>(item: I): I {
    this.items.push(item)
    this.push('response.output_item.added', { output_index: item.at, item: presentItem(item) })
    return item
  }

  /** Starts a call. Calls may alternate and stay open until the end. */
  private addCall({ call, id, name, isCustom, signature }: CallEvent): void {
    // A client sends this signature back as a thought before the call.
    if (signature !== undefined) this.seal(this.open('reasoning'), { signature, origin: 'gemini' })
    this.finishLastText()
    const at = this.items.length
    const own: ClientTool = { type: isCustom ? 'custom' : 'function', name }
    this.addItem({
      type: 'call',
      id: `fc_${this.options.name}${at}`,
      at,
      status: 'in_progress',
      index: call,
      callId: portableId(id),
      // A model may call a tool that the client did not send.
      tool: this.options.tools.get(name) ?? own,
      args: '',
    })
  }

  private addArguments(call: number, delta: string): void {
    const item = this.items.find(
      (one): one is CallItem => one.type === 'call' && one.index === call,
    )
    if (!item || delta === '') return
    item.args += delta
    this.chars += delta.length
    if (item.tool.type !== 'function') return
    const location = { item_id: item.id, output_index: item.at }
    this.push('response.function_call_arguments.delta', { ...location, delta })
  }

  private finishLastText(): void {
    const last = this.items.at(-1)
    if (isTextItem(last)) this.finishItem(last, false)
  }

  private closePart(item: TextItem): void {
    const part = item.parts.at(-1)
    if (!part) return
    const { part: name, piece, field } = partKinds[part.kind]
    const location = locationOf(item)
    const done = { [field]: part.text, ...logprobsField(part.kind, part.logprobs) }
    this.push(`${piece}.done`, { ...location, ...done })
    this.push(`${name}.done`, { ...location, part: presentPart(part) })
  }

  private finishItem(item: Item, isCut: boolean): void {
    if (item.status !== 'in_progress') return
    if (!isTextItem(item)) this.finishCall(item, isCut)
    else {
      this.closePart(item)
      if (item.type === 'reasoning') item.sealed ??= unsigned
    }
    this.close(item, isCut ? 'incomplete' : 'completed')
    this.push('response.output_item.done', { output_index: item.at, item: presentItem(item) })
  }

  private finishCall(item: CallItem, isCut: boolean): void {
    // A model writes nothing for a function without parameters.
    if (item.args === '' && !isCut && item.tool.type === 'function') {
      this.addArguments(item.index, '{}')
    }
    for (const [name, fields] of lastCallEvents(item)) this.push(name, fields)
  }

  private close(item: Item, status: Item['status']): void {
    item.status = status
    this.options.onItem(presentItem(item))
  }

  private response(status: string): Json {
    return {
      id: `resp_${this.options.name}`,
      object: 'response',
      created_at: this.created,
      // A chat has only this time, and a replay must be equal.
      completed_at: status === 'completed' ? this.created : null,
      status,
      error: null,
      incomplete_details: null,
      model: this.options.model,
      output: this.items.map(presentItem),
      ...this.options.echo,
      store: this.options.store !== undefined,
      usage: this.usage,
    }
  }
}

/** Returns the fields that locate the current part of an item. */
function locationOf({ id, at, parts }: TextItem): Json {
  const last = parts.at(-1)
  const index = last ? { [partKinds[last.kind].index]: parts.length - 1 } : {}
  return { item_id: id, output_index: at, ...index }
}

/** Returns the probabilities of a token, with all fields that clients require. */
function presentLogprob({ top_logprobs, ...token }: Json): Json {
  return { ...presentToken(token), top_logprobs: recordsIn(top_logprobs).map(presentToken) }
}

const presentToken = ({ token, bytes, logprob }: Json): Json => ({
  token,
  bytes: bytes ?? [],
  logprob,
})

/** Returns a usage in the fields of this API, with its cost if the client gets it. */
function presentUsage({ usage, cost }: FinalUsage): Json {
  const { prompt, cached, cacheWrite, completion, reasoning }: Usage = usage
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
    ...(cost !== undefined && { cost }),
  }
}

/** The kinds of output parts, with OpenAI's names of their fields and events. */
const partKinds = {
  text: {
    item: 'message',
    type: 'output_text',
    field: 'text',
    part: 'response.content_part',
    piece: 'response.output_text',
    index: 'content_index',
  },
  refusal: {
    item: 'message',
    type: 'refusal',
    field: 'refusal',
    part: 'response.content_part',
    piece: 'response.refusal',
    index: 'content_index',
  },
  // Clients of the Responses API read a model's reasoning from its summary.
  reasoning: {
    item: 'reasoning',
    type: 'summary_text',
    field: 'text',
    part: 'response.reasoning_summary_part',
    piece: 'response.reasoning_summary_text',
    index: 'summary_index',
  },
} as const

type PartKind = keyof typeof partKinds

interface Part {
  kind: PartKind
  text: string
  annotations: Json[]
  logprobs: Json[]
}

type Status = 'in_progress' | 'completed' | 'incomplete'

interface TextItem {
  type: 'message' | 'reasoning'
  id: string
  at: number
  status: Status
  parts: Part[]
  /** The `encrypted_content` of reasoning. */
  sealed?: string
}

/** A call of a tool that the client runs. */
interface CallItem {
  type: 'call'
  id: string
  at: number
  status: Status
  /** Its index among the calls of the chat message. */
  index: number
  callId: string
  tool: ClientTool
  args: string
}

type Item = TextItem | CallItem

const isTextItem = (item: Item | undefined): item is TextItem =>
  item !== undefined && item.type !== 'call'

const presentPart = ({ kind, text, annotations, logprobs }: Part): Json => {
  const { type, field } = partKinds[kind]
  return { type, [field]: text, ...(kind === 'text' && { annotations, logprobs }) }
}

const logprobsField = (kind: PartKind, logprobs: Json[]): Json =>
  kind === 'text' ? { logprobs } : {}

/** Returns an item of `output` in its current state. */
function presentItem(item: Item): Json {
  if (item.type === 'call') return presentCall(item)
  const { type, id, status, sealed } = item
  const parts = item.parts.map(presentPart)
  if (type === 'message') return { id, type, status, role: 'assistant', content: parts }
  const encrypted = sealed !== undefined && { encrypted_content: sealed }
  return { id, type, status, summary: parts, ...encrypted }
}

/** Returns a call as an item of its kind of tool. */
function presentCall({ id, status, callId: call_id, tool, args }: CallItem): Json {
  switch (tool.type) {
    case 'custom': {
      const { name } = tool
      return { id, type: 'custom_tool_call', status, call_id, name, input: customInput(args) }
    }
    case 'tool_search': {
      const { execution } = tool
      const query = parseRecord(args) ?? {}
      return { id, type: 'tool_search_call', status, call_id, execution, arguments: query }
    }
    case 'function': {
      const { name, namespace } = tool
      const called = { id, type: 'function_call', status, call_id, name, arguments: args }
      return namespace === undefined ? called : { ...called, namespace }
    }
  }
}

/** Returns the last events of a call. The text of a custom tool is known when its JSON is whole. */
function lastCallEvents({ id, at, tool, args }: CallItem): [name: string, fields: Json][] {
  const location = { item_id: id, output_index: at }
  if (tool.type === 'tool_search') return []
  if (tool.type === 'function') {
    const done = { ...location, name: tool.name, arguments: args }
    return [['response.function_call_arguments.done', done]]
  }
  const input = customInput(args)
  return [
    ['response.custom_tool_call_input.delta', { ...location, delta: input }],
    ['response.custom_tool_call_input.done', { ...location, input }],
  ]
}
