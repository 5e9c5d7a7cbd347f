import { sha256 } from '../../../kernel/ids.ts'
import { choicesMax } from '../../../kernel/limits.ts'
import { isRecord, type Json, lookUp, recordOf } from '../../../kernel/schema.ts'
import {
  asString,
  errorResponse,
  eventStreamResponse,
  parseRecord,
  recordsIn,
  rejectCustomTools,
} from '../response.ts'
import { buildReply, type Reply } from './builder/builder.ts'
import { sampleOfSchema } from './json-schema.ts'
import type { DemoRequest } from './request.ts'
import { countTokens, mediaTokens, splitTokens } from './tokens.ts'

const builder = 'demo/builder'
const outputTokensMax: Record<string, number> = { 'demo/small': 1_000, [builder]: 32_000 }
/** OpenAI's limit for `stop`. */
const stopsMax = 4
const reasoning = 'I repeat what I was told.'
const noText = 'I was told no words.'

/**
 * Completes a chat. The first rule that applies decides the reply:
 * 1. The last message is a tool result: repeat it.
 * 2. The text is "call <tool>" or "call <tool> {...}", or tool_choice requires a tool: call it with
 *    the given or with sample arguments.
 * 3. There is a tool web_search: search for the last user text.
 * 4. There is a json_schema: return a sample value.
 * 5. Repeat the last user text; without a user message, the last text.
 * demo/builder replies with a page. reasoning_effort adds reasoning before the reply, and
 * prompt_cache_key counts the system messages as cached.
 */
export function completeChat({ model, body, created }: DemoRequest): Response {
  const messages = recordsIn(body.messages)
  if (messages.length === 0) return errorResponse(400, 'messages is empty.')
  const rejected = rejectCustomTools(body.tools)
  if (rejected) return rejected
  const count = Math.min(Math.max(1, Math.floor(Number(body.n ?? 1)) || 1), choicesMax)
  const choice = createChoice(model, body, messages)
  const completion: DemoCompletion = {
    id: `chatcmpl-${sha256(JSON.stringify([model, body])).slice(0, 24)}`,
    created,
    model,
    choices: Array.from({ length: count }, () => choice),
    usage: measureUsage(messages, choice, count, body.prompt_cache_key !== undefined),
    tops: body.logprobs === true ? Number(body.top_logprobs ?? 0) : undefined,
  }
  return body.stream === true
    ? streamCompletion(completion)
    : Response.json(toCompletion(completion))
}

function createChoice(model: string, body: Json, messages: Json[]): DemoChoice {
  const effort = body.reasoning_effort
  const hasReasoning = typeof effort === 'string' && effort !== 'none'
  const last = messages.at(-1)
  const tool = last?.role === 'tool' ? undefined : callTool(body, lastText(messages))
  const limit = tokenLimit(model, body)
  const thoughts = hasReasoning ? splitTokens(reasoning, limit) : []
  if (tool) return { thoughts, words: [], tool, finish: 'tool_calls' }
  const made =
    last?.role === 'tool' ? { text: textOf(last) || noText } : createReply(model, body, messages)
  if ('declined' in made) {
    return {
      thoughts: [],
      words: [made.declined],
      tool: undefined,
      finish: 'stop',
      isDeclined: true,
    }
  }
  const left = limit - thoughts.length
  const words = splitTokens(beforeStop(made.text, body.stop), left + 1)
  const finish = left < words.length ? 'length' : 'stop'
  return { thoughts, words: words.slice(0, left), tool: undefined, finish }
}

/** Returns the last user text; without a user message, the text of the last message. */
const lastText = (messages: Json[]): string =>
  textOf(messages.findLast(({ role }) => role === 'user') ?? messages.at(-1)) || noText

function createReply(model: string, body: Json, messages: Json[]): Reply {
  if (model !== builder) return { text: formatReply(body.response_format, lastText(messages)) }
  return buildReply(messages.map((message) => ({ role: message.role, text: textOf(message) })))
}

function tokenLimit(model: string, body: Json): number {
  const max = lookUp(outputTokensMax, model) ?? 4_096
  const limit = Number(body.max_completion_tokens ?? body.max_tokens ?? max)
  return Math.max(0, Math.min(max, Number.isFinite(limit) ? Math.floor(limit) : max))
}

function textOf(message: Json | undefined): string {
  const content = message?.content
  if (typeof content === 'string') return content
  return recordsIn(content)
    .map((part) => asString(part.text))
    .join('')
}

function formatReply(format: unknown, text: string): string {
  const { type, json_schema: schema } = recordOf(format)
  if (type === 'json_object') return JSON.stringify({ text })
  if (type !== 'json_schema' || !isRecord(schema)) return text
  return JSON.stringify(sampleOfSchema(schema.schema))
}

