import { asString, isRecord, type Json, lookUp, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type ChatEvent,
  citationEvents,
  type EndReason,
  startEvent,
  usageEvents,
} from '../conversation/chat-event.ts'
import type { StreamReader } from '../conversation/codec.ts'
import { JsonReader } from '../conversation/json-reader.ts'
import { parseSeal } from '../conversation/sealed-thought.ts'
import { callIdOf } from '../conversation/tools.ts'
import { CountReader, type ReportedUsage, reportOf, sumCacheWrites } from '../models/usage.ts'
import { toStreamError } from '../providers/error-body.ts'
import { responseTool } from './output-format.ts'

const choice = 0

/** Reads a whole message of an upstream. */
export function readWhole(response: Json): ChatEvent[] {
  if (isRecord(response.error)) return [readError(response.error)]
  const { id, content, usage } = response
  const message = new MessageSteps()
  const steps = recordsIn(content).flatMap((block, index) => [
    ...message.start(index, block),
    ...recordsIn(block.citations).flatMap(readCitation),
    ...message.stop(index),
  ])
  return [
    startEvent(id),
    ...steps,
    message.end(response),
    ...usageEvents(readUsage(recordOf(usage))),
    { type: 'done' },
  ]
}

export const createReader = (): StreamReader => new MessageReader()

/** Reads the events of one stream. Anthropic reports its usage in two of them. */
class MessageReader extends JsonReader {
  private readonly message = new MessageSteps()
  private usage: Json = {}
  private hasFailed = false

  readJson(event: Json): ChatEvent[] {
    if (isRecord(event.error)) {
      this.hasFailed = true
      return [readError(event.error)]
    }
    return this.hasFailed ? [] : this.readEvent(event)
  }

  private readEvent(event: Json): ChatEvent[] {
    const index = Number(event.index ?? 0)
    switch (event.type) {
      case 'message_start':
        return this.readStart(recordOf(event.message))
      case 'content_block_start':
        return this.message.start(index, recordOf(event.content_block))
      case 'content_block_delta':
        return this.message.read(index, recordOf(event.delta))
      case 'content_block_stop':
        return this.message.stop(index)
      case 'message_delta':
        return this.readDelta(event)
      case 'message_stop': {
        const end: ChatEvent[] = this.message.isEnded ? [] : [this.message.end({})]
        return [...end, { type: 'done' }]
      }
      default:
        return []
    }
  }

  private readStart({ id, usage }: Json): ChatEvent[] {
    // The output of this report is the first tokens only.
    const { output_tokens: _, ...input } = recordOf(usage)
    this.usage = input
    return [startEvent(id), ...usageEvents(readUsage(input))]
  }

  /** Reads a report of the whole message. A count of 0 or null does not replace an earlier one. */
  private readDelta({ delta, usage }: Json): ChatEvent[] {
    const counts = Object.entries(recordOf(usage)).filter(
      ([name, value]) => value !== null && (value !== 0 || this.usage[name] === undefined),
    )
    this.usage = { ...this.usage, ...Object.fromEntries(counts) }
    const end = recordOf(delta)
    const steps = end.stop_reason == null ? [] : [this.message.end(end)]
    return [...steps, ...(counts.length > 0 ? usageEvents(readUsage(this.usage)) : [])]
  }
}

/** A block of a message. `call` is the number of a tool call; -1 for the tool of the response. */
interface Block {
  type: unknown
  call?: number
  /** The input of a call, where it came whole. */
  input: unknown
  hasArguments: boolean
}

const ofResponse = -1

/** Converts the blocks of one message to steps. */
class MessageSteps {
  isEnded = false
  private readonly blocks = new Map<number, Block>()
  private calls = 0

  /** Starts a block. The text of a whole one is in it already. */
  start(index: number, block: Json): ChatEvent[] {
    const { type, id, name, input, data } = block
    const open: Block = { type, input, hasArguments: false }
    this.blocks.set(index, open)
    if (type === 'text' || type === 'thinking') return this.read(index, block)
    if (type === 'redacted_thinking' && typeof data === 'string') {
      return [{ type: 'signature', choice, signature: data, isEncrypted: true, origin: 'messages' }]
    }
    // Tools that run at the provider are not for the client.
    if (type !== 'tool_use') return []
    if (name === responseTool) {
      open.call = ofResponse
      return []
    }
    const call = this.calls
    this.calls += 1
    open.call = call
    return [{ type: 'call', choice, call, id: callIdOf(id), name: asString(name) }]
  }

