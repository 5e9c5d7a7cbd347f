import { sha256 } from '../../../kernel/ids.ts'
import { choicesMax } from '../../../kernel/limits.ts'
import { type Json, lookUp, parseRecord } from '../../../kernel/schema.ts'
import type { ChatEvent, EndReason } from '../../conversation/chat-event.ts'
import type { ChatRequest, Message, OutputFormat } from '../../conversation/chat-request.ts'
import { rejectCustomTools } from '../../conversation/unsupported.ts'
import { reportOf } from '../../models/usage.ts'
import { buildReply, type Reply } from './builder/builder.ts'
import { sampleOfSchema } from './json-schema.ts'
import { countTokens, mediaTokens, splitTokens } from './tokens.ts'

const builder = 'demo/builder'
const outputTokensMax: Record<string, number> = { 'demo/small': 1_000, [builder]: 32_000 }
/** OpenAI's limit for `stop`. */
const stopsMax = 4
const reasoning = 'I repeat what I was told.'
const noText = 'I was told no words.'

/**
 * Completes a chat. Returns all events of a whole response, and of a stream one per token, made
 * when it is read. The first rule that applies decides the reply:
 * 1. The last message is a tool result: repeat it.
 * 2. The text is "call <tool>" or "call <tool> {...}", or the choice of tools requires one: call it
 *    with the given or with sample arguments.
 * 3. There is a tool web_search: search for the last user text.
 * 4. There is a schema for the output: return a sample value.
 * 5. Repeat the last user text; without a user message, the last text.
 * demo/builder replies with a page. An effort adds reasoning before the reply, and
 * prompt_cache_key counts the system messages as cached. Throws `bad_request`.
 */
export function demoChat(
  model: string,
  request: ChatRequest,
  isStream: boolean,
  outputMax: number,
  created: number,
): Iterable<ChatEvent> {
  rejectCustomTools(request.tools)
  const { raw: _, ...content } = request
  const hash = sha256(JSON.stringify([model, content])).slice(0, 24)
  const choice = createChoice(model, request, outputMax)
  return completionEvents(request, choice, isStream, { id: `chatcmpl-${hash}`, created })
}

function* completionEvents(
  request: ChatRequest,
  choice: DemoChoice,
  isStream: boolean,
  head: { id: string; created: number },
): Generator<ChatEvent> {
  const choices = Math.min(request.choices, choicesMax)
  yield { type: 'start', ...head }
  for (let index = 0; index < choices; index += 1) {
    yield* choiceEvents(choice, index, isStream, request.logprobs)
  }
  const usage = reportOf(measureUsage(request, choice, choices))
  if (usage) yield { type: 'usage', usage }
  yield { type: 'done' }
}

/** One choice: reasoning and text by token, or one tool call. */
interface DemoChoice {
  thoughts: string[]
  words: string[]
  tool?: { id: string; name: string; input: string }
  reason: EndReason
  /** Is true when the words say why the model declined, which is free. */
  isDeclined?: boolean
}

/** Yields the events of a choice. `tops`: alternatives per token; undefined without logprobs. */
function* choiceEvents(
  { thoughts, words, tool, reason, isDeclined }: DemoChoice,
  choice: number,
  isStream: boolean,
  tops: number | undefined,
): Generator<ChatEvent> {
  const groups = (tokens: string[]): string[][] => {
    if (isStream) return tokens.map((token) => [token])
    return tokens.length > 0 ? [tokens] : []
  }
  for (const tokens of groups(thoughts)) {
    yield { type: 'thinking', choice, text: tokens.join('') }
  }
  for (const tokens of groups(words)) {
    const text = tokens.join('')
    if (isDeclined) yield { type: 'refusal', choice, text }
    else if (tops === undefined) yield { type: 'text', choice, text }
    else yield { type: 'text', choice, text, logprobs: tokens.map((one) => logprobOf(one, tops)) }
  }
  if (tool) {
    const { id, name, input } = tool
    yield { type: 'call', choice, call: 0, id, name }
    const pieces = isStream ? (input.match(/[^]{1,8}/gu) ?? []) : [input]
    for (const text of pieces) yield { type: 'arguments', choice, call: 0, text }
  }
  yield { type: 'end', choice, reason }
}

