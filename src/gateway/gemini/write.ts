import { type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type CallEvent,
  type ChatEvent,
  type ChatResponse,
  type Choice,
  type EndReason,
  eventsOfChoice,
  type SignatureEvent,
} from '../conversation/chat-event.ts'
import type { ThinkingPart } from '../conversation/chat-request.ts'
import type { ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { parseArguments, portableId } from '../conversation/tools.ts'
import { eventOf, noBytes, type StreamEvent } from '../events.ts'
import { chargedUsage } from '../models/usage.ts'
import { toGeminiError } from './client-api.ts'
import { signatureOf } from './thought-signature.ts'

/** The parts of a response that do not come from the model. */
export interface GenerateOptions {
  responseId: string
  /** The id of the model that the client asked for. */
  model: string
  /** True if the client wants the text of the reasoning. */
  showsThoughts: boolean
}

/** Creates Google's Gemini API as that of a client. */
export const createGeminiClient = (options: GenerateOptions): ClientCodec => ({
  createWriter: () => new GenerateWriter(options),
  encode: (response, final) => encodeResponse(response, final, options),
  pass: (response, final) => passResponse(response, final, options),
})

/** Returns Google's own response with its cost in USD, which no other field carries. */
const passResponse = (response: Json, { cost }: FinalUsage, { model }: GenerateOptions): Json => ({
  ...response,
  ...(response.modelVersion !== undefined && { modelVersion: model }),
  usageMetadata: chargedUsage(response.usageMetadata, cost),
})

const noChoice: Choice = { content: [], citations: [], logprobs: [] }

function encodeResponse(
  { choices }: ChatResponse,
  final: FinalUsage,
  options: GenerateOptions,
): Json {
  const candidates = (choices.length > 0 ? choices : [noChoice]).map((choice, index) => {
    const writer = new CandidateWriter(index, { ...options, isStream: false })
    const parts = writer.write([...eventsOfChoice(choice, index)])
    return writer.end(parts)
  })
  return { candidates, ...headOf(options), usageMetadata: usageOf(final) }
}

const headOf = ({ model, responseId }: GenerateOptions): Json => ({
  modelVersion: model,
  responseId,
})

const finishReasons: Partial<Record<EndReason, string>> = {
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
}

/** Returns the probabilities of tokens, which are in OpenAI's format. */
function logprobsOf(logprobs: readonly Json[]): Json {
  if (logprobs.length === 0) return {}
  const tops = logprobs.map(({ top_logprobs }) => ({
    candidates: recordsIn(top_logprobs).map(toCandidate),
  }))
  const topCandidates = tops.some(({ candidates }) => candidates.length > 0) && {
    topCandidates: tops,
  }
  return { logprobsResult: { chosenCandidates: logprobs.map(toCandidate), ...topCandidates } }
}

const toCandidate = ({ token, logprob }: Json): Json => ({ token, logProbability: logprob })

/** Returns the usage, with its cost in USD if known. Google counts thoughts separately. */
function usageOf({ usage, cost }: FinalUsage): Json {
  const { prompt, completion, reasoning, cached } = usage
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, completion - reasoning),
    totalTokenCount: prompt + completion,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(cost !== undefined && { cost }),
  }
}

interface CandidateOptions {
  showsThoughts: boolean
  isStream: boolean
}

/** Writes one choice. */
class CandidateWriter {
  private readonly parts: PartWriter
  private readonly citations: Json[] = []
  private logprobs: Json[] = []
  private reason: EndReason | undefined

  constructor(
    private readonly index: number,
    { showsThoughts, isStream }: CandidateOptions,
  ) {
    this.parts = new PartWriter(showsThoughts, isStream)
  }

  /** Returns the parts of the next steps. */
  write(events: readonly ChatEvent[]): Json[] {
    for (const event of events) {
      if (event.type === 'end') this.reason = event.reason
      if (event.type === 'text') this.logprobs.push(...(event.logprobs ?? []))
      if (event.type === 'citation') {
        this.citations.push({ web: { uri: event.citation.url, title: event.citation.title } })
      }
    }
    return this.parts.writeAll(events)
  }

  takePending(): Json[] {
    return this.parts.takePending()
  }

