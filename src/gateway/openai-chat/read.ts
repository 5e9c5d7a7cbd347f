/** One file, because whole responses and streams have the same choices and calls. */
import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  lookUp,
  recordOf,
  recordsIn,
} from '../../kernel/schema.ts'
import {
  type ChatEvent,
  citationEvents,
  type EndReason,
  startEvent,
  usageEvents,
} from '../conversation/chat-event.ts'
import type { StreamReader } from '../conversation/codec.ts'
import { JsonReader } from '../conversation/json-reader.ts'
import { callIdOf } from '../conversation/tools.ts'
import { CountReader, type ReportedUsage, reportOf } from '../models/usage.ts'
import {
  callSignatureOf,
  type Detail,
  readDetails,
  readThinkingPart,
  thinkingTextOf,
} from './thinking.ts'

/** Reads a whole `chat.completion`. */
export function readWholeChat(response: Json): ChatEvent[] {
  const reader = new ChatReader()
  const events = reader.readJson(response)
  if (events.some(({ type }) => type === 'error')) return events
  return [...events, ...reader.closeChoices(), { type: 'done' }]
}

/** Creates the reader of a stream of chunks. Some servers send a whole completion as an event. */
export const createChatReader = (): StreamReader => new ChatReader()

class ChatReader extends JsonReader {
  private isStarted = false
  private isOver = false
  private hasPages = false
  private readonly choices = new Map<number, ChoiceReader>()

  readJson(chunk: Json): ChatEvent[] {
    const error = errorOf(chunk)
    const reported = usageEvents(readUsageOf(chunk))
    if (this.isOver) return reported
    if (error) {
      this.isOver = true
      const own = isRecord(error) ? error : { message: asString(error) }
      return [...reported, { type: 'error', error: own }]
    }
    const events = this.readHead(chunk)
    for (const [at, choice] of itemsOf(chunk.choices).entries()) {
      if (isRecord(choice)) events.push(...this.readChoice(choice, at))
    }
    if (chunk.search_results || chunk.citations) events.push(...this.readPages(chunk))
    events.push(...reported)
    return events
  }

  closeChoices(): ChatEvent[] {
    return [...this.choices.values()].flatMap((choice) => choice.close())
  }

  /** Only this ends a stream. */
  protected override readDone(): ChatEvent[] {
    if (this.isOver) return []
    this.isOver = true
    return [...this.closeChoices(), { type: 'done' }]
  }

  private readHead(chunk: Json): ChatEvent[] {
    if (this.isStarted || !Array.isArray(chunk.choices)) return []
    this.isStarted = true
    const extra: Json = {}
    for (const name of headFields) if (chunk[name] != null) extra[name] = chunk[name]
    const hasExtra = Object.keys(extra).length > 0
    return [{ ...startEvent(chunk.id, chunk.created), ...(hasExtra && { extra }) }]
  }

  private readChoice(choice: Json, at: number): ChatEvent[] {
    // Two choices without an index are those of a whole completion.
    const index = Number.isInteger(choice.index) ? Number(choice.index) : at
    const known = this.choices.get(index) ?? new ChoiceReader(index)
    this.choices.set(index, known)
    return known.read(choice)
  }

  /** Reads Perplexity's pages, which each chunk repeats. */
  private readPages({ search_results: results, citations }: Json): ChatEvent[] {
    if (this.hasPages) return []
    const pages = recordsIn(results).flatMap(({ url, title }) => citationEvents(0, { url, title }))
    const urls = itemsOf(citations).flatMap((url) => citationEvents(0, { url }))
    const found = pages.length > 0 ? pages : urls
    this.hasPages = found.length > 0
    return found
  }
}

/** Returns the error of a response, or of a chunk. OpenRouter may have it in a choice. */
const errorOf = ({ error, x_groq, choices }: Json): unknown =>
  error ??
  recordOf(x_groq).error ??
  itemsOf(choices)
    .map((choice) => recordOf(choice).error)
    .find(isRecord)

