import { isRecord, itemsOf, recordOf } from '../../core/schema.ts'
import { recordsIn } from '../../providers/response.ts'
import type { NamespacedFunction } from './request.ts'
import { Events, type Fault } from './events.ts'
import {
  annotationsOf,
  besideText,
  type FunctionCallItem,
  isSpoken,
  type Item,
  logprobsOf,
  type PartKind,
  partKinds,
  piecesOf,
  presentItem,
  presentPart,
  type TextItem,
} from './items.ts'
import { usageOf } from './usage.ts'

type Json = Record<string, unknown>

/** What a Responses answer begins with. */
export interface Start {
  /** The fields of the request that every answer repeats. */
  echo: Json
  /** The functions that stand in a namespace, by their name in the chat. */
  spaced: Map<string, NamespacedFunction>
  /** What its ids are made of: no other answer's are the same. */
  name: string
  /** Unix seconds, where the chat tells none. */
  created: number
  /** Is given every item once it is ended. */
  keep(item: Json): void
}

/**
 * A Responses answer, written from a chat's: `read` takes its chunks, or a whole one at once, and
 * what there is to tell is taken from its `events`.
 */
export class ResponseWriter {
  /** UTF-16 code units that are kept. */
  chars = 0
  /** What there is to tell a stream. */
  readonly events = new Events()
  private readonly items: Item[] = []
  private isBegun = false
  private created = 0
  private model: unknown = null
  private usage: Json | null = null
  private isCut = false

  constructor(private readonly start: Start) {}

