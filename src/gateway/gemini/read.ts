import { asString, isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type ChatEvent,
  citationEvents,
  type EndReason,
  startEvent,
  usageEvents,
} from '../conversation/chat-event.ts'
import { JsonReader } from '../conversation/json-reader.ts'
import { callIdOf } from '../conversation/tools.ts'
import { CountReader, type ReportedUsage } from '../models/usage.ts'
import { toStreamError } from '../providers/error-body.ts'

/**
 * The function that models call with their JSON output, where Google does not take an output format
 * beside functions. Its arguments are text.
 */
export const jsonTool = 'berth_json_output'

/** Reads a whole response of Google's Gemini API. One without a reason of its end is whole, too. */
export function readWhole(response: Json): ChatEvent[] {
  const reader = new GenerateReader()
  const events = reader.readJson(response)
  if (events.some(({ type }) => type === 'error')) return events
  return [...events, { type: 'done' }]
}

/** The output of one choice so far. */
interface ChoiceState {
  calls: number
  isEnded: boolean
  /** The pages of a search. */
  urls: Set<string>
}

/** Reads the responses of one stream. It is whole after a reason of its end. */
export class GenerateReader extends JsonReader {
  private readonly choices = new Map<number, ChoiceState>()
  private isStarted = false
  private hasFailed = false

  override end(): ChatEvent[] {
    const isWhole = [...this.choices.values()].some(({ isEnded }) => isEnded)
    return isWhole && !this.hasFailed ? [{ type: 'done' }] : []
  }

  readJson(response: Json): ChatEvent[] {
    const { candidates, promptFeedback, usageMetadata, error } = response
    const usage = usageEvents(readUsageMetadata(usageMetadata))
    if (this.hasFailed) return usage
    if (isRecord(error)) {
      this.hasFailed = true
      return [...usage, { type: 'error', error: errorOf(error) }]
    }
    const found = recordsIn(candidates)
    const isBlocked = found.length === 0 && isBlockReason(recordOf(promptFeedback).blockReason)
    return [
      ...this.start(response),
      ...found.flatMap((candidate) => this.readCandidate(candidate)),
      ...(isBlocked ? this.finish(0, 'filtered') : []),
      ...usage,
    ]
  }

  private start({ responseId, createTime }: Json): ChatEvent[] {
    if (this.isStarted) return []
    this.isStarted = true
    return [startEvent(responseId, Math.floor(Date.parse(asString(createTime)) / 1_000))]
  }

  private readCandidate(candidate: Json): ChatEvent[] {
    const choice = typeof candidate.index === 'number' ? candidate.index : 0
    const events = recordsIn(recordOf(candidate.content).parts).flatMap((part) =>
      this.readPart(choice, part),
    )
    addLogprobs(events, choice, candidate.logprobsResult)
    const hasCalls = this.stateOf(choice).calls > 0
    const reason = reasonOf(candidate.finishReason, hasCalls)
    return [
      ...events,
      ...this.readGrounding(choice, candidate.groundingMetadata),
      ...(reason ? this.finish(choice, reason) : []),
    ]
  }

  private stateOf(choice: number): ChoiceState {
    const known = this.choices.get(choice)
    if (known) return known
    const state = { calls: 0, isEnded: false, urls: new Set<string>() }
    this.choices.set(choice, state)
    return state
  }

  private finish(choice: number, reason: EndReason): ChatEvent[] {
    const state = this.stateOf(choice)
    if (state.isEnded) return []
    state.isEnded = true
    return [{ type: 'end', choice, reason }]
  }

  private readPart(choice: number, part: Json): ChatEvent[] {
    const { functionCall, text, inlineData, thought, thoughtSignature } = part
    const signature = asString(thoughtSignature)
    if (isRecord(functionCall)) return this.readCall(choice, functionCall, signature)
    const { mimeType, data } = recordOf(inlineData)
    if (asString(mimeType).startsWith('audio/')) {
      return [{ type: 'audio', choice, text: asString(data) }]
    }
    const written = asString(text)
    return [
      ...(written ? [textEvent(choice, written, thought === true)] : []),
      ...signatureEvents(choice, signature),
    ]
  }

  private readCall(choice: number, called: Json, signature: string): ChatEvent[] {
    const { id, name, args } = called
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    if (name === jsonTool) {
      return [textEvent(choice, text, false), ...signatureEvents(choice, signature)]
    }
    const state = this.stateOf(choice)
    const call = state.calls
    state.calls += 1
    const start = {
      type: 'call' as const,
      choice,
      call,
      id: callIdOf(id),
      name: asString(name),
      ...(signature && { signature }),
    }
    return [start, { type: 'arguments', choice, call, text: text || '{}' }]
  }

