import { isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import type {
  CallEvent,
  ChatEvent,
  Choice,
  Citation,
  EndReason,
  OutputPart,
} from '../conversation/chat-event.ts'
import type { FinalUsage } from '../conversation/codec.ts'
import { portableId } from '../conversation/tools.ts'
import { chargedUsage, type Usage } from '../models/usage.ts'
import {
  blocksField,
  callDetail,
  callSignatureOf,
  type Detail,
  extraContentOf,
  numbered,
  readDetails,
  textOf,
  textParts,
  thinkingPart,
  thinkingTextOf,
  writeDetails,
} from './thinking.ts'

/**
 * The client's API: OpenAI's; Groq's, whose clients know thinking by another name, and the usage of
 * streams in another place; one with both names, for the AI SDK, whose whole requests do not say of
 * which provider they are; OpenRouter's, which has more fields for it, and usage in every stream;
 * or Mistral's, whose clients read thinking from the content, each tool call from one chunk, and
 * the usage of every stream from its last chunk.
 */
export type Flavor = 'openai' | 'groq' | 'ai-sdk' | 'openrouter' | 'mistral'

/** The fields of a message in which clients read the text of thinking. */
const thinkingNames: Record<Flavor, readonly string[]> = {
  openai: ['reasoning_content'],
  groq: ['reasoning'],
  'ai-sdk': ['reasoning_content', 'reasoning'],
  openrouter: ['reasoning_content', 'reasoning'],
  mistral: [],
}

/** Returns the text of thinking in the fields of a client. */
export const thinkingFields = (text: string, flavor: Flavor): Json =>
  text === '' ? {} : Object.fromEntries(thinkingNames[flavor].map((name) => [name, text]))

/** Returns whether a message, or a delta, has thinking in all fields of a client. */
export const hasThinkingFields = (message: Json, flavor: Flavor): boolean =>
  thinkingNames[flavor].every((name) => textOf(message[name]) !== '')

/** The options of a client of the chat API. */
export interface ChatWriterOptions {
  /** The id of the model that the client asked for. */
  model: string
  /** The id of a response that has none. OpenRouter's clients get it for every response. */
  id: string
  /** The name of the upstream, for OpenRouter's clients. */
  provider?: string
  /** Unix seconds. */
  created: number
  /** True if a stream ends with the usage. */
  wantsUsage: boolean
  /** True if the client knows functions but no tools. */
  hasFunctions?: boolean
  flavor: Flavor
}

/** Returns the fields that OpenRouter's clients get for every response. */
export const ownHead = ({ flavor, id, provider }: ChatWriterOptions): Json =>
  flavor === 'openrouter' ? { id, ...(provider !== undefined && { provider }) } : {}

export const finishReasons: Record<EndReason, string> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filtered: 'content_filter',
}

/** Returns a usage in OpenAI's fields. `own`: that of an upstream, with fields that it keeps. */
const presentUsage = (usage: Usage, own: Json = {}): Json => ({
  ...own,
  prompt_tokens: usage.prompt,
  completion_tokens: usage.completion,
  total_tokens: usage.prompt + usage.completion,
  prompt_tokens_details: {
    ...recordOf(own.prompt_tokens_details),
    cached_tokens: usage.cached,
    cache_write_tokens: usage.cacheWrite,
    audio_tokens: usage.audio,
  },
  completion_tokens_details: {
    ...recordOf(own.completion_tokens_details),
    reasoning_tokens: usage.reasoning,
  },
})

/** Returns whether a usage of an upstream has the charged counts where clients look for them. */
function hasCounts(own: Json, usage: Usage): boolean {
  const { cached_tokens = 0, cache_write_tokens = 0 } = recordOf(own.prompt_tokens_details)
  const { reasoning_tokens = 0 } = recordOf(own.completion_tokens_details)
  return (
    own.prompt_tokens === usage.prompt &&
    own.completion_tokens === usage.completion &&
    cached_tokens === usage.cached &&
    cache_write_tokens === usage.cacheWrite &&
    reasoning_tokens === usage.reasoning
  )
}

