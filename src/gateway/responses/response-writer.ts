import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { recordsIn } from '../providers/response.ts'
import { EventQueue, type ResponseError, type ResponseOptions } from './events.ts'
import {
  annotationsOf,
  type CallItem,
  isTextItem,
  type Item,
  lastCallEvents,
  logprobsField,
  logprobsOf,
  type PartKind,
  partKinds,
  presentItem,
  presentPart,
  presentUsage,
  readTexts,
  type TextItem,
} from './items.ts'
import type { ClientTool } from './tools.ts'

/**
 * Converts a chat completion, whole or in chunks, into a response and its events, which `events`
 * queues for a stream.
 */
export class ResponseWriter {
  chars = 0
  readonly events = new EventQueue()
  private readonly items: Item[] = []
  private isBegun = false
  private created = 0
  private model: unknown = null
  private usage: Json | null = null
  private isTruncated = false

  constructor(private readonly options: ResponseOptions) {}

  /** Reads a chunk of a stream (`delta`) or a whole completion (`message`). */
  read(chunk: Json): void {
    this.begin(chunk)
    if (isRecord(chunk.usage)) this.usage = presentUsage(chunk.usage)
    const [choice] = itemsOf(chunk.choices)
    if (!isRecord(choice)) return
    const message = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(message)) this.readMessage(message, logprobsOf(choice))
    if (choice.finish_reason === 'length') this.isTruncated = true
  }

  /** Returns the response of a whole completion. */
  convert(completion: Json): Promise<Json> {
    this.read(completion)
    return this.finish()
  }

  /**
   * Ends the response as completed, or as incomplete when the model reached its token limit, and
   * stores it before the client knows it.
   */
  async finish(): Promise<Json> {
    this.begin({})
    for (const item of this.items) this.close(item, this.isTruncated)
    const status = this.isTruncated ? 'incomplete' : 'completed'
    const incomplete_details = this.isTruncated ? { reason: 'max_output_tokens' } : null
    const response: Json = { ...this.response(status), incomplete_details }
    await this.options.onFinish?.()
    if (this.options.store) response.store = await this.options.store(response)
    this.events.add(`response.${status}`, { response })
    return response
  }

  fail({ code, message }: ResponseError): void {
    this.begin({})
    this.leave()
    this.events.add('error', { code, message, param: null })
    const response = { ...this.response('failed'), error: { code, message } }
    this.events.add('response.failed', { response })
  }

  /** Ends open items as incomplete. The client has them in this state, too. */
  leave(): void {
    for (const item of this.items) if (item.status === 'in_progress') this.end(item, 'incomplete')
  }

  private begin({ created, model }: Json): void {
    if (this.isBegun) return
    this.isBegun = true
    this.created = typeof created === 'number' ? created : this.options.created
    this.model = model ?? null
    this.events.add('response.created', { response: this.response('in_progress') })
    this.events.add('response.in_progress', { response: this.response('in_progress') })
  }

  private readMessage(message: Json, logprobs: Json[]): void {
    for (const [kind, text] of readTexts(message))
      if (text !== '') this.addText(kind, text, logprobs)
    for (const annotation of annotationsOf(message)) this.annotate(annotation)
    for (const [position, call] of recordsIn(message.tool_calls).entries())
      this.addCall(call, position)
  }

  private addText(kind: PartKind, delta: string, logprobs: Json[]): void {
    const item = this.openPart(kind)
    const part = item.parts.at(-1)
    if (!part) return
    part.text += delta
    this.chars += delta.length
    part.logprobs.push(...logprobs)
    if (logprobs.length > 0) this.chars += JSON.stringify(logprobs).length
    const fields = { delta, ...logprobsField(kind, logprobs) }
    this.events.add(`${partKinds[kind].piece}.delta`, { ...this.locationOf(item), ...fields })
  }

  /** Adds a citation to the latest text. */
  private annotate(annotation: Json): void {
    const item = this.items.at(-1)
    const part = isTextItem(item) ? item.parts.at(-1) : undefined
    if (!isTextItem(item) || part?.kind !== 'text') return
    const location = { ...this.locationOf(item), annotation_index: part.annotations.length }
    part.annotations.push(annotation)
    this.events.add('response.output_text.annotation.added', { ...location, annotation })
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
    this.events.add(`${part}.added`, { ...this.locationOf(item), part: presentPart(opened) })
    return item
  }

  private open(type: TextItem['type']): TextItem {
    this.closeTextItem()
    const at = this.items.length
    const id = `${type === 'message' ? 'msg' : 'rs'}_${this.options.name}${at}`
    return this.add({ type, id, at, status: 'in_progress', parts: [] })
  }

  private add<I extends Item>(item: I): I {
    this.items.push(item)
    this.events.add('response.output_item.added', {
      output_index: item.at,
      item: presentItem(item),
    })
    return item
  }

  /** Reads a call, or the next part of one. Calls may alternate and stay open until the end. */
  private addCall({ index: given, id, function: fn }: Json, position: number): void {
    const { name, arguments: delta } = recordOf(fn)
    const index = typeof given === 'number' ? given : position
    const callId = typeof id === 'string' ? id : ''
    const known = this.items.findLast(
      (item): item is CallItem => item.type === 'call' && item.index === index,
    )
    const isSame = known && (!callId || !known.callId || known.callId === callId)
    const own = typeof name === 'string' ? name : ''
    const item = isSame ? known : this.openCall(index, callId, own)
    // Some upstreams send the id or the name with a later part.
    item.callId ||= callId
    item.tool ??= this.findTool(own)
    if (typeof delta !== 'string' || delta === '') return
    item.args += delta
    this.chars += delta.length
    if (item.tool?.type === 'custom' || item.tool?.type === 'tool_search') return
    const location = { item_id: item.id, output_index: item.at }
    this.events.add('response.function_call_arguments.delta', { ...location, delta })
  }

  private openCall(index: number, callId: string, name: string): CallItem {
    this.closeTextItem()
    const at = this.items.length
    const id = `fc_${this.options.name}${at}`
    const call = { index, callId, tool: this.findTool(name), args: '' }
    return this.add({ type: 'call', id, at, status: 'in_progress', ...call })
  }

  /** Returns the tool of a function; a model may also call one that the client did not send. */
  private findTool(name: string): ClientTool | undefined {
    return name === '' ? undefined : (this.options.tools.get(name) ?? { type: 'function', name })
  }

  private closeTextItem(): void {
    const last = this.items.at(-1)
    if (isTextItem(last)) this.close(last, false)
  }

  private closePart(item: TextItem): void {
    const part = item.parts.at(-1)
    if (!part) return
    const { part: name, piece, field } = partKinds[part.kind]
    const location = this.locationOf(item)
    const done = { [field]: part.text, ...logprobsField(part.kind, part.logprobs) }
    this.events.add(`${piece}.done`, { ...location, ...done })
    this.events.add(`${name}.done`, { ...location, part: presentPart(part) })
  }

  private close(item: Item, isTruncated: boolean): void {
    if (item.status !== 'in_progress') return
    if (isTextItem(item)) this.closePart(item)
    else for (const [name, fields] of lastCallEvents(item)) this.events.add(name, fields)
    this.end(item, isTruncated ? 'incomplete' : 'completed')
    this.events.add('response.output_item.done', {
      output_index: item.at,
      item: presentItem(item),
    })
  }

  private end(item: Item, status: Item['status']): void {
    item.status = status
    // Clients never send reasoning back.
    if (item.type !== 'reasoning') this.options.onItem(presentItem(item))
  }

  /** Returns the fields that locate the current part. */
  private locationOf({ id, at, parts }: TextItem): Json {
    const last = parts.at(-1)
    const index = last ? { [partKinds[last.kind].index]: parts.length - 1 } : {}
    return { item_id: id, output_index: at, ...index }
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
      model: this.model,
      output: this.items.map(presentItem),
      ...this.options.echo,
      store: this.options.store !== undefined,
      usage: this.usage,
    }
  }
}
