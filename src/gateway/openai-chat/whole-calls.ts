import { asString, isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'

/**
 * Gathers the pieces of tool calls, for clients that read each call from one chunk. It holds back
 * the chunk that ends a choice, where these clients look for the usage.
 */
export class WholeCalls {
  /** The calls by the index of their choice. */
  private readonly calls = new Map<unknown, Json[]>()
  private readonly ending: Json[] = []

  /** Returns what remains of a chunk; undefined for nothing. */
  read(chunk: Json): Json | undefined {
    const choices = itemsOf(chunk.choices).map((choice) => this.readChoice(recordOf(choice)))
    const ended = choices.filter(({ finish_reason: reason }) => reason != null)
    if (ended.length > 0) this.ending.push({ ...chunk, choices: ended })
    const open = choices.filter(({ finish_reason: reason, delta }) => {
      return reason == null && Object.keys(recordOf(delta)).length > 0
    })
    return open.length > 0 || choices.length === 0 ? { ...chunk, choices: open } : undefined
  }

  /** Returns the chunks that were held back, with the calls of choices that did not end. */
  end(head: Json): Json[] {
    const choices = [...this.calls].map(([index, tool_calls]) => ({
      index,
      delta: { tool_calls },
      finish_reason: null,
    }))
    return choices.length > 0 ? [...this.ending, { ...head, choices }] : this.ending
  }

  private readChoice(choice: Json): Json {
    const { tool_calls: pieces, ...delta } = recordOf(choice.delta)
    for (const piece of recordsIn(pieces)) this.add(choice.index, piece)
    const calls = this.calls.get(choice.index)
    if (!calls || choice.finish_reason == null) return { ...choice, delta }
    this.calls.delete(choice.index)
    return { ...choice, delta: { ...delta, tool_calls: calls } }
  }

  /** Adds a piece. The writer has numbered the calls, so that pieces of a call have its index. */
  private add(choice: unknown, piece: Json): void {
    const calls = this.calls.get(choice) ?? []
    this.calls.set(choice, calls)
    const known = calls.find((call) => call.index === piece.index)
    if (!known) return void calls.push(piece)
    const [name, field] = isRecord(known.custom) ? ['custom', 'input'] : ['function', 'arguments']
    const called = recordOf(known[name])
    const more = asString(recordOf(piece[name])[field])
    known[name] = { ...called, [field]: asString(called[field]) + more }
  }
}