  /** Returns the candidate with some parts, and the probabilities up to them. */
  present(parts: Json[]): Json {
    const logprobs = logprobsOf(this.logprobs)
    this.logprobs = []
    return { content: { role: 'model', parts }, index: this.index, ...logprobs }
  }

  /** Returns the last candidate, with the calls and the reason of the end. */
  end(parts: Json[] = []): Json {
    const { citations, reason } = this
    return {
      ...this.present([...parts, ...this.parts.end()]),
      finishReason: (reason && finishReasons[reason]) ?? 'STOP',
      ...(citations.length > 0 && { groundingMetadata: { groundingChunks: citations } }),
    }
  }
}

interface OpenCall {
  id: string
  name: string
  args: string
  signature: string | undefined
}

/**
 * Writes the parts of one choice. In a stream it keeps back the last character of a text: Google's
 * SDKs drop the turn from the history of a chat if its last response has no text. They also read
 * the arguments of a call from one part, so calls follow at the end.
 */
class PartWriter {
  private readonly open: OpenCall[] = []
  /** The text that waits for the next one, or for the end. */
  private pending = ''
  /** The text of a thought without its signature so far. */
  private thought = ''
  /** Thoughts that return with the next call: clients drop a part with nothing but a signature. */
  private hidden: ThinkingPart[] = []

  constructor(
    private readonly showsThoughts: boolean,
    private readonly isStream: boolean,
  ) {}

  writeAll(events: readonly ChatEvent[]): Json[] {
    return events.flatMap((event) => this.write(event))
  }

  /** Returns the last parts, at least one. */
  end(): Json[] {
    const parts = [...this.takePending(), ...this.open.map(toFunctionCall)]
    return parts.length > 0 ? parts : [{ text: '' }]
  }

  takePending(): Json[] {
    const text = this.pending
    this.pending = ''
    return text ? [{ text }] : []
  }

  private write(event: ChatEvent): Json[] {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return this.addText(event.text)
      case 'thinking':
        this.thought += event.text
        if (!this.showsThoughts || event.text === '') return []
        return [...this.takePending(), { text: event.text, thought: true }]
      case 'signature':
        return this.sign(event)
      case 'call':
        this.addCall(event)
        return []
      case 'arguments': {
        const call = this.open[event.call]
        if (call) call.args += event.text
        return []
      }
      default:
        return []
    }
  }

  /** Adds a text, and returns the parts before what waits. It never splits a surrogate pair. */
  private addText(text: string): Json[] {
    if (text === '') return []
    this.endThought()
    const all = this.pending + text
    const last = all.charCodeAt(all.length - 1)
    const isPair = last >= 0xdc_00 && last <= 0xdf_ff
    const at = this.isStream ? Math.max(0, all.length - (isPair ? 2 : 1)) : 0
    this.pending = all.slice(at)
    return at > 0 ? [{ text: all.slice(0, at) }] : []
  }

  /** Writes a signature: Google's own with its part, others so that the client sends them back. */
  private sign({ signature, origin, isEncrypted = false, id }: SignatureEvent): Json[] {
    const text = this.thought
    this.thought = ''
    if (origin === 'gemini') {
      if (text && this.showsThoughts)
        return [{ text: '', thought: true, thoughtSignature: signature }]
      const [pending = { text: '' }] = this.takePending()
      return [{ ...pending, thoughtSignature: signature }]
    }
    const thought: ThinkingPart = {
      type: 'thinking',
      text,
      signature,
      isEncrypted,
      origin,
      ...(id !== undefined && { id }),
    }
    this.hidden.push(thought)
    if (!this.showsThoughts) return []
    const thoughtSignature = signatureOf([{ ...thought, text: '' }])
    return [...this.takePending(), { text: '', thought: true, thoughtSignature }]
  }

  /** Ends a thought without a signature. */
  private endThought(): void {
    const text = this.thought
    this.thought = ''
    if (text && !this.showsThoughts) this.hidden.push({ type: 'thinking', text })
  }

  private addCall({ id, name, signature }: CallEvent): void {
    this.endThought()
    const foreign = this.hidden.length > 0 ? signatureOf(this.hidden) : undefined
    if (signature === undefined) this.hidden = []
    this.open.push({ id: portableId(id), name, args: '', signature: signature ?? foreign })
  }
}

