import { asString, isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import type { FinalUsage } from '../conversation/codec.ts'
import { toFunctionCalls } from './functions.ts'
import {
  type ChatWriterOptions,
  type Flavor,
  hasOtherThinking,
  hasThinkingFields,
  needsRepair,
  ownHead,
  repairMessage,
  thinkingFields,
  withoutThinking,
  writeCallPieces,
  writeUsage,
} from './message.ts'
import { readUsageOf, readWholeChat } from './read.ts'
import type { StreamedThoughts } from './streamed-thoughts.ts'
import {
  blocksField,
  callDetail,
  type Detail,
  readDetails,
  textDetail,
  textOf,
  textOfThinkingPart,
  textParts,
  thinkingPart,
  writeDetails,
} from './thinking.ts'

/**
 * Returns the completion of an upstream with this API as the client knows it. Some clients require
 * `system_fingerprint`.
 */
export function passCompletion(
  response: Json,
  final: FinalUsage,
  options: ChatWriterOptions,
): Json {
  const { flavor, hasFunctions } = options
  const completion = {
    system_fingerprint: null,
    ...response,
    ...ownHead(options),
    ...(response.model !== undefined && { model: options.model }),
    ...repairChoices(response, flavor),
    usage: writeUsage(readUsageOf(response)?.own, final),
  }
  return hasFunctions ? toFunctionCalls(completion) : completion
}

function repairChoices(response: Json, flavor: Flavor): Json {
  const sent = recordsIn(response.choices)
  if (!sent.some(({ message }) => needsRepair(recordOf(message), flavor))) return {}
  const read = gather(readWholeChat(response)).choices
  const choices = sent.map((choice, at) => {
    const { index, message } = choice
    const own = read[Number.isInteger(index) ? Number(index) : at]
    return own && isRecord(message) && needsRepair(message, flavor)
      ? { ...choice, message: repairMessage(message, own, flavor) }
      : choice
  })
  return { choices }
}

/** Changes the chunks of an upstream with this API, as far as a client needs it. */
export class PassedChunks {
  /** True if the upstream has details of thoughts. */
  private hasOwnDetails = false

  constructor(
    private readonly options: ChatWriterOptions,
    private readonly thoughts: StreamedThoughts,
  ) {}

  /** Returns a chunk of an upstream as the client knows it: the same where nothing must change. */
  change(chunk: Json, events: readonly ChatEvent[]): Json {
    const { model } = this.options
    const choices = itemsOf(chunk.choices).map((choice, at) =>
      this.changeChoice(choice, at, events),
    )
    const isSame = choices.every((choice, at) => choice === itemsOf(chunk.choices)[at])
    const isRenamed = typeof chunk.model === 'string' && chunk.model !== model
    const changes: Json = {
      ...ownHead(this.options),
      ...(isRenamed && { model }),
      ...(chunk.object === 'chat.completion' && { object: 'chat.completion.chunk' }),
      ...(!isSame && { choices }),
    }
    const hasUsage = isRecord(chunk.usage)
    if (Object.keys(changes).length === 0 && !hasUsage) return chunk
    const { usage, ...others } = { ...chunk, ...changes }
    return hasUsage || usage === undefined ? others : { ...others, usage }
  }

  private changeChoice(choice: unknown, at: number, events: readonly ChatEvent[]): unknown {
    if (!isRecord(choice)) return choice
    const { message, ...others } = choice
    const isWhole = !isRecord(choice.delta) && isRecord(message)
    const index = Number.isInteger(choice.index) ? Number(choice.index) : at
    const delta = isWhole ? message : recordOf(choice.delta)
    const read = this.withThinking(this.repairDelta(delta, index, events), index, events)
    const unsigned = [
      ...(this.options.flavor === 'openrouter' ? this.thoughts.endUnsigned(index, events) : []),
      ...this.ownCallDetails(delta, index, events),
    ]
    const repaired = withDetails(this.withBlocks(read, index, events), unsigned) ?? read
    const isOld = choice.finish_reason === 'function_call'
    if (repaired === delta && !isWhole && !isOld) return choice
    return { ...others, delta: repaired, ...(isOld && { finish_reason: 'tool_calls' }) }
  }

  /** Writes thinking where the client reads it. Many know only one of its names. */
  private withThinking(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    const { flavor } = this.options
    const text = events
      .map((event) => (event.type === 'thinking' && event.choice === choice ? event.text : ''))
      .join('')
    if (flavor === 'openrouter') return this.withOwnDetails(delta, choice, events, text)
    if (flavor !== 'mistral') {
      const isThere = text === '' || hasThinkingFields(delta, flavor)
      return isThere ? delta : { ...delta, ...thinkingFields(text, flavor) }
    }
    if (!hasOtherThinking(delta)) return delta
    const signed = events.flatMap((event): Detail[] => {
      if (!('choice' in event) || event.choice !== choice) return []
      if (event.type === 'call') return callDetail(event.id, event.signature)
      return event.type === 'signature' ? [{ ...event, text: '' }] : []
    })
    const thoughts = [...(text === '' ? [] : [{ text }]), ...signed].map(thinkingPart)
    const content = [...thoughts, ...textParts(asString(delta.content))]
    return { ...withoutThinking(delta), ...(content.length > 0 && { content }) }
  }

  /** Adds details where the upstream has none, or repeats in them what the client has. */
  private withOwnDetails(
    delta: Json,
    choice: number,
    events: readonly ChatEvent[],
    text: string,
  ): Json {
    const { index } = this.thoughts.of(choice)
    const sent = readDetails({ reasoning_details: delta.reasoning_details })
    const isSame = sent.length > 0 && sent.map((detail) => detail.text).join('') === text
    const signed = events.flatMap((event) =>
      event.type === 'signature' && event.choice === choice ? [{ ...event, text: '', index }] : [],
    )
    const written = [...(text === '' ? [] : [textDetail(text, index)]), ...writeDetails(signed)]
    return {
      ...delta,
      ...thinkingFields(text, 'openrouter'),
      ...(!isSame && written.length > 0 && { reasoning_details: written }),
    }
  }

  /** Returns the details of signed calls, for OpenRouter's clients, where the upstream has none. */
  private ownCallDetails(delta: Json, choice: number, events: readonly ChatEvent[]): Json[] {
    if (recordsIn(delta.reasoning_details).length > 0) this.hasOwnDetails = true
    if (this.options.flavor !== 'openrouter' || this.hasOwnDetails) return []
    const calls = events.flatMap((event) =>
      event.type === 'call' && event.choice === choice ? [event] : [],
    )
    return this.thoughts.detailsOfCalls(calls)
  }

  /** Adds LiteLLM's form of the thoughts that end here, the only one that its clients keep. */
  private withBlocks(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    if (!events.some(({ type }) => type === 'signature')) return delta
    const thoughts = events.flatMap((event) =>
      event.type === 'signature' && event.choice === choice
        ? [{ ...event, text: this.thoughts.end(choice).text }]
        : [],
    )
    const isComplete = this.options.flavor === 'mistral' || Array.isArray(delta.thinking_blocks)
    const added = isComplete ? {} : this.thoughts.entries(choice, blocksField(thoughts))
    return Object.keys(added).length > 0 ? { ...delta, ...added } : delta
  }

  /** Returns a delta in the client's form, where a server has another one. */
  private repairDelta(delta: Json, choice: number, events: readonly ChatEvent[]): Json {
    const { content, tool_calls, function_call, ...others } = delta
    const pieces = writeCallPieces(events, choice)
    const { flavor } = this.options
    const isList = flavor !== 'mistral' && Array.isArray(content)
    const areSame = !isRecord(function_call) && areEqual(recordsIn(tool_calls), pieces)
    if (!isList && areSame) return delta
    const parts = recordsIn(content)
    const thinking = parts.map(textOfThinkingPart).join('')
    return {
      ...others,
      ...(content !== undefined && { content: isList ? textOf(parts) : content }),
      ...(isList && thinkingFields(thinking, flavor)),
      ...(areSame
        ? tool_calls !== undefined && { tool_calls }
        : pieces.length > 0 && { tool_calls: pieces }),
    }
  }
}

/** Returns a delta with details before its own. */
export function withDetails(delta: Json | undefined, details: Json[]): Json | undefined {
  if (!delta || details.length === 0) return delta
  return { ...delta, reasoning_details: [...details, ...recordsIn(delta.reasoning_details)] }
}

/** Returns whether clients read the same calls from the upstream's pieces as we did. */
const areEqual = (sent: Json[], read: Json[]): boolean =>
  sent.length === read.length &&
  sent.every((piece, at) => {
    const { index, id, function: called, provider_specific_fields: signed } = read[at] ?? {}
    const args = recordOf(piece.function).arguments
    const isText = args === undefined || args === null || typeof args === 'string'
    const isSameId = id === undefined || id === piece.id
    const isSigned = signed === undefined || isRecord(piece.provider_specific_fields)
    return isText && piece.index === index && isSameId && isSigned && isSameName(piece, called)
  })

const isSameName = (piece: Json, called: unknown): boolean => {
  const name = asString(recordOf(called).name)
  return name === '' || name === asString(recordOf(piece.function).name)
}