  /** Reads a delta of a block, or the fields of a whole one. */
  read(index: number, delta: Json): ChatEvent[] {
    const { text, thinking, signature, partial_json: json, citation } = delta
    const block = this.blocks.get(index)
    if (typeof json === 'string' && json !== '') return block ? addArguments(block, json) : []
    const steps: ChatEvent[] = []
    if (typeof text === 'string' && text) steps.push({ type: 'text', choice, text })
    if (typeof thinking === 'string' && thinking) {
      steps.push({ type: 'thinking', choice, text: thinking })
    }
    // Another server of this kind seals a thought without a signature.
    if (typeof signature === 'string' && parseSeal(signature, 'messages').signature) {
      steps.push({ type: 'signature', choice, signature, origin: 'messages' })
    }
    return isRecord(citation) ? [...steps, ...readCitation(citation)] : steps
  }

  stop(index: number): ChatEvent[] {
    const block = this.blocks.get(index)
    this.blocks.delete(index)
    if (!block || block.call === undefined || block.hasArguments) return []
    return addArguments(block, JSON.stringify(block.input ?? {}))
  }

  end({ stop_reason, stop_sequence }: Json): ChatEvent {
    this.isEnded = true
    const reason = lookUp(endReasons, stop_reason) ?? (this.calls > 0 ? 'calls' : 'stop')
    const stop = typeof stop_sequence === 'string' ? { stop: stop_sequence } : {}
    return { type: 'end', choice, reason, ...stop }
  }
}

/** The other reasons are an end by itself, or by a call. */
const endReasons: Record<string, EndReason> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
}

function addArguments(block: Block, text: string): ChatEvent[] {
  if (block.call === undefined) return []
  block.hasArguments = true
  return block.call === ofResponse
    ? [{ type: 'text', choice, text }]
    : [{ type: 'arguments', choice, call: block.call, text }]
}

/** Reads a citation of a web page. Others have no address. */
const readCitation = ({ url, source, title, cited_text: content }: Json): ChatEvent[] =>
  citationEvents(choice, { url: url || source, title, content })

/** Statuses of Anthropic's errors, which an event does not have. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  billing_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
}

function readError({ type, message, code }: Json): ChatEvent {
  const error = toStreamError({
    message: asString(message) || 'The request failed.',
    text: `${asString(type)} ${asString(message)}`,
    type: asString(type) || 'api_error',
    code,
    status: lookUp(statuses, type) ?? 502,
  })
  return { type: 'error', error }
}

/** Iterations that are charged at the price of the model. */
const ownIterations = ['message', 'compaction']

/**
 * Reads a usage of Anthropic, whose input_tokens exclude the cache. Undefined without counts, so
 * that the gateway counts itself.
 */
function readUsage(usage: Json): ReportedUsage | undefined {
  const reader = new CountReader()
  const { input, output } = sumIterations(usage, reader)
  // Some servers with this API report OpenAI's names.
  if (input === undefined && output === undefined) return reportOf(usage)
  const cached = reader.count(usage.cache_read_input_tokens)
  const cacheWrite =
    reader.count(usage.cache_creation_input_tokens) ?? sumCacheWrites(usage.cache_creation, reader)
  return {
    prompt: input === undefined ? undefined : input + (cached ?? 0) + (cacheWrite ?? 0),
    cached,
    cacheWrite,
    completion: output,
    reasoning: reader.count(recordOf(usage.output_tokens_details).thinking_tokens),
    isCorrected: reader.isCorrected,
  }
}

/** Returns the tokens of all rounds of a message. The totals exclude those that compact it. */
function sumIterations(
  { input_tokens, output_tokens, iterations }: Json,
  reader: CountReader,
): { input?: number | undefined; output?: number | undefined } {
  const all = recordsIn(iterations)
  const own = all.filter(({ type }) => ownIterations.includes(asString(type)))
  // The totals are those of the model that responded instead.
  const isReplaced = all.some(({ type }) => type === 'fallback_message')
  if (own.length === 0 || isReplaced) {
    return { input: reader.count(input_tokens), output: reader.count(output_tokens) }
  }
  return {
    input: reader.sum(...own.map((round) => round.input_tokens)),
    output: reader.sum(...own.map((round) => round.output_tokens)),
  }
}