/** Returns a call as a part. Arguments that are no JSON object are shown to the client as text. */
function toFunctionCall({ id, name, args: text, signature }: OpenCall): Json {
  const args = parseArguments(text)
  return {
    functionCall: { id, name, args },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

const encoder = new TextEncoder()
const dataPrefix = 'data: '

/** The candidate of a response behind one that was passed on with its end. */
const emptyCandidate = { content: { role: 'model', parts: [{ text: '' }] }, index: 0 }

/** Writes the responses of a stream. */
class GenerateWriter implements StreamWriter {
  /** The writers of the choices, by their number. */
  private readonly candidates = new Map<number, CandidateWriter>()
  private isPassed = false
  /** True if a heartbeat has begun the line of the next event. */
  private isLineOpen = false

  constructor(private readonly options: GenerateOptions) {}

  write(events: readonly ChatEvent[]): Uint8Array {
    const byChoice = Map.groupBy(events.filter(isOfChoice), ({ choice }) => choice)
    const candidates = [...byChoice].flatMap(([choice, own]) => {
      const writer = this.candidateOf(choice)
      const parts = writer.write(own)
      return parts.length > 0 ? [writer.present(parts)] : []
    })
    return candidates.length === 0 ? noBytes : this.encode(this.response(candidates))
  }

  /** Returns an event of Google with the client's model. SDKs of Google reject comments. */
  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    this.isPassed = true
    const response = jsonOf(own, events)
    if (!response) return undefined
    const { model } = this.options
    const { modelVersion, usageMetadata } = response
    const isRenamed = typeof modelVersion === 'string' && modelVersion !== model
    const hasCost = recordOf(usageMetadata).cost !== undefined
    if (!isRenamed && !hasCost && !this.isLineOpen) return own
    const changed = {
      ...response,
      ...(isRenamed && { modelVersion: model }),
      ...(hasCost && { usageMetadata: chargedUsage(usageMetadata) }),
    }
    return eventOf(this.encode(changed))
  }

  /**
   * Returns the start of the next event's line, or a space in it, which JSON ignores. SDKs of
   * Google reject comments, and drop the history of a chat for any event without text.
   */
  beat(): Uint8Array {
    const text = this.isLineOpen ? ' ' : dataPrefix
    this.isLineOpen = true
    return encoder.encode(text)
  }

  /** Returns the last response, with the calls, the reason of the end and the usage. */
  end(final: FinalUsage): Uint8Array {
    if (this.isPassed && !this.isLineOpen) return noBytes
    this.candidateOf(0)
    const writers = [...this.candidates].toSorted(([a], [b]) => a - b)
    const candidates = this.isPassed ? [emptyCandidate] : writers.map(([, writer]) => writer.end())
    return this.encode({ ...this.response(candidates), usageMetadata: usageOf(final) })
  }

  fail(error: Json): Uint8Array {
    const pending = [...this.candidates.values()].flatMap((writer) => {
      const parts = writer.takePending()
      return parts.length > 0 ? [writer.present(parts)] : []
    })
    const text = pending.length === 0 ? noBytes : this.encode(this.response(pending))
    return Buffer.concat([text, this.encode(toGeminiError({ error }, 502))])
  }

  private candidateOf(choice: number): CandidateWriter {
    const { showsThoughts } = this.options
    const known = this.candidates.get(choice)
    const writer = known ?? new CandidateWriter(choice, { showsThoughts, isStream: true })
    this.candidates.set(choice, writer)
    return writer
  }

  private response(candidates: Json[]): Json {
    return { candidates, ...headOf(this.options) }
  }

  private encode(response: Json): Uint8Array {
    const prefix = this.isLineOpen ? '' : dataPrefix
    this.isLineOpen = false
    return encoder.encode(`${prefix}${JSON.stringify(response)}\n\n`)
  }
}

type ChoiceEvent = Extract<ChatEvent, { choice: number }>
const isOfChoice = (event: ChatEvent): event is ChoiceEvent => 'choice' in event
