import { sha256 } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import { choicesMax } from '../../limits.ts'
import { asString, errorResponse, recordsIn } from '../response.ts'
import { buildReply } from './builder/builder.ts'
import {
  type DemoChoice,
  type DemoCompletion,
  type DemoUsage,
  streamCompletion,
  toCompletion,
  type ToolCall,
} from './completion.ts'
import { sampleOfSchema } from './json-schema.ts'
import type { DemoRequest } from './request.ts'
import { countTokens, mediaTokens, splitTokens } from './tokens.ts'

const builder = 'demo/builder'
const outputMost: Record<string, number> = { 'demo/small': 1_000, [builder]: 32_000 }
/** As OpenAI has it. */
const stopsMax = 4
const thoughts = 'I repeat what I was told.'
const wordless = 'I was told no words.'

/**
 * The demo's chat. In this order: the last message is a tool's -> its result is repeated;
 * "call <tool>" with that tool given, or a tool_choice that asks for one -> one call with arguments
 * filled from its schema; a tool web_search -> a search for the last user text; a json_schema -> a
 * value that fits it; else the last user text is repeated, or the last text where no user spoke.
 * demo/builder answers with a page. With reasoning_effort it thinks first; with prompt_cache_key
 * the system's words count as cached.
 */
export function completeChat({ model, body, created }: DemoRequest): Response {
  const messages = recordsIn(body.messages)
  if (messages.length === 0) return errorResponse(400, 'messages is empty.')
  const asked = Math.min(Math.max(1, Math.floor(Number(body.n ?? 1)) || 1), choicesMax)
  const said = say(model, body, messages)
  const told: DemoCompletion = {
    id: `chatcmpl-${sha256(JSON.stringify([model, body])).slice(0, 24)}`,
    created,
    model,
    choices: Array.from({ length: asked }, () => said),
    usage: usageOf(messages, said, asked, body.prompt_cache_key !== undefined),
    tops: body.logprobs === true ? Number(body.top_logprobs ?? 0) : undefined,
  }
  return body.stream === true ? streamCompletion(told) : Response.json(toCompletion(told))
}

function say(
  model: string,
  body: Record<string, unknown>,
  messages: Record<string, unknown>[],
): DemoChoice {
  const effort = body.reasoning_effort
  const thinks = typeof effort === 'string' && effort !== 'none'
  const last = messages.at(-1)
  const tool = last?.role === 'tool' ? undefined : calledTool(body, askedIn(messages))
  const most = limitOf(model, body)
  const thought = thinks ? splitTokens(thoughts, most) : []
  if (tool) return { thoughts: thought, words: [], tool, finish: 'tool_calls' }
  const answer = last?.role === 'tool' ? textOf(last) || wordless : answerOf(model, body, messages)
  const left = most - thought.length
  const words = splitTokens(beforeStop(answer, body.stop), left + 1)
  const kept = words.slice(0, left)
  const finish = kept.length < words.length ? 'length' : 'stop'
  return { thoughts: thought, words: kept, tool: undefined, finish }
}

/** The last user text; without a user, the last message's. A picture alone has no words. */
const askedIn = (messages: Record<string, unknown>[]): string =>
  textOf(messages.findLast(({ role }) => role === 'user') ?? messages.at(-1)) || wordless

function answerOf(
  model: string,
  body: Record<string, unknown>,
  messages: Record<string, unknown>[],
): string {
  if (model !== builder) return inFormat(body.response_format, askedIn(messages))
  return buildReply(messages.map((message) => ({ role: message.role, text: textOf(message) })))
}

function limitOf(model: string, body: Record<string, unknown>): number {
  const most = outputMost[model] ?? 4_096
  const asked = Number(body.max_completion_tokens ?? body.max_tokens ?? most)
  return Math.max(0, Math.min(most, Number.isFinite(asked) ? Math.floor(asked) : most))
}

function textOf(message: Record<string, unknown> | undefined): string {
  const content = message?.content
  if (typeof content === 'string') return content
  return recordsIn(content)
    .map((part) => asString(part.text))
    .join('')
}

function inFormat(format: unknown, text: string): string {
  if (!isRecord(format)) return text
  if (format.type === 'json_object') return JSON.stringify({ text })
  if (format.type !== 'json_schema' || !isRecord(format.json_schema)) return text
  return JSON.stringify(sampleOfSchema(format.json_schema.schema))
}

function beforeStop(text: string, stop: unknown): string {
  const marks = [stop].flat().slice(0, stopsMax).map(asString).filter(Boolean)
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

function calledTool(body: Record<string, unknown>, text: string): ToolCall | undefined {
  const tools = recordsIn(body.tools).flatMap((tool) =>
    isRecord(tool.function) ? [tool.function] : [],
  )
  const choice = body.tool_choice
  if (choice === 'none') return undefined
  const named = /\bcall ([\w-]{1,64})/.exec(text)?.[1]
  const forced = isRecord(choice) && isRecord(choice.function) ? choice.function.name : undefined
  const tool =
    tools.find(({ name }) => name === (forced ?? named)) ??
    (choice === 'required' ? tools[0] : undefined) ??
    tools.find(({ name }) => name === 'web_search')
  if (!tool) return undefined
  const name = asString(tool.name)
  const isSearch = name === 'web_search'
  const filled = JSON.stringify(
    isSearch ? { query: text } : (sampleOfSchema(tool.parameters) ?? {}),
  )
  const id = `call_${sha256(name + filled + text).slice(0, 24)}`
  return { id, type: 'function', function: { name, arguments: filled } }
}

/** A call counts its name and its arguments; a picture or other media counts as 100 tokens. */
function promptTokens(messages: Record<string, unknown>[]): number {
  const each = messages.map((message) => {
    const media = recordsIn(message.content).filter(({ type }) => type !== 'text').length
    const calls = recordsIn(message.tool_calls).map(({ function: called }) =>
      isRecord(called) ? `${asString(called.name)} ${asString(called.arguments)}` : '',
    )
    return countTokens(textOf(message)) + media * mediaTokens + countTokens(calls.join(' '))
  })
  return each.reduce((sum, tokens) => sum + tokens, 0)
}

function usageOf(
  messages: Record<string, unknown>[],
  said: DemoChoice,
  choices: number,
  cached: boolean,
): DemoUsage {
  const called = said.tool ? `${said.tool.function.name} ${said.tool.function.arguments}` : ''
  const words = said.words.length + countTokens(called)
  const prompt = promptTokens(messages)
  const completion = choices * (said.thoughts.length + words)
  const system = messages.filter(({ role }) => role === 'system')
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached ? promptTokens(system) : 0 },
    completion_tokens_details: { reasoning_tokens: choices * said.thoughts.length },
  }
}
