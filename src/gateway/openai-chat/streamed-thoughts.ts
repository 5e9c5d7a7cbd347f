import type { Json } from '../../kernel/schema.ts'
import type { CallEvent } from '../conversation/chat-event.ts'
import { portableId } from '../conversation/tools.ts'
import { callDetail, writeDetails } from './thinking.ts'

/** The thoughts of one stream so far, and the numbers of their details. */
export class StreamedThoughts {
  /** The texts and the numbers of the open thoughts, by choice. */
  private readonly open = new Map<number, { text: string; index: number }>()
  /** The entries of lists so far, by choice and field. */
  private readonly counts = new Map<string, number>()

  /** Returns the open thought, and opens the next one. */
  end(choice: number): { text: string; index: number } {
    const thought = this.of(choice)
    this.open.set(choice, { text: '', index: thought.index + 1 })
    return thought
  }

  of(choice: number): { text: string; index: number } {
    const known = this.open.get(choice) ?? { text: '', index: 0 }
    this.open.set(choice, known)
    return known
  }

  /**
   * Ends the open thought before other output, for OpenRouter's clients. Without a signature it is
   * of no known format.
   */
  endUnsigned(choice: number, events: readonly { type: string; choice?: number }[]): Json[] {
    const { text, index } = this.of(choice)
    const types = events.flatMap((event) => (event.choice === choice ? [event.type] : []))
    const isOver = types.some((type) => type !== 'thinking' && type !== 'signature')
    if (text === '' || !isOver || types.includes('signature')) return []
    this.end(choice)
    return writeDetails([{ text: '', index }])
  }

  /** Returns Google's signatures of calls as details, for OpenRouter's clients. */
  detailsOfCalls(calls: readonly CallEvent[]): Json[] {
    return calls.flatMap(({ choice, id, signature }) => {
      const [detail] = callDetail(portableId(id), signature)
      return detail ? writeDetails([{ ...detail, index: this.end(choice).index }]) : []
    })
  }

  /** Numbers the entries of further lists: OpenAI's Python SDK rejects those without an index. */
  entries(choice: number, lists: Record<string, Json[]>): Json {
    const numbered = Object.entries(lists).map(([name, list]) => {
      const key = `${choice}/${name}`
      const first = this.counts.get(key) ?? 0
      this.counts.set(key, first + list.length)
      return [name, first === 0 ? list : list.map((entry, at) => ({ ...entry, index: first + at }))]
    })
    return Object.fromEntries(numbered)
  }
}
