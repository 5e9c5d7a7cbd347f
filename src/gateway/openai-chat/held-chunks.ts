import { itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import { writeWholeCall } from './message.ts'

/**
 * Holds back the chunk that ends a choice, from which Groq's and Mistral's clients read the usage.
 * Those of Mistral also read its calls there, each of them whole.
 */
export class HeldChunks {
  /** The steps of all calls that are held back. */
  private readonly calls: ChatEvent[] = []
  /** The choices whose calls are among the chunks. */
  private readonly written = new Set<number>()
  private readonly ending: Json[] = []

  constructor(private readonly holdsCalls: boolean) {}

  add(events: readonly ChatEvent[]): void {
    if (!this.holdsCalls) return
    this.calls.push(...events.filter(({ type }) => type === 'call' || type === 'arguments'))
  }

  /** Returns what remains of a chunk; undefined for nothing. */
  read(chunk: Json): Json | undefined {
    const choices = itemsOf(chunk.choices).map((choice) => this.readChoice(recordOf(choice)))
    const ended = choices.filter(({ finish_reason: reason }) => reason != null)
    if (ended.length > 0) this.ending.push({ ...chunk, choices: ended })
    const open = choices.filter(({ finish_reason: reason, delta }) => {
      return reason == null && !(this.holdsCalls && Object.keys(recordOf(delta)).length === 0)
    })
    return open.length > 0 || choices.length === 0 ? { ...chunk, choices: open } : undefined
  }

  /** Returns the chunks that were held back, with the calls of choices that did not end. */
  end(head: Json): Json[] {
    const choices = gather(this.calls).choices.flatMap((_, index) => {
      const delta = this.takeCalls(index)
      return Object.keys(delta).length > 0 ? [{ index, delta, finish_reason: null }] : []
    })
    return choices.length > 0 ? [...this.ending, { ...head, choices }] : this.ending
  }

  private readChoice(choice: Json): Json {
    if (!this.holdsCalls) return choice
    const { tool_calls: _, ...delta } = recordOf(choice.delta)
    const calls = choice.finish_reason == null ? {} : this.takeCalls(Number(choice.index ?? 0))
    return { ...choice, delta: { ...delta, ...calls } }
  }

  /** Returns the calls of a choice as fields of its delta, the first time. */
  private takeCalls(choice: number): Json {
    const content = this.written.has(choice) ? [] : gather(this.calls).choices[choice]?.content
    const calls = (content ?? []).flatMap((part) => (part.type === 'call' ? [part] : []))
    if (calls.length === 0) return {}
    this.written.add(choice)
    return { tool_calls: calls.map((call, index) => ({ index, ...writeWholeCall(call) })) }
  }
}