/**
 * Returns the usage for the client, with `cost` in USD where it gets it. `own`: that of an upstream
 * with this API, whose further fields it keeps. It has the charged counts where the reported ones
 * were missing, elsewhere, wrong, or of one round only, and never the upstream's own cost.
 */
export const writeUsage = (own: Json | undefined, { usage, cost }: FinalUsage): Json =>
  chargedUsage(own && hasCounts(own, usage) ? own : presentUsage(usage, own), cost)

export const writeCitation = ({ url, title, content, start, end }: Citation): Json => ({
  type: 'url_citation',
  url_citation: {
    url,
    title,
    ...(content !== undefined && { content }),
    ...(start !== undefined && { start_index: start }),
    ...(end !== undefined && { end_index: end }),
  },
})

type Call = Pick<CallEvent, 'id' | 'name' | 'isCustom' | 'signature'> & { arguments: string }

/** Writes a tool call, or the first piece of one. LiteLLM has a place of its own for signatures. */
export const writeCall = ({ id, name, isCustom, signature, arguments: text }: Call): Json => ({
  id: portableId(id),
  ...(isCustom
    ? { type: 'custom', custom: { name, input: text } }
    : { type: 'function', function: { name, arguments: text } }),
  ...extraContentOf(signature),
  ...(signature !== undefined && { provider_specific_fields: { thought_signature: signature } }),
})

/** Writes the pieces of tool calls among the events of a choice, each call once. */
export function writeCallPieces(events: readonly ChatEvent[], choice: number): Json[] {
  const texts = new Map<number, string>()
  const starts = new Map<number, CallEvent>()
  for (const event of events) {
    if (event.type !== 'call' && event.type !== 'arguments') continue
    if (event.choice !== choice) continue
    const text = event.type === 'arguments' ? event.text : ''
    texts.set(event.call, (texts.get(event.call) ?? '') + text)
    if (event.type === 'call') starts.set(event.call, event)
  }
  return [...texts].map(([index, text]) => {
    const start = starts.get(index)
    return start
      ? { index, ...writeCall({ ...start, arguments: text }), id: start.id }
      : { index, function: { arguments: text } }
  })
}

type PartOf<T extends OutputPart['type']> = Extract<OutputPart, { type: T }>

const partsOf = <T extends OutputPart['type']>({ content }: Choice, ...types: T[]): PartOf<T>[] =>
  content.filter((part): part is PartOf<T> => types.some((type) => type === part.type))

const textIn = (parts: { text: string }[]): string | null =>
  parts.length > 0 ? parts.map(({ text }) => text).join('') : null

/** Writes the choice of a whole completion. */
export function writeChoice(choice: Choice, index: number, flavor: Flavor): Json {
  const calls = partsOf(choice, 'call')
  const annotations = choice.citations.map(writeCitation)
  return {
    index,
    message: {
      role: 'assistant',
      content: writeContent(choice, flavor),
      refusal: textIn(partsOf(choice, 'refusal')),
      ...writeThinking(choice, flavor),
      ...(calls.length > 0 && { tool_calls: calls.map(writeWholeCall) }),
      ...(annotations.length > 0 && { annotations }),
    },
    logprobs: choice.logprobs.length > 0 ? { content: choice.logprobs, refusal: null } : null,
    finish_reason: finishReasons[choice.reason ?? (calls.length > 0 ? 'calls' : 'stop')],
  }
}

function writeContent(choice: Choice, flavor: Flavor): string | Json[] | null {
  const text = textIn(partsOf(choice, 'text'))
  if (flavor !== 'mistral') return text
  const signed = partsOf(choice, 'call').flatMap(({ id, signature }) => callDetail(id, signature))
  const thoughts: Detail[] = [...partsOf(choice, 'thinking'), ...signed]
  return thoughts.length > 0 ? [...thoughts.map(thinkingPart), ...textParts(text ?? '')] : text
}

export const writeWholeCall = (call: PartOf<'call'>): Json =>
  writeCall({ ...call, arguments: call.arguments || (call.isCustom ? '' : '{}') })