  /** Returns the pages of a search. A stream repeats them. */
  private readGrounding(choice: number, metadata: unknown): ChatEvent[] {
    const { urls } = this.stateOf(choice)
    return recordsIn(recordOf(metadata).groundingChunks).flatMap(({ web }) => {
      const { uri, title } = recordOf(web)
      if (typeof uri !== 'string' || urls.has(uri)) return []
      urls.add(uri)
      return citationEvents(choice, { url: uri, title })
    })
  }
}

const textEvent = (choice: number, text: string, isThought: boolean): ChatEvent => ({
  type: isThought ? 'thinking' : 'text',
  choice,
  text,
})

const signatureEvents = (choice: number, signature: string): ChatEvent[] =>
  signature ? [{ type: 'signature', choice, signature, origin: 'gemini' }] : []

/** Returns an error of Google in OpenAI's format, with its HTTP status. */
function errorOf(error: Json): Json {
  const { code, message, status } = error
  return toStreamError({
    message: asString(message) || asString(status) || 'The request failed.',
    text: JSON.stringify(error),
    status: typeof code === 'number' ? code : 502,
  })
}

const isBlockReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason !== 'BLOCK_REASON_UNSPECIFIED'

/** Reasons by which Google blocks a response under its content rules. */
const filtered = /^((IMAGE_)?(SAFETY|RECITATION|PROHIBITED_CONTENT)|BLOCKLIST|SPII|OTHER_SAFETY)$/

/**
 * Returns the reason of an end; undefined before it. A malformed call, and all others, end an
 * output that has nothing more to come.
 */
function reasonOf(reason: unknown, hasCalls: boolean): EndReason | undefined {
  if (typeof reason !== 'string' || reason === 'FINISH_REASON_UNSPECIFIED') return undefined
  if (filtered.test(reason)) return 'filtered'
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length'
  return hasCalls ? 'calls' : 'stop'
}

/** Adds the probabilities of the tokens to the last text of a candidate. */
function addLogprobs(events: ChatEvent[], choice: number, result: unknown): void {
  const { chosenCandidates, topCandidates } = recordOf(result)
  const tops = itemsOf(topCandidates)
  const logprobs = recordsIn(chosenCandidates).map((chosen, at) => ({
    ...logprobOf(chosen),
    top_logprobs: recordsIn(recordOf(tops[at]).candidates).map(logprobOf),
  }))
  if (logprobs.length === 0) return
  const last = events.findLast((event) => event.type === 'text')
  if (last) last.logprobs = logprobs
  else events.push({ type: 'text', choice, text: '', logprobs })
}

/** Returns the probability of a token in OpenAI's format. */
const logprobOf = ({ token, logProbability }: Json): Json => ({
  token: asString(token),
  logprob: logProbability,
  bytes: [...Buffer.from(asString(token))],
})

/** Reads a usage. Google counts thoughts, and the prompts of its own tools, separately. */
function readUsageMetadata(metadata: unknown): ReportedUsage | undefined {
  const usage = recordOf(metadata)
  const reader = new CountReader()
  const prompt = reader.sum(usage.promptTokenCount, usage.toolUsePromptTokenCount)
  const completion = reader.sum(usage.candidatesTokenCount, usage.thoughtsTokenCount)
  const total = reader.count(usage.totalTokenCount)
  if (prompt === undefined && completion === undefined && total === undefined) return undefined
  const inputDetails = [
    ...itemsOf(usage.promptTokensDetails),
    ...itemsOf(usage.toolUsePromptTokensDetails),
  ]
  return {
    prompt,
    completion,
    total,
    cached: reader.count(usage.cachedContentTokenCount),
    audio: audioIn(inputDetails, reader),
    audioCached: audioIn(usage.cacheTokensDetails, reader),
    reasoning: reader.count(usage.thoughtsTokenCount),
    audioCompletion: audioIn(usage.candidatesTokensDetails, reader),
    isCorrected: reader.isCorrected,
  }
}

const audioIn = (details: unknown, reader: CountReader): number | undefined =>
  reader.sum(
    ...recordsIn(details).flatMap(({ modality, tokenCount }) =>
      modality === 'AUDIO' ? [tokenCount] : [],
    ),
  )
