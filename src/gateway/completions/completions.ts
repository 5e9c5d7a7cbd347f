import type { AppContext } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import { type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import type { ChatEvent, ChatResponse, EndReason } from '../conversation/chat-event.ts'
import type {
  ChatClient,
  ClientCodec,
  DecodedChat,
  FinalUsage,
  StreamWriter,
} from '../conversation/codec.ts'
import { doneMark, encodeEvent, keepAlive, noBytes } from '../events.ts'
import { invalidField } from '../fields.ts'
import { decodeChat } from '../openai-chat/decode.ts'
import { writeUsage } from '../openai-chat/message.ts'
import { createChatClient } from '../openai-chat/write.ts'

/** Returns an operation that a chat serves. It is held, served and charged as such. */
const servedBy =
  (clientOf: (raw: unknown, created: number) => ChatClient) =>
  (ctx: AppContext, spender: Spender, raw: unknown, call: Call): Promise<CallOutcome> =>
    createChat(ctx, spender, call, clientOf(raw, unixSeconds(ctx.clock.now())))

/**
 * Creates a completion of a text (OpenAI, POST /v1/completions). Throws `bad_request` and the
 * errors of the chat.
 */
export const createCompletion = servedBy((raw, created) => ({
  api: undefined,
  raw,
  names: { messages: 'prompt' },
  open() {
    const { chat, wantsUsage, echo } = parseCompletionRequest(raw)
    const options = { id: `cmpl-${newId()}`, created, wantsUsage, echo }
    return { ...chat, codec: (model) => createTextClient({ ...options, model }) }
  },
}))

/**
 * Fills the gap between a prompt and a suffix (Mistral, POST /v1/fim/completions). The response is
 * a chat completion. Throws `bad_request` and the errors of the chat.
 */
export const createFimCompletion = servedBy((raw, created) => ({
  api: undefined,
  raw: { fim: raw },
  names: { messages: 'prompt', seed: 'random_seed' },
  open() {
    const { random_seed: seed, min_tokens, ...body } = recordOf(raw)
    if (min_tokens) throw invalidField('min_tokens', 'min_tokens is not supported. Remove it.')
    const { chat } = parseCompletionRequest({ ...body, ...(seed != null && { seed }) })
    const options = { id: `chatcmpl-${newId()}`, created, wantsUsage: true } as const
    return { ...chat, codec: (model) => createChatClient({ ...options, model, flavor: 'mistral' }) }
  },
}))

interface TextOptions {
  id: string
  /** Unix seconds. */
  created: number
  model: string
  wantsUsage: boolean
  /** The text before each completion; '' for none. */
  echo: string
}

/** Creates the codec of a client that gets texts. */
function createTextClient(options: TextOptions): ClientCodec {
  const encode = (response: ChatResponse, final: FinalUsage): Json => ({
    ...headOf(options),
    choices: response.choices.map(({ content, reason }, index) => {
      const texts = content.map((part) => (part.type === 'text' ? part.text : ''))
      return choiceOf(options.echo + texts.join(''), index, reason)
    }),
    usage: writeUsage(undefined, final),
  })
  return {
    createWriter: () => new TextWriter(options),
    encode,
    pass: (response) => response,
  }
}

const headOf = ({ id, created, model }: TextOptions): Json => ({
  id,
  object: 'text_completion',
  created,
  model,
})

const finishReasons: Record<EndReason, string> = {
  stop: 'stop',
  length: 'length',
  calls: 'stop',
  filtered: 'content_filter',
}

const choiceOf = (text: string, index: number, reason?: EndReason): Json => ({
  text,
  index,
  logprobs: null,
  finish_reason: reason ? finishReasons[reason] : null,
})

/** Writes one stream of texts. The first one of each choice begins with `echo`. */
class TextWriter implements StreamWriter {
  private readonly begun = new Set<number>()

  constructor(private readonly options: TextOptions) {}

  write(events: readonly ChatEvent[]): Uint8Array {
    return Buffer.concat(events.map((event) => this.writeEvent(event)))
  }

  private writeEvent(event: ChatEvent): Uint8Array {
    if (event.type !== 'text' && event.type !== 'end') return noBytes
    const { choice } = event
    const before = this.begun.has(choice) ? '' : this.options.echo
    this.begun.add(choice)
    const [text, reason] = event.type === 'text' ? [event.text] : ['', event.reason]
    return encodeEvent({
      ...headOf(this.options),
      choices: [choiceOf(before + text, choice, reason)],
    })
  }

  pass(): undefined {
    return undefined
  }

  beat(): Uint8Array {
    return keepAlive
  }

  end(final: FinalUsage): Uint8Array {
    if (!this.options.wantsUsage) return doneMark
    const usage = writeUsage(undefined, final)
    return Buffer.concat([encodeEvent({ ...headOf(this.options), choices: [], usage }), doneMark])
  }

  fail(error: Json): Uint8Array {
    return encodeEvent({ error })
  }
}

interface CompletionRequest {
  /** The chat request that serves it. */
  chat: DecodedChat
  wantsUsage: boolean
  /** The prompt, where the client wants it before each completion; else ''. */
  echo: string
}

/** Fields with the same meaning in a chat request, which parses them. */
export const sharedFields = [
  'model',
  'models',
  'provider',
  'max_tokens',
  'temperature',
  'top_p',
  'n',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'stream',
  'stream_options',
  'user',
]

/** Other fields of OpenAI, with the values that have no effect. */
const neutralValues: Record<string, unknown[]> = {
  best_of: [1],
  logprobs: [0],
  prompt: [],
  suffix: [],
  echo: [],
}

const continuation =
  'Continue the text of the user. Reply with the continuation alone, and repeat none of the text.'
const insertion =
  'The user sends a text with a gap, marked <gap/>. Reply with the text of the gap alone.'

/**
 * Parses a request of OpenAI's completions into a chat request. Chat models have no endpoint for a
 * bare text, so a system message states the task. Throws `bad_request`, also for a field that a
 * chat does not have.
 */
function parseCompletionRequest(raw: unknown): CompletionRequest {
  const body = recordOf(raw)
  for (const [name, value] of Object.entries(body)) {
    const isKnown = sharedFields.includes(name) || ['prompt', 'suffix', 'echo'].includes(name)
    if (isKnown || value === null || lookUp(neutralValues, name)?.includes(value)) continue
    throw invalidField(name.slice(0, 100), `${name.slice(0, 100)} is not supported. Remove it.`)
  }
  const prompt = readPrompt(body.prompt)
  const suffix = readSuffix(body.suffix)
  const shared = sharedFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  const system = suffix === '' ? continuation : insertion
  const user = suffix === '' ? prompt : `${prompt}<gap/>${suffix}`
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
  const chat = decodeChat({ ...Object.fromEntries(shared), messages }, {})
  return { chat, wantsUsage: chat.wantsUsage, echo: body.echo === true ? prompt : '' }
}

function readPrompt(prompt: unknown): string {
  const [first, ...more]: unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof first === 'string' && first !== '' && more.length === 0) return first
  throw invalidField(
    'prompt',
    'prompt must be a text, or an array with one text. Send one request for each text.',
  )
}

function readSuffix(suffix: unknown): string {
  if (suffix === undefined || suffix === null) return ''
  if (typeof suffix === 'string') return suffix
  throw invalidField('suffix', 'suffix must be a string.')
}