function writeThinking(choice: Choice, flavor: Flavor): Json {
  if (flavor === 'mistral') return {}
  const thoughts = partsOf(choice, 'thinking')
  const text = thoughts.map((thought) => thought.text).join('')
  const isOpenRouter = flavor === 'openrouter'
  const written = isOpenRouter ? thoughts : thoughts.filter((part) => part.signature !== undefined)
  const signed = isOpenRouter ? partsOf(choice, 'call') : []
  const details: Detail[] = [
    ...written,
    ...signed.flatMap(({ id, signature }) => callDetail(portableId(id), signature)),
  ]
  return {
    ...thinkingFields(text, flavor),
    // LiteLLM's clients send only these back.
    ...blocksField(thoughts),
    ...(details.length > 0 && {
      reasoning_details: writeDetails(numbered(details)),
    }),
  }
}

/** Returns whether clients could not read a message, or would miss a field of their API. */
export const needsRepair = (message: Json, flavor: Flavor): boolean =>
  flavor === 'openrouter' ||
  hasForeignContent(message, flavor) ||
  hasBrokenCall(message) ||
  lacksBlocks(message, flavor)

/** Returns whether a message has signed thoughts in another form than that of LiteLLM only. */
const lacksBlocks = (message: Json, flavor: Flavor): boolean =>
  flavor !== 'mistral' &&
  message.thinking_blocks === undefined &&
  readDetails(message).some(({ origin, signature }) => origin === 'messages' && signature)

/** Returns whether a client looks elsewhere for the thinking of a message. */
const hasForeignContent = (message: Json, flavor: Flavor): boolean =>
  flavor === 'mistral'
    ? hasOtherThinking(message)
    : Array.isArray(message.content) ||
      (thinkingTextOf(message) !== '' && !hasThinkingFields(message, flavor))

/** Returns whether a message, or a delta, has thinking where Mistral's clients do not look. */
export const hasOtherThinking = (message: Json): boolean =>
  thinkingTextOf(message) !== '' ||
  readDetails(message).length > 0 ||
  recordsIn(message.tool_calls).some((call) => callSignatureOf(call) !== undefined)

/**
 * Returns the message of an upstream with this API as clients read it: `content` is a list for
 * those of Mistral only, and every call has an id and its arguments as text. `read` is what was
 * read from it.
 */
export function repairMessage(message: Json, read: Choice, flavor: Flavor): Json {
  const { function_call: _, ...own } = message
  const isForeign = hasForeignContent(message, flavor)
  const { content, ...rest } = isForeign && flavor === 'mistral' ? withoutThinking(own) : own
  const hasThinking =
    flavor !== 'mistral' && (flavor === 'openrouter' || isForeign || lacksBlocks(message, flavor))
  return {
    ...rest,
    ...(content !== undefined && { content: isForeign ? writeContent(read, flavor) : content }),
    ...(hasThinking && { ...writeThinking(read, flavor), ...ownDetails(rest) }),
    ...(hasBrokenCall(message) && { tool_calls: partsOf(read, 'call').map(writeWholeCall) }),
  }
}

const ofThinking = ['reasoning', 'reasoning_content', 'reasoning_details', 'thinking_blocks']
export const withoutThinking = (message: Json): Json =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !ofThinking.includes(name)))

/** The upstream's own details have more fields than ours. */
const ownDetails = ({ reasoning_details: details }: Json): Json =>
  recordsIn(details).length > 0 ? { reasoning_details: details } : {}

function hasBrokenCall({ tool_calls, function_call }: Json): boolean {
  const calls = recordsIn(tool_calls)
  const ids = new Set(calls.map(({ id }) => id))
  return isRecord(function_call) || ids.size < calls.length || calls.some(isBrokenCall)
}

function isBrokenCall(call: Json): boolean {
  const { id, function: called, custom } = call
  if (typeof id !== 'string' || id === '') return true
  if (callSignatureOf(call) !== undefined && !isRecord(call.provider_specific_fields)) return true
  const { arguments: args } = recordOf(called)
  return !isRecord(custom) && isRecord(called) && (typeof args !== 'string' || args === '')
}
