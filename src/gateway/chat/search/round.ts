import { upstreamResponseBytesMax } from '../../../kernel/limits.ts'
import { isRecord, itemsOf, type Json, recordOf } from '../../../kernel/schema.ts'
import { parseToolCalls, type ToolCall } from './search-session.ts'
import type { Citation } from './tool.ts'

const callsMax = 1_000

/** One round of a stream that may search. Its tool calls are withheld until all have arrived. */
export class Round {
  text = ''
  private readonly callsByIndex = new Map<unknown, { id: unknown; name: string; args: string }>()
  private finishReason: unknown = null
  private isOpening: boolean

  /** `head`: the fields that all chunks share, from the first round. `before`: the text so far. */
  constructor(
    public head: Json | undefined,
    private readonly before: string,
  ) {
    this.isOpening = head === undefined
  }

  get allText(): string {
    return this.before + this.text
  }

  /** Returns the part of a chunk to forward at once; undefined for none. */
  forward(chunk: Json): Json | undefined {
    const { choices, usage: _, ...head } = chunk
    this.head ??= head
    const [choice] = itemsOf(choices)
    if (!isRecord(choice)) return undefined
    const { tool_calls, ...delta } = recordOf(choice.delta)
    for (const part of itemsOf(tool_calls)) this.addCallPart(part)
    this.finishReason = choice.finish_reason ?? this.finishReason
    if (typeof delta.content === 'string') this.text += delta.content
    if (this.text.length > upstreamResponseBytesMax)
      throw new RangeError('A search round is too long.')
    // A later round continues the message of the first, so its role is dropped.
    const { role: _role, ...more } = delta
    const forwarded = this.isOpening ? delta : more
    this.isOpening = false
    const hasContent = Object.values(forwarded).some((value) => value !== null && value !== '')
    return hasContent ? this.chunk(forwarded, { ...choice, finish_reason: null }) : undefined
  }

  private addCallPart(part: unknown): void {
    if (!isRecord(part)) return
    const { index = 0, id } = part
    const fn = recordOf(part.function)
    const call = this.callsByIndex.get(index) ?? { id, name: '', args: '' }
    if (typeof fn.name === 'string') call.name += fn.name
    if (typeof fn.arguments === 'string') call.args += fn.arguments
    if (call.args.length > upstreamResponseBytesMax || this.callsByIndex.size > callsMax) {
      throw new RangeError('A search round is too long.')
    }
    this.callsByIndex.set(index, call)
  }

  get calls(): ToolCall[] {
    const tool_calls = [...this.callsByIndex.values()].map(({ id, name, args }) => {
      return { id, type: 'function', function: { name, arguments: args } }
    })
    return parseToolCalls({ tool_calls })
  }

  /** Yields the last events: the client's tool calls, citations, the finish reason, the usage. */
  *finish(
    clientCalls: ToolCall[],
    annotations: Citation[],
    usage: Json | undefined,
  ): Generator<string> {
    const tool_calls = clientCalls.map(({ raw }, index) => ({ index, ...raw }))
    if (clientCalls.length > 0) yield this.event({ tool_calls })
    if (annotations.length > 0) yield this.event({ annotations })
    yield JSON.stringify(this.chunk({}, { finish_reason: this.finishReason }))
    if (usage) yield JSON.stringify({ ...this.head, choices: [], usage })
    yield '[DONE]'
  }

  private readonly event = (delta: Json): string =>
    JSON.stringify(this.chunk(delta, { finish_reason: null }))

  private chunk(delta: Json, choice: Json): Json {
    return { ...this.head, choices: [{ index: 0, ...choice, delta }] }
  }
}
