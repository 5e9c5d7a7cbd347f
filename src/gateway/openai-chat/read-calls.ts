import { asString, isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import { callIdOf } from '../conversation/tools.ts'
import { callSignatureOf } from './thinking.ts'

/** A part of a tool call: all of it, or the next piece of a stream. */
interface CallPiece {
  index: number | undefined
  /** Empty where the piece has none. */
  id: string
  name: string
  text: string
  isCustom: boolean
  signature: string | undefined
}

interface KnownCall {
  index: number | undefined
  /** The id that the upstream sent; empty for none. */
  sentId: string
  name: string
  /** The arguments so far. */
  text: string
  isCustom: boolean
  signature: string | undefined
  /** Its number within the choice, once its name is known. */
  number?: number
}

/**
 * Tells the tool calls of one choice apart. Servers leave out the index or the id, send several
 * calls at one index, or the name after the arguments.
 */
export class CallReader {
  private readonly calls: KnownCall[] = []
  private readonly ids = new Set<string>()
  private started = 0

  constructor(private readonly choice: number) {}

  /** Reads an item of `tool_calls`, or a `function_call`. `signatures`: those of known ids. */
  read(call: Json, signatures?: Map<string, string>): ChatEvent[] {
    const piece = pieceOf(call)
    piece.signature ??= signatures?.get(piece.id)
    const known = this.find(piece)
    if (!known) {
      const { id: sentId, ...first } = piece
      this.calls.push({ ...first, sentId })
      return this.start(this.calls.at(-1), piece.text)
    }
    known.text += piece.text
    known.sentId ||= piece.id
    if (known.number === undefined) {
      known.name ||= piece.name
      known.signature ??= piece.signature
      return this.start(known, known.text)
    }
    const late = piece.signature !== undefined && known.signature === undefined
    known.signature ??= piece.signature
    return [
      ...this.argumentsOf(known, piece.text),
      ...(late ? [this.lateSignature(known, piece.signature ?? '')] : []),
    ]
  }

  /** Ends the choice: a call without arguments has an empty object. */
  end(): ChatEvent[] {
    return this.calls.flatMap((call) => {
      const start = call.number === undefined && call.text !== '' ? this.begin(call, call.text) : []
      if (call.number === undefined || call.text !== '' || call.isCustom) return start
      call.text = '{}'
      return [...start, ...this.argumentsOf(call, call.text)]
    })
  }

  private find({ index, id, name, text }: CallPiece): KnownCall | undefined {
    const last =
      index === undefined ? this.calls.at(-1) : this.calls.findLast((call) => call.index === index)
    if (index === undefined && id !== '') return this.calls.findLast(({ sentId }) => sentId === id)
    if (!last) return undefined
    if (id !== '' && last.sentId !== '' && last.sentId !== id) return undefined
    // A name begins a call, except where a server repeats it with each piece.
    const isRepeated = last.name === name && (text === '' || !isComplete(last.text))
    const isNext = name !== '' && last.name !== '' && id === '' && !isRepeated
    return isNext ? undefined : last
  }

  private start(call: KnownCall | undefined, text: string): ChatEvent[] {
    return call && call.name !== '' ? this.begin(call, text) : []
  }

  private begin(call: KnownCall, text: string): ChatEvent[] {
    const { name, isCustom, signature } = call
    call.number = this.started
    this.started += 1
    const start: ChatEvent = {
      type: 'call',
      choice: this.choice,
      call: call.number,
      id: this.idOf(call),
      name,
      ...(isCustom && { isCustom }),
      ...(signature !== undefined && { signature }),
    }
    return [start, ...this.argumentsOf(call, text)]
  }

  private argumentsOf({ number: call = 0 }: KnownCall, text: string): ChatEvent[] {
    return text === '' ? [] : [{ type: 'arguments', choice: this.choice, call, text }]
  }

  /** Returns the upstream's id, or one of our own where it has none or has used it before. */
  private idOf({ sentId }: KnownCall): string {
    const id = callIdOf(this.ids.has(sentId) ? '' : sentId)
    this.ids.add(id)
    return id
  }

  private lateSignature({ sentId: id }: KnownCall, signature: string): ChatEvent {
    const seal = { signature, isEncrypted: true, origin: 'gemini' as const }
    return { type: 'signature', choice: this.choice, ...seal, ...(id !== '' && { id }) }
  }
}

function pieceOf(call: Json): CallPiece {
  const { index, id, type, custom } = call
  const isCustom = type === 'custom' || isRecord(custom)
  // A `function_call` has the fields of the function itself.
  const called = recordOf(isCustom ? custom : (call.function ?? call))
  const args = isCustom ? called.input : called.arguments
  return {
    index: readIndex(index),
    id: asString(id),
    name: asString(called.name),
    text: isRecord(args) ? JSON.stringify(args) : asString(args),
    isCustom,
    signature: callSignatureOf(call),
  }
}

/** Reads an index, which some servers send as text. */
export const readIndex = (index: unknown): number | undefined =>
  typeof index === 'number' || (typeof index === 'string' && /^\d+$/.test(index))
    ? Number(index)
    : undefined

function isComplete(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
