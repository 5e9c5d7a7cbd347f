import { newId } from '../../../kernel/ids.ts'
import { asString, type Json, parseRecord, recordOf, recordsIn } from '../../../kernel/schema.ts'
import type { ConnectRequest, SocketListener, UpstreamSocket } from '../upstream.ts'
import { countTokens, splitTokens } from './tokens.ts'

const outputTokensMax = 1_000
/** Items of a conversation. The oldest ones are forgotten, as with a window. */
const itemsMax = 100
const noText = 'I was told no words.'

/** A session of the demo model in this process: it repeats the last text, as `demo/chat` does. */
export class DemoRealtime implements UpstreamSocket {
  readonly bufferedAmount = 0
  private listener: SocketListener | undefined
  private readonly session: Json
  private items: { role: string; text: string }[] = []
  /** Tokens of the conversation that an earlier response has read. */
  private known = 0
  private isOpen = true

  constructor({ model }: ConnectRequest) {
    this.session = {
      type: 'realtime',
      object: 'realtime.session',
      id: `sess_${newId()}`,
      model,
      output_modalities: ['text'],
      instructions: '',
      tools: [],
    }
  }

  listen(listener: SocketListener): void {
    this.listener = listener
    this.emit('session.created', { session: this.session })
  }

  /** Nothing waits: each event is answered at once. */
  pause(): void {}
  resume(): void {}

  close(): void {
    this.isOpen = false
  }

  send(text: string): void {
    const event = parseRecord(text) ?? {}
    const { type, event_id } = event
    if (type === 'session.update') this.update(event)
    else if (type === 'conversation.item.create') this.addItem(event.item)
    else if (type === 'response.create') this.respond(recordOf(event.response))
    else {
      const message = `The demo model has no event ${asString(type)}.`
      const error = { type: 'invalid_request_error', code: 'unknown_event', message, param: null }
      this.emit('error', { error: { ...error, event_id: event_id ?? null } })
    }
  }

  private emit(type: string, fields: Json): void {
    if (!this.isOpen) return
    this.listener?.message(JSON.stringify({ type, event_id: `event_${newId()}`, ...fields }))
  }

  private update({ session }: Json): void {
    Object.assign(this.session, session)
    this.emit('session.updated', { session: this.session })
  }

  private addItem(sent: unknown): void {
    const fields = recordOf(sent)
    const text = recordsIn(fields.content)
      .map((part) => asString(part.text))
      .join('\n')
    this.items.push({ role: asString(fields.role) || 'user', text })
    this.items = this.items.slice(-itemsMax)
    this.emitItem({
      id: `item_${newId()}`,
      object: 'realtime.item',
      status: 'completed',
      ...fields,
    })
  }

  private emitItem(item: Json): void {
    this.emit('conversation.item.added', { item })
    this.emit('conversation.item.done', { item })
  }

  private respond(options: Json): void {
    const id = `resp_${newId()}`
    const item_id = `item_${newId()}`
    const place = { response_id: id, item_id, output_index: 0, content_index: 0 }
    const instructions = asString(options.instructions ?? this.session.instructions)
    const last = this.items.findLast(({ role }) => role === 'user')
    const parts = splitTokens(last?.text || noText, outputTokensMax)
    const text = parts.join('')
    const usage = this.measure(instructions, parts.length)
    const response = { id, object: 'realtime.response', output_modalities: ['text'] }
    this.emit('response.created', { response: { ...response, status: 'in_progress', output: [] } })
    for (const delta of parts) this.emit('response.output_text.delta', { ...place, delta })
    this.emit('response.output_text.done', { ...place, text })
    const content = [{ type: 'output_text', text }]
    const item = { id: item_id, object: 'realtime.item', type: 'message', role: 'assistant' }
    const done = { ...item, status: 'completed', content }
    this.items.push({ role: 'assistant', text })
    this.emit('response.output_item.done', { response_id: id, output_index: 0, item: done })
    this.emitItem(done)
    const ended = { ...response, status: 'completed', output: [done], usage }
    this.emit('response.done', { response: ended })
  }

  /** Counts the conversation. What an earlier response has read counts as cached. */
  private measure(instructions: string, output: number) {
    const read = this.items.reduce((sum, { text }) => sum + countTokens(text), 0)
    const input = read + countTokens(instructions)
    const cached = Math.min(this.known, input)
    this.known = input
    return {
      total_tokens: input + output,
      input_tokens: input,
      output_tokens: output,
      input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: cached },
      output_token_details: { text_tokens: output, audio_tokens: 0 },
    }
  }
}