/** Returns a logprob of 0: every token of the demo is certain, without alternatives. */
function logprobOf(token: string, tops: number): Json {
  const certain = { token, logprob: 0, bytes: [...Buffer.from(token)] }
  return { ...certain, top_logprobs: tops > 0 ? [certain] : [] }
}

function createChoice(model: string, request: ChatRequest, outputMax: number): DemoChoice {
  const { messages, stop } = request
  const { effort, budget = 0 } = request.reasoning ?? {}
  const hasReasoning = effort === undefined ? budget > 0 : effort !== 'none'
  const last = messages.at(-1)
  const tool = last?.role === 'tool' ? undefined : callTool(request, lastText(messages))
  const limit = Math.max(
    0,
    Math.floor(Math.min(outputMax, lookUp(outputTokensMax, model) ?? 4_096)),
  )
  const thoughts = hasReasoning ? splitTokens(reasoning, limit) : []
  if (tool) return { thoughts, words: [], tool, reason: 'calls' }
  const reply =
    last?.role === 'tool' ? { text: textOf(last) || noText } : createReply(model, request)
  if ('declined' in reply) {
    return { thoughts: [], words: [reply.declined], reason: 'stop', isDeclined: true }
  }
  const left = limit - thoughts.length
  const words = splitTokens(beforeStop(reply.text, stop), left + 1)
  const reason = left < words.length ? 'length' : 'stop'
  return { thoughts, words: words.slice(0, left), reason }
}

function createReply(model: string, { messages, format }: ChatRequest): Reply {
  if (model !== builder) return { text: formatReply(format, lastText(messages)) }
  return buildReply(messages.map((message) => ({ role: message.role, text: textOf(message) })))
}

/** Returns the last user text; without a user message, the text of the last message. */
const lastText = (messages: Message[]): string =>
  textOf(messages.findLast(({ role }) => role === 'user') ?? messages.at(-1)) || noText

const textOf = (message: Message | undefined): string =>
  (message?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')

function formatReply(format: OutputFormat | undefined, text: string): string {
  if (!format) return text
  return JSON.stringify(format.type === 'object' ? { text } : sampleOfSchema(format.schema))
}

function beforeStop(text: string, stop: string[]): string {
  const marks = stop.slice(0, stopsMax).filter(Boolean)
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

function callTool(request: ChatRequest, text: string): DemoChoice['tool'] {
  const { tools, toolChoice: choice = 'auto' } = request
  const [mode, names] = typeof choice === 'string' ? [choice] : [choice.mode, choice.names]
  if (mode === 'none') return undefined
  const allowed = names ? tools.filter(({ name }) => names.includes(name)) : tools
  const [, named, given = ''] = /\bcall ([\w-]{1,64})(?: (\{.*\}))?/s.exec(text) ?? []
  const tool =
    allowed.find(({ name }) => name === named) ??
    (mode === 'required' ? allowed[0] : undefined) ??
    allowed.find(({ name }) => name === 'web_search')
  if (!tool) return undefined
  const { name, parameters } = tool
  const sample = name === 'web_search' ? { query: text } : (sampleOfSchema(parameters) ?? {})
  const input = JSON.stringify(parseRecord(given) ?? sample)
  return { id: `call_${sha256(name + input + text).slice(0, 24)}`, name, input }
}

/** Counts tokens of texts and of tool calls; each image or other media part counts as 100. */
function countPrompt(messages: Message[]): number {
  let tokens = 0
  for (const message of messages) {
    const calls: string[] = []
    for (const part of message.content) {
      if (part.type === 'call') calls.push(`${part.name} ${part.arguments}`)
      else if (part.type !== 'text' && part.type !== 'thinking') tokens += mediaTokens
    }
    tokens += countTokens(textOf(message)) + countTokens(calls.join(' '))
  }
  return tokens
}

/** Returns the usage in OpenAI's format. */
function measureUsage({ messages, extra }: ChatRequest, choice: DemoChoice, choices: number): Json {
  const { thoughts, words, tool, isDeclined } = choice
  const call = tool ? `${tool.name} ${tool.input}` : ''
  const prompt = isDeclined ? 0 : countPrompt(messages)
  const completion = isDeclined ? 0 : choices * (thoughts.length + words.length + countTokens(call))
  const isCached = extra.prompt_cache_key !== undefined
  const system = messages.filter(({ role }) => role === 'system')
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: isCached ? countPrompt(system) : 0 },
    completion_tokens_details: { reasoning_tokens: choices * thoughts.length },
  }
}