function beforeStop(text: string, stop: unknown): string {
  const marks = [stop].flat().slice(0, stopsMax).map(asString).filter(Boolean)
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

function callTool(body: Json, text: string): ToolCall | undefined {
  const tools = recordsIn(body.tools).flatMap((tool) =>
    isRecord(tool.function) ? [tool.function] : [],
  )
  const choice = body.tool_choice
  if (choice === 'none') return undefined
  const [, named, given = ''] = /\bcall ([\w-]{1,64})(?: (\{.*\}))?/s.exec(text) ?? []
  const forced = isRecord(choice) && isRecord(choice.function) ? choice.function.name : undefined
  const tool =
    tools.find(({ name }) => name === (forced ?? named)) ??
    (choice === 'required' ? tools[0] : undefined) ??
    tools.find(({ name }) => name === 'web_search')
  if (!tool) return undefined
  const name = asString(tool.name)
  const isSearch = name === 'web_search'
  const sample = isSearch ? { query: text } : (sampleOfSchema(tool.parameters) ?? {})
  const input = JSON.stringify(parseRecord(given) ?? sample)
  const id = `call_${sha256(name + input + text).slice(0, 24)}`
  return { id, type: 'function', function: { name, arguments: input } }
}

/** Counts tokens of texts and of tool calls; each image or other media part counts as 100. */
function countPrompt(messages: Json[]): number {
  const counts = messages.map((message) => {
    const media = recordsIn(message.content).filter(({ type }) => type !== 'text').length
    const calls = recordsIn(message.tool_calls).map(({ function: called }) =>
      isRecord(called) ? `${asString(called.name)} ${asString(called.arguments)}` : '',
    )
    return countTokens(textOf(message)) + media * mediaTokens + countTokens(calls.join(' '))
  })
  return counts.reduce((sum, tokens) => sum + tokens, 0)
}

function measureUsage(
  messages: Json[],
  { thoughts, words, tool, isDeclined }: DemoChoice,
  choices: number,
  isCached: boolean,
): Json {
  const call = tool ? `${tool.function.name} ${tool.function.arguments}` : ''
  const prompt = isDeclined ? 0 : countPrompt(messages)
  const completion = isDeclined ? 0 : choices * (thoughts.length + words.length + countTokens(call))
  const system = messages.filter(({ role }) => role === 'system')
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: isCached ? countPrompt(system) : 0 },
    completion_tokens_details: { reasoning_tokens: choices * thoughts.length },
  }
}

interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** One choice: reasoning and text by token, or one tool call. */
interface DemoChoice {
  thoughts: string[]
  words: string[]
  tool: ToolCall | undefined
  finish: 'stop' | 'length' | 'tool_calls'
  /** Is true when the words say why the model declined, which is free. */
  isDeclined?: boolean
}

/** A completion before it is serialized, whole or as chunks. */
interface DemoCompletion {
  id: string
  created: number
  model: string
  choices: DemoChoice[]
  usage: Json
  /** `top_logprobs`; undefined without logprobs. */
  tops: number | undefined
}

/** Returns logprobs of 0: every token of the demo is certain, without alternatives. */
const logprobsOf = (tokens: string[], tops: number) => ({
  content: tokens.map((token) => {
    const certain = { token, logprob: 0, bytes: [...Buffer.from(token)] }
    return { ...certain, top_logprobs: tops > 0 ? [certain] : [] }
  }),
  refusal: null,
})

/** Serializes a chat.completion. */
function toCompletion({ id, created, model, choices, usage, tops }: DemoCompletion) {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(({ thoughts, words, tool, finish, isDeclined }, index) => ({
      index,
      message: {
        role: 'assistant',
        content: tool || isDeclined ? null : words.join(''),
        refusal: isDeclined ? words.join('') : null,
        ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
        ...(tool && { tool_calls: [tool] }),
      },
      logprobs: tops !== undefined && !tool ? logprobsOf(words, tops) : null,
      finish_reason: finish,
    })),
    usage,
  }
}

/** Streams a completion, one chunk per token, each created when it is read. */
function streamCompletion(completion: DemoCompletion): Response {
  const events = chunksOf(completion)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`data: ${value}\n\n`))
    },
  })
  return eventStreamResponse(body)
}

/** Yields the chunks; the last one has the usage, as with stream_options.include_usage. */
function* chunksOf({
  id,
  created,
  model,
  choices,
  usage,
  tops,
}: DemoCompletion): Generator<string> {
  const head = { id, object: 'chat.completion.chunk', created, model }
  for (const [index, choice] of choices.entries()) {
    for (const { delta, token, finish } of deltasOf(choice)) {
      const hasLogprobs = tops !== undefined && token !== undefined
      const logprobs = hasLogprobs ? logprobsOf([token], tops) : null
      const choices = [{ index, delta, logprobs, finish_reason: finish ?? null }]
      yield JSON.stringify({ ...head, choices })
    }
  }
  yield JSON.stringify({ ...head, choices: [], usage })
  yield '[DONE]'
}

interface Delta {
  delta: Json
  token?: string
  finish?: string
}

function* deltasOf({ thoughts, words, tool, finish, isDeclined }: DemoChoice): Generator<Delta> {
  yield { delta: { role: 'assistant', content: tool ? null : '' } }
  for (const thought of thoughts) yield { delta: { reasoning_content: thought } }
  const field = isDeclined ? 'refusal' : 'content'
  for (const token of words) yield { delta: { [field]: token }, token }
  if (tool) {
    const { id, type, function: called } = tool
    const first = { index: 0, id, type, function: { name: called.name, arguments: '' } }
    yield { delta: { tool_calls: [first] } }
    for (const piece of called.arguments.match(/[^]{1,8}/gu) ?? []) {
      yield { delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }
    }
  }
  yield { delta: {}, finish }
}