/** Fields of OpenAI's head, and of its relatives, for clients of this API. */
const headFields = ['system_fingerprint', 'service_tier', 'provider']

const endReasons: Record<string, EndReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filtered',
  max_tokens: 'length',
  model_length: 'length', // Mistral
}

/** Reads the deltas, or the message, of one choice. */
class ChoiceReader {
  private readonly calls: CallReader
  /** The thinking since the last signature. */
  private thought = ''
  /** Google's signatures by the ids of calls that follow. */
  private readonly signatures = new Map<string, string>()

  constructor(private readonly choice: number) {
    this.calls = new CallReader(choice)
  }

  read(choice: Json): ChatEvent[] {
    const delta = isRecord(choice.delta) ? choice.delta : numberCalls(recordOf(choice.message))
    const events = this.readThinking(delta)
    events.push(...this.readContent(delta.content))
    // Nearly all deltas have only text.
    if (delta.refusal) events.push(...this.textOf('refusal', asString(delta.refusal)))
    if (delta.audio) events.push(...this.readAudio(delta.audio))
    if (delta.annotations) events.push(...this.readCitations(delta.annotations))
    if (delta.tool_calls || delta.function_call) events.push(...this.readCalls(delta))
    if (choice.logprobs) this.addLogprobs(events, recordsIn(recordOf(choice.logprobs).content))
    events.push(...this.readEnd(choice))
    return events
  }

  /** Returns what is left at the end of the response. */
  close(): ChatEvent[] {
    const unused = [...this.signatures].map(([id, signature]): ChatEvent => {
      const seal = { signature, isEncrypted: true, origin: 'gemini' as const, id }
      return { type: 'signature', choice: this.choice, ...seal }
    })
    this.signatures.clear()
    return [...unused, ...this.calls.end()]
  }

  private textOf(type: 'text' | 'refusal' | 'thinking', text: string): ChatEvent[] {
    if (text === '') return []
    if (type === 'thinking') this.thought += text
    return [{ type, choice: this.choice, text }]
  }

  /** Upstreams send the same text as `reasoning` and in `reasoning_details`. */
  private readThinking(delta: Json): ChatEvent[] {
    const { reasoning, reasoning_content, reasoning_details, thinking_blocks } = delta
    if (!reasoning && !reasoning_content && !reasoning_details && !thinking_blocks) return []
    const text = thinkingTextOf(delta)
    const details = readDetails(delta)
    const detailed = details.map((detail) => detail.text).join('')
    const isKnown = detailed === '' || (text === '' && detailed === this.thought)
    const isWhole = details.some((detail) => detail.text !== '' && detail.signature !== undefined)
    if (!isKnown && (text === '' || text === detailed || isWhole)) {
      return details.flatMap((detail) => [
        ...this.textOf('thinking', detail.text),
        ...this.readSignature(detail),
      ])
    }
    return [
      ...this.textOf('thinking', text),
      ...details.flatMap((detail) => this.readSignature(detail)),
    ]
  }

  private readSignature({ signature, isEncrypted, origin = 'chat', id }: Detail): ChatEvent[] {
    if (signature === undefined) return []
    if (origin === 'gemini' && isEncrypted && id !== undefined) {
      this.signatures.set(id, signature)
      return []
    }
    this.thought = ''
    const more = { ...(isEncrypted && { isEncrypted }), ...(id !== undefined && { id }) }
    return [{ type: 'signature', choice: this.choice, signature, origin, ...more }]
  }

  private readContent(content: unknown): ChatEvent[] {
    if (typeof content === 'string') return this.textOf('text', content)
    return recordsIn(content).flatMap((part) => {
      if (part.type === 'thinking') {
        const thought = readThinkingPart(part)
        return [...this.textOf('thinking', thought.text), ...this.readSignature(thought)]
      }
      if (part.type === 'refusal') return this.textOf('refusal', asString(part.refusal))
      return this.textOf('text', asString(part.text))
    })
  }

