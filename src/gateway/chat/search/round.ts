import { isRecord, itemsOf, recordOf } from '../../../core/schema.ts'
import { upstreamAnswerBytesMax } from '../../../limits.ts'
import type { Citation } from './citations.ts'
import { type Called, callsOf } from './searching.ts'

type Json = Record<string, unknown>

const callsMax = 1_000

/** One round of a stream that may search: its calls are kept back until all are there. */
export class Round {
  /** What this round said. */
  said = ''
  private readonly byIndex = new Map<unknown, { id: unknown; name: string; written: string }>()
  private finish: unknown = null
  private isOpening: boolean

  /** `head`: what is the same in every chunk, from the first round on; `before`: what was said. */
  constructor(
    public head: Json | undefined,
    private readonly before: string,
  ) {
    this.isOpening = head === undefined
  }

  /** All that was said until now. */
  get text(): string {
    return this.before + this.said
  }

  /** What of a chunk goes on at once; undefined when nothing does. */
  pass(chunk: Json): Json | undefined {
    const { choices, usage: _, ...head } = chunk
    this.head ??= head
    const [choice] = itemsOf(choices)
    if (!isRecord(choice)) return undefined
    const { tool_calls, ...delta } = recordOf(choice.delta)
    for (const part of itemsOf(tool_calls)) this.keep(part)
    this.finish = choice.finish_reason ?? this.finish
    if (typeof delta.content === 'string') this.said += delta.content
    if (this.said.length > upstreamAnswerBytesMax) throw new RangeError('a round is too long')
    // A later round goes on with the message that the first began.
    const { role: _role, ...more } = delta
    const on = this.isOpening ? delta : more
    this.isOpening = false
    const isNews = Object.values(on).some((value) => value !== null && value !== '')
    return isNews ? this.chunk(on, { ...choice, finish_reason: null }) : undefined
  }

  private keep(part: unknown): void {
    if (!isRecord(part)) return
    const { index = 0, id } = part
    const called = recordOf(part.function)
    const kept = this.byIndex.get(index) ?? { id, name: '', written: '' }
    if (typeof called.name === 'string') kept.name += called.name
    if (typeof called.arguments === 'string') kept.written += called.arguments
    if (kept.written.length > upstreamAnswerBytesMax || this.byIndex.size > callsMax) {
      throw new RangeError('a round is too long')
    }
    this.byIndex.set(index, kept)
  }

  /** The calls of this round, whole. */
  get calls(): Called[] {
    const tool_calls = [...this.byIndex.values()].map(({ id, name, written }) => {
      return { id, type: 'function', function: { name, arguments: written } }
    })
    return callsOf({ tool_calls })
  }

  /** The last events: the client's own calls, the pages, how it finished, the usage. */
  *ending(theirs: Called[], annotations: Citation[], usage: Json | undefined): Generator<string> {
    const tool_calls = theirs.map(({ raw }, index) => ({ index, ...raw }))
    if (theirs.length > 0) yield this.event({ tool_calls })
    if (annotations.length > 0) yield this.event({ annotations })
    yield JSON.stringify(this.chunk({}, { finish_reason: this.finish }))
    if (usage) yield JSON.stringify({ ...this.head, choices: [], usage })
    yield '[DONE]'
  }

  private readonly event = (delta: Json): string =>
    JSON.stringify(this.chunk(delta, { finish_reason: null }))

  private chunk(delta: Json, choice: Json): Json {
    return { ...this.head, choices: [{ index: 0, ...choice, delta }] }
  }
}
