import { field } from '../frame/messages.ts'
import type { ModelBody } from './ai-fetch.ts'
import { dataUrl } from './data-url.ts'
import { CallError, toJson } from './protocol.ts'
import { readEvents } from './server-events.ts'
import type {
  ChatOptions,
  ChatReply,
  ChatResult,
  Message,
  Tool,
  ToolCall,
} from './service-types.ts'

/** `service.ai.chat`, over chat completions (document 2, POST /chat/completions). */

export type ChatInput = string | Message[]

type Send = (path: string, body: ModelBody, signal?: AbortSignal) => Promise<Response>

/** Rounds of tool calls before a chat ends with the calls. */
const roundsMax = 8

/** Starts a chat. */
export function startChat(send: Send, input: ChatInput, options: ChatOptions): ChatReply {
  const pieces = new Pieces()
  const onText = (delta: string, text: string): void => {
    pieces.add(delta)
    options.onText?.(delta, text)
  }
  const result = chat(send, input, { ...options, onText })
  result.then(
    () => pieces.end(),
    (error: Error) => pieces.end(error),
  )
  return Object.assign(result, { [Symbol.asyncIterator]: () => pieces.read() })
}

async function chat(
  send: Send,
  input: ChatInput,
  options: ChatOptions & { onText: (delta: string, text: string) => void },
): Promise<ChatResult> {
  const messages = await messagesOf(input, options.images ?? [])
  const tools = options.tools ?? []
  let credits = 0
  let text = ''
  for (let round = 1; ; round += 1) {
    const reply = await sendRound(send, messages, { ...options, before: text })
    credits += reply.credits
    text += reply.text
    const calls = reply.toolCalls.map((call) => ({ call, run: runnerOf(tools, call) }))
    const isDone = calls.length === 0 || round > roundsMax || calls.some(({ run }) => !run)
    if (isDone) return finish(options, { ...reply, text, credits })
    messages.push({ role: 'assistant', content: reply.text || null, tool_calls: reply.raw })
    for (const { call, run } of calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: await run?.() })
    }
  }
}

/** Returns the function that runs a tool call; its error becomes its result. */
function runnerOf(tools: Tool[], { name, input }: ToolCall): (() => Promise<string>) | undefined {
  const execute = tools.find((tool) => tool.name === name)?.execute
  if (!execute) return undefined
  return async () => {
    try {
      const value = await execute(input)
      return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
    } catch (error) {
      return `Error: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

type RawCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

interface Round {
  text: string
  raw: RawCall[]
  toolCalls: ToolCall[]
  truncated: boolean
  credits: number
}

function finish({ json }: ChatOptions, reply: Round): ChatResult {
  const { text, toolCalls, truncated, credits } = reply
  return {
    text,
    ...(json && { json: parseJson(text) }),
    ...(toolCalls.length > 0 && { toolCalls }),
    truncated,
    credits,
  }
}

/** Parses the JSON of a reply, also inside a fence or after other words. */
function parseJson(text: string): unknown {
  const [, fenced] = /```(?:json)?\s*([^]*?)```/.exec(text) ?? []
  const [inner] = /[[{][^]*[\]}]/.exec(text) ?? []
  for (const one of [text, fenced, inner]) {
    try {
      if (one !== undefined) return JSON.parse(one)
    } catch {
      // The next form may be JSON.
    }
  }
  throw new CallError('bad_json', 'The model replied without JSON. Ask it again.')
}

async function messagesOf(input: unknown, images: Blob[]): Promise<Message[]> {
  if (typeof input !== 'string' && !Array.isArray(input)) {
    throw new CallError('bad_request', 'A chat takes a text, or a list of messages.')
  }
  const messages: Message[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : [...input]
  const last = messages.at(-1)
  if (images.length === 0 || !last) return messages
  const imageParts = await Promise.all(
    images.map(async (image) => ({ type: 'image_url', image_url: { url: await dataUrl(image) } })),
  )
  const { content } = last
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: String(content) }]
  messages[messages.length - 1] = { ...last, content: [...parts, ...imageParts] }
  return messages
}

function formatOf(json: ChatOptions['json']): object {
  if (json === undefined || json === false) return {}
  if (json === true) return { response_format: { type: 'json_object' } }
  const json_schema = { name: 'reply', schema: json }
  return { response_format: { type: 'json_schema', json_schema } }
}

async function sendRound(
  send: Send,
  messages: Message[],
  options: ChatOptions & { before: string },
): Promise<Round> {
  const { model, tier, json, tools = [], maxTokens, signal, onText, before } = options
  const functions = tools.map(({ name, description, parameters = { type: 'object' } }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  const body = {
    model: model ?? tier ?? '',
    messages,
    max_completion_tokens: maxTokens,
    ...formatOf(json),
    ...(functions.length > 0 && { tools: functions }),
    stream: true,
    stream_options: { include_usage: true },
  }
  const response = await send('v1/chat/completions', { body: toJson(body) }, signal)
  const round: Round = { text: '', raw: [], toolCalls: [], truncated: false, credits: 0 }
  for await (const event of readEvents(response)) {
    readChunk(round, event, (delta) => onText?.(delta, before + round.text))
  }
  round.toolCalls = round.raw.map(({ id, function: { name, arguments: given } }) => ({
    id,
    name,
    input: given === '' ? {} : parseJson(given),
  }))
  return round
}

/** Adds a chunk of a stream to a round. Throws the error in it. */
function readChunk(round: Round, chunk: unknown, onDelta: (delta: string) => void): void {
  const error = field(chunk, 'error')
  if (error) {
    throw new CallError(String(field(error, 'code') ?? 'failed'), String(field(error, 'message')))
  }
  const cost = field(field(chunk, 'usage'), 'cost')
  if (typeof cost === 'number') round.credits = Math.round(cost * 1e9) / 1e6
  const choice = field(field(chunk, 'choices'), '0')
  if (field(choice, 'finish_reason') === 'length') round.truncated = true
  const delta = field(choice, 'delta')
  const content = field(delta, 'content')
  if (typeof content === 'string' && content !== '') {
    round.text += content
    onDelta(content)
  }
  const calls = field(delta, 'tool_calls')
  for (const part of Array.isArray(calls) ? calls : []) {
    const at = Number(field(part, 'index') ?? round.raw.length)
    const called = field(part, 'function')
    const known = (round.raw[at] ??= {
      id: '',
      type: 'function',
      function: { name: '', arguments: '' },
    })
    known.id += String(field(part, 'id') ?? '')
    known.function.name += String(field(called, 'name') ?? '')
    known.function.arguments += String(field(called, 'arguments') ?? '')
  }
}

/** The pieces of a text that still arrives, for any number of readers. */
class Pieces {
  readonly #all: string[] = []
  #isDone = false
  #error: Error | undefined
  #waiting: (() => void)[] = []

  add(piece: string): void {
    this.#all.push(piece)
    this.#wake()
  }

  end(error?: Error): void {
    this.#isDone = true
    this.#error = error
    this.#wake()
  }

  async *read(): AsyncGenerator<string> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#all.length && !this.#isDone) {
        await new Promise<void>((wake) => this.#waiting.push(wake))
      }
      const piece = this.#all[at]
      if (piece !== undefined) yield piece
      else if (this.#error) throw this.#error
      else return
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