  private readAudio(audio: unknown): ChatEvent[] {
    const { transcript, data } = recordOf(audio)
    return [transcript, data].flatMap((text): ChatEvent[] =>
      typeof text === 'string' && text !== '' ? [{ type: 'audio', choice: this.choice, text }] : [],
    )
  }

  private readCitations(annotations: unknown): ChatEvent[] {
    return recordsIn(annotations).flatMap(({ url_citation: cited }) => {
      const { url, title, content, start_index: start, end_index: end } = recordOf(cited)
      return citationEvents(this.choice, { url, title, content, start, end })
    })
  }

  private readCalls({ tool_calls, function_call }: Json): ChatEvent[] {
    const calls = recordsIn(tool_calls)
    const all =
      calls.length === 0 && isRecord(function_call) ? [{ ...function_call, index: 0 }] : calls
    return all.flatMap((call) => {
      const events = this.calls.read(call, this.signatures)
      this.signatures.delete(asString(call.id))
      return events
    })
  }

  private addLogprobs(events: ChatEvent[], logprobs: Json[]): void {
    if (logprobs.length === 0) return
    const text = events.find((event) => event.type === 'text')
    if (text) text.logprobs = logprobs
    else events.push({ type: 'text', choice: this.choice, text: '', logprobs })
  }

  private readEnd({ finish_reason, stop_reason }: Json): ChatEvent[] {
    if (finish_reason === undefined || finish_reason === null || finish_reason === '') return []
    const reason = lookUp(endReasons, finish_reason) ?? 'stop'
    // vLLM's stop sequence. Other servers repeat the reason here.
    const isStop = reason === 'stop' && typeof stop_reason === 'string' && stop_reason !== 'stop'
    return [
      ...this.close(),
      { type: 'end', choice: this.choice, reason, ...(isStop && { stop: stop_reason }) },
    ]
  }
}

/** Numbers the calls of a message, whose ids may be equal, unless their indices differ. */
function numberCalls(message: Json): Json {
  if (!Array.isArray(message.tool_calls)) return message
  const calls = recordsIn(message.tool_calls)
  const indices = new Set(calls.map((call) => readIndex(call.index)))
  // Some servers stream messages in place of deltas: an index is that of a call's next piece.
  if (indices.size === calls.length && !indices.has(undefined)) return message
  return { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) }
}

/** Reads the usage of a response or a chunk from every published place. */
export function readUsageOf(chunk: Json): ReportedUsage | undefined {
  const own = reportOf(chunk.usage)
  if (own) return own
  // Moonshot's and Groq's places.
  for (const { usage } of [...recordsIn(chunk.choices), recordOf(chunk.x_groq)]) {
    const found = reportOf(usage)
    if (found) return found
  }
  return readTimings(chunk.timings) ?? readCounts(chunk)
}

/** Reads the counts of llama.cpp. Its `prompt_n` excludes the tokens of the cache. */
function readTimings(timings: unknown): ReportedUsage | undefined {
  if (!isRecord(timings)) return undefined
  const reader = new CountReader()
  const cached = reader.count(timings.cache_n)
  const prompt = reader.sum(timings.prompt_n, timings.cache_n)
  return ownReport({ prompt, cached, completion: reader.count(timings.predicted_n) }, reader)
}

/** Reads the counts of Ollama. */
function readCounts({ prompt_eval_count, eval_count }: Json): ReportedUsage | undefined {
  const reader = new CountReader()
  const prompt = reader.count(prompt_eval_count)
  return ownReport({ prompt, completion: reader.count(eval_count) }, reader)
}

function ownReport(
  counts: Pick<ReportedUsage, 'prompt' | 'cached' | 'completion'>,
  { isCorrected }: CountReader,
): ReportedUsage | undefined {
  const isEmpty = counts.prompt === undefined && counts.completion === undefined
  return isEmpty ? undefined : { ...counts, isCorrected }
}

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
class CallReader {
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
const readIndex = (index: unknown): number | undefined =>
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