  /** Reads a chunk of a stream (`delta`) or a whole answer (`message`). */
  read(chunk: Json): void {
    this.begin(chunk)
    if (isRecord(chunk.usage)) this.usage = usageOf(chunk.usage)
    const [choice] = itemsOf(chunk.choices)
    if (!isRecord(choice)) return
    const held = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(held)) this.readPieces(held, logprobsOf(choice))
    if (choice.finish_reason === 'length') this.isCut = true
  }

  /** Ends the answer: completed, or incomplete when the model's tokens were spent. */
  finish(): Json {
    this.begin({})
    for (const item of this.items) this.close(item, this.isCut)
    const status = this.isCut ? 'incomplete' : 'completed'
    const incomplete_details = this.isCut ? { reason: 'max_output_tokens' } : null
    const response = { ...this.response(status), incomplete_details }
    this.events.tell(`response.${status}`, { response })
    return response
  }

  /** Ends the answer with what went wrong. */
  fail({ code, message }: Fault): void {
    this.begin({})
    this.leave()
    this.events.tell('error', { code, message, param: null })
    const response = { ...this.response('failed'), error: { code, message } }
    this.events.tell('response.failed', { response })
  }

  /** Ends what is being written, where nothing more comes: its client has it so far, too. */
  leave(): void {
    for (const item of this.items) if (item.status === 'in_progress') this.end(item, 'incomplete')
  }

  private begin({ created, model }: Json): void {
    if (this.isBegun) return
    this.isBegun = true
    this.created = typeof created === 'number' ? created : this.start.created
    this.model = model ?? null
    this.events.tell('response.created', { response: this.response('in_progress') })
    this.events.tell('response.in_progress', { response: this.response('in_progress') })
  }

  private readPieces(held: Json, logprobs: Json[]): void {
    for (const [kind, piece] of piecesOf(held)) if (piece !== '') this.say(kind, piece, logprobs)
    for (const annotation of annotationsOf(held)) this.annotate(annotation)
    for (const [place, call] of recordsIn(held.tool_calls).entries()) this.call(call, place)
  }

  private say(kind: PartKind, delta: string, logprobs: Json[]): void {
    const item = this.spoken(kind)
    const part = item.parts.at(-1)
    if (!part) return
    part.text += delta
    this.chars += delta.length
    part.logprobs.push(...logprobs)
    if (logprobs.length > 0) this.chars += JSON.stringify(logprobs).length
    const said = { delta, ...besideText(kind, logprobs) }
    this.events.tell(`${partKinds[kind].piece}.delta`, { ...this.placeOf(item), ...said })
  }

  /** A page belongs to the words that were said last. */
  private annotate(annotation: Json): void {
    const item = this.items.at(-1)
    const part = isSpoken(item) ? item.parts.at(-1) : undefined
    if (!isSpoken(item) || part?.kind !== 'text') return
    const where = { ...this.placeOf(item), annotation_index: part.annotations.length }
    part.annotations.push(annotation)
    this.events.tell('response.output_text.annotation.added', { ...where, annotation })
  }

  /** The item that is being written, opened where another was. */
  private spoken(kind: PartKind): TextItem {
    const { item: type, part } = partKinds[kind]
    const last = this.items.at(-1)
    const isOpen = isSpoken(last) && last.type === type && last.status === 'in_progress'
    const item = isOpen ? last : this.open(type)
    if (item.parts.at(-1)?.kind === kind) return item
    this.closePart(item)
    const opened = { kind, text: '', annotations: [], logprobs: [] }
    item.parts.push(opened)
    this.events.tell(`${part}.added`, { ...this.placeOf(item), part: presentPart(opened) })
    return item
  }

  private open(type: TextItem['type']): TextItem {
    this.closeSpoken()
    const at = this.items.length
    const id = `${type === 'message' ? 'msg' : 'rs'}_${this.start.name}${at}`
    return this.add({ type, id, at, status: 'in_progress', parts: [] })
  }

  private add<I extends Item>(item: I): I {
    this.items.push(item)
    this.events.tell('response.output_item.added', {
      output_index: item.at,
      item: presentItem(item),
    })
    return item
  }

  /** Reads a call, or the next piece of one; calls may come in turns, and stay open to the end. */
  private call({ index: told, id, function: called }: Json, place: number): void {
    const { name, arguments: delta } = recordOf(called)
    const index = typeof told === 'number' ? told : place
    const callId = typeof id === 'string' ? id : ''
    const known = this.items.findLast(
      (item): item is FunctionCallItem => item.type === 'function_call' && item.index === index,
    )
    const isSame = known && (!callId || !known.callId || known.callId === callId)
    const own = typeof name === 'string' ? name : ''
    const item = isSame ? known : this.openCall(index, callId, own)
    // Some upstreams tell either with a later piece.
    item.callId ||= callId
    if (item.name === '') Object.assign(item, this.calledBy(own))
    if (typeof delta !== 'string' || delta === '') return
    item.sent += delta
    this.chars += delta.length
    const where = { item_id: item.id, output_index: item.at }
    this.events.tell('response.function_call_arguments.delta', { ...where, delta })
  }

  private openCall(index: number, callId: string, name: string): FunctionCallItem {
    this.closeSpoken()
    const at = this.items.length
    const id = `fc_${this.start.name}${at}`
    const call = { index, callId, ...this.calledBy(name), sent: '' }
    return this.add({ type: 'function_call', id, at, status: 'in_progress', ...call })
  }

  private calledBy(name: string): Partial<NamespacedFunction> & { name: string } {
    return this.start.spaced.get(name) ?? { name }
  }

  private closeSpoken(): void {
    const last = this.items.at(-1)
    if (isSpoken(last)) this.close(last, false)
  }

  private closePart(item: TextItem): void {
    const part = item.parts.at(-1)
    if (!part) return
    const { part: name, piece, field } = partKinds[part.kind]
    const where = this.placeOf(item)
    const done = { [field]: part.text, ...besideText(part.kind, part.logprobs) }
    this.events.tell(`${piece}.done`, { ...where, ...done })
    this.events.tell(`${name}.done`, { ...where, part: presentPart(part) })
  }

  private close(item: Item, isCut: boolean): void {
    if (item.status !== 'in_progress') return
    if (item.type === 'function_call') {
      const { id: item_id, at: output_index, name, sent } = item
      const call = { item_id, output_index, name, arguments: sent }
      this.events.tell('response.function_call_arguments.done', call)
    } else this.closePart(item)
    this.end(item, isCut ? 'incomplete' : 'completed')
    this.events.tell('response.output_item.done', {
      output_index: item.at,
      item: presentItem(item),
    })
  }

  private end(item: Item, status: Item['status']): void {
    item.status = status
    // What it thought is never read again.
    if (item.type !== 'reasoning') this.start.keep(presentItem(item))
  }

  /** Where the part that is being written stands. */
  private placeOf({ id, at, parts }: TextItem): Json {
    const last = parts.at(-1)
    const index = last ? { [partKinds[last.kind].index]: parts.length - 1 } : {}
    return { item_id: id, output_index: at, ...index }
  }

  private response(status: string): Json {
    return {
      id: `resp_${this.start.name}`,
      object: 'response',
      created_at: this.created,
      // A chat tells no other moment, and what is given again is the same.
      completed_at: status === 'completed' ? this.created : null,
      status,
      error: null,
      incomplete_details: null,
      model: this.model,
      output: this.items.map(presentItem),
      ...this.start.echo,
      usage: this.usage,
    }
  }
}
