import { asString, type Json } from '../../kernel/schema.ts'
import type { ReportedUsage } from '../models/usage.ts'
import type { CallPart, ThinkingPart } from './chat-request.ts'
import { endsThought } from './sealed-thought.ts'

/**
 * A step of a response. A stream is a sequence of these, and so is a whole response: codecs read
 * both into events, and write events as both. `choice` is the index of a completion.
 */
export type ChatEvent =
  | StartEvent
  | { type: 'text'; choice: number; text: string; logprobs?: Json[] }
  | { type: 'refusal'; choice: number; text: string }
  | { type: 'thinking'; choice: number; text: string }
  | SignatureEvent
  | CallEvent
  /** The next part of the arguments of a call. */
  | { type: 'arguments'; choice: number; call: number; text: string }
  | { type: 'citation'; choice: number; citation: Citation }
  /** Spoken output: its words or its data, which are metered and otherwise not converted. */
  | { type: 'audio'; choice: number; text: string }
  | EndEvent
  | { type: 'usage'; usage: ReportedUsage }
  /** The upstream's own error, in OpenAI's format. Nothing follows but a usage. */
  | { type: 'error'; error: Json }
  /** The response is whole. A stream without it was cut. */
  | { type: 'done' }

export interface StartEvent {
  type: 'start'
  /** The upstream's id of the response. */
  id?: string
  /** Unix seconds. */
  created?: number
  /** Further fields of OpenAI's head, such as `system_fingerprint`. */
  extra?: Json
}

/** Ends a thought with its signature, or is one that the upstream encrypted (`endsThought`). */
export interface SignatureEvent {
  type: 'signature'
  choice: number
  signature: string
  /** True if the signature is the whole thought. */
  isEncrypted?: boolean
  origin: string
  /** OpenAI's id of the item. */
  id?: string
}

/** Starts a tool call. `call`: its number within the choice, from 0. Its id is never empty. */
export interface CallEvent {
  type: 'call'
  choice: number
  call: number
  id: string
  name: string
  isCustom?: boolean
  /** Google's signature of the thought that led to the call. */
  signature?: string
}

/** A web page that a text refers to. */
export interface Citation {
  url: string
  title: string
  content?: string
  /** UTF-16 code units of the text. */
  start?: number
  end?: number
}

export interface EndEvent {
  type: 'end'
  choice: number
  reason: EndReason
  /** The stop sequence that ended the output; '' where the upstream does not name it. */
  stop?: string
}

/** `filtered`: the provider blocked the response under its content rules. */
export type EndReason = 'stop' | 'length' | 'calls' | 'filtered'

/** A whole response, gathered from its events. */
export interface ChatResponse extends Omit<StartEvent, 'type'> {
  choices: Choice[]
}

export interface Choice {
  content: OutputPart[]
  citations: Citation[]
  logprobs: Json[]
  reason?: EndReason
  stop?: string
}

export type OutputPart = { type: 'text' | 'refusal'; text: string } | ThinkingPart | CallPart

/** Returns the first step of a response. `created`: Unix seconds. */
export const startEvent = (id: unknown, created?: unknown): StartEvent => ({
  type: 'start',
  ...(typeof id === 'string' && id !== '' && { id }),
  ...(typeof created === 'number' && created > 0 && { created }),
})

/** Returns the step of a citation; none for one without an address. */
export function citationEvents(
  choice: number,
  { url, title, content, start, end }: { [field in keyof Citation]?: unknown },
): ChatEvent[] {
  if (typeof url !== 'string' || url === '') return []
  const citation: Citation = {
    url,
    title: asString(title) || url,
    ...(typeof content === 'string' && content !== '' && { content }),
    ...(typeof start === 'number' && { start }),
    ...(typeof end === 'number' && { end }),
  }
  return [{ type: 'citation', choice, citation }]
}

/** Returns the step of a usage; none for one without counts. */
export const usageEvents = (usage: ReportedUsage | undefined): ChatEvent[] =>
  usage ? [{ type: 'usage', usage }] : []

/** Gathers the events of a response. Adjacent texts of a kind become one part. */
export function gather(events: Iterable<ChatEvent>): ChatResponse {
  const gathered: ChatResponse = { choices: [] }
  for (const event of events) addEvent(gathered, event)
  return gathered
}

function addEvent(response: ChatResponse, event: ChatEvent): void {
  if (event.type === 'start') {
    const { type: _, ...head } = event
    Object.assign(response, head)
  }
  if (!('choice' in event)) return
  const choice = (response.choices[event.choice] ??= { content: [], citations: [], logprobs: [] })
  const last = choice.content.at(-1)
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'thinking': {
      const { type, text } = event
      const isSealed = last?.type === 'thinking' && last.signature !== undefined
      if (last?.type === type && !isSealed) last.text += text
      else choice.content.push({ type, text })
      if (event.type === 'text' && event.logprobs) choice.logprobs.push(...event.logprobs)
      return
    }
    case 'signature': {
      const { type: _, choice: __, ...seal } = event
      const isOpen = last?.type === 'thinking' && last.signature === undefined
      if (isOpen && endsThought(seal)) Object.assign(last, seal)
      else choice.content.push({ type: 'thinking', text: '', ...seal })
      return
    }
    case 'call': {
      const { choice: _, call: __, ...call } = event
      choice.content.push({ ...call, arguments: '' })
      return
    }
    case 'arguments': {
      const call = choice.content.filter((part) => part.type === 'call')[event.call]
      if (call) call.arguments += event.text
      return
    }
    case 'citation':
      choice.citations.push(event.citation)
      return
    case 'end':
      choice.reason = event.reason
      if (event.stop !== undefined) choice.stop = event.stop
  }
}

/** Yields the events of a gathered response. */
export function* eventsOf({ choices, ...head }: ChatResponse): Generator<ChatEvent> {
  yield { type: 'start', ...head }
  for (const [choice, gathered] of choices.entries()) yield* eventsOfChoice(gathered, choice)
}

/** Yields the events of one choice. */
export function* eventsOfChoice(gathered: Choice, choice: number): Generator<ChatEvent> {
  const { content, citations, reason, stop } = gathered
  const texts = content.filter(({ type }) => type === 'text')
  let call = 0
  for (const part of content) {
    const logprobs = part === texts[0] ? gathered.logprobs : []
    yield* eventsOfPart(part, { choice, call }, logprobs)
    if (part.type === 'call') call += 1
    if (part === texts.at(-1))
      for (const citation of citations) yield { type: 'citation', choice, citation }
  }
  if (reason) yield { type: 'end', choice, reason, ...(stop !== undefined && { stop }) }
}

function* eventsOfPart(
  part: OutputPart,
  { choice, call }: { choice: number; call: number },
  logprobs: Json[],
): Generator<ChatEvent> {
  if (part.type === 'call') {
    const { arguments: text, ...called } = part
    yield { ...called, choice, call }
    yield { type: 'arguments', choice, call, text }
  } else if (part.type === 'thinking') {
    const { text, signature, origin, ...seal } = part
    if (text !== '') yield { type: 'thinking', choice, text }
    if (signature !== undefined && origin)
      yield { ...seal, type: 'signature', choice, signature, origin }
  } else if (part.type === 'refusal') {
    yield { type: 'refusal', choice, text: part.text }
  } else yield { type: 'text', choice, text: part.text, ...(logprobs.length > 0 && { logprobs }) }
}
