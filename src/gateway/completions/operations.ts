import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import {
  type Json,
  lookUp,
  mediaSchema,
  namedObject,
  nullable,
  recordOf,
} from '../../kernel/schema.ts'
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
import { chatErrors, ChunksSchema, CompletionSchema } from '../openai-chat/schemas.ts'
import { createChatClient } from '../openai-chat/write.ts'
import { paidOperation } from '../operation.ts'
import { knownFields, maxTokensSchema, modelSchema } from '../request-schemas.ts'

/** Returns an operation that a chat serves. It is held, served and charged as such. */
const servedBy =
  (clientOf: (raw: unknown, created: number) => ChatClient) =>
  (ctx: AppContext, spender: Spender, raw: unknown, call: Call): Promise<CallOutcome> =>
    createChat(ctx, spender, call, clientOf(raw, unixSeconds(ctx.clock.now())))

/**
 * Creates a completion of a text (OpenAI, POST /v1/completions). Throws `bad_request` and the
 * errors of the chat.
 */
export const complete = servedBy((raw, created) => ({
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
const fillIn = servedBy((raw, created) => ({
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
const sharedFields = [
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

/** The characters of an unknown field that its error repeats. */
const fieldCharsShown = 100

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
    const shown = name.slice(0, fieldCharsShown)
    throw invalidField(shown, `${shown} is not supported. Remove it.`)
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

/** The documented request. The body is parsed by hand. */
const completionRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'prompt'],
  properties: {
    ...knownFields(sharedFields),
    model: modelSchema('An id of a chat model from GET /v1/models.'),
    prompt: {
      description: 'The text before the completion.',
      oneOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', minItems: 1, maxItems: 1, items: { type: 'string', minLength: 1 } },
      ],
    },
    suffix: { type: 'string', nullable: true, description: 'The text after the completion.' },
    echo: { type: 'boolean', description: 'Repeats the prompt before the completion.' },
    max_tokens: maxTokensSchema,
    stream: { type: 'boolean', nullable: true },
    best_of: { type: 'integer', enum: [1] },
    logprobs: { type: 'integer', enum: [0] },
  },
}

/** The documented request of Mistral's API. The body is parsed by hand. */
const fimRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'prompt'],
  properties: {
    model: modelSchema('An id of a chat model from GET /v1/models.'),
    prompt: { type: 'string', minLength: 1, description: 'The text before the gap.' },
    suffix: { type: 'string', nullable: true, description: 'The text after the gap.' },
    ...knownFields(['temperature', 'top_p', 'stop']),
    max_tokens: maxTokensSchema,
    random_seed: { type: 'integer', nullable: true },
    min_tokens: { type: 'integer', enum: [0] },
    stream: { type: 'boolean', nullable: true },
  },
}

const TextCompletionSchema = namedObject('TextCompletion', {
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      text: Type.String(),
      index: Type.Integer(),
      logprobs: nullable(Type.Object({})),
      finish_reason: nullable(Type.String()),
    }),
  ),
  usage: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

const TextChunksSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: parts of the completion, and [DONE].',
})

const createCompletion = paidOperation({
  id: 'create_completion',
  route: 'POST /completions',
  tag: 'Chat',
  summary: 'Complete a text, or fill a gap in it, whole or as a stream.',
  description: 'A chat model writes the completion. Charged like the same chat completion.',
  input: completionRequestSchema,
  output: [TextCompletionSchema, TextChunksSchema],
  errors: chatErrors,
  run: complete,
})

const createFimCompletion = paidOperation({
  id: 'create_fim_completion',
  route: 'POST /fim/completions',
  tag: 'Chat',
  summary: "Fill the gap before a suffix with Mistral's API, whole or as a stream.",
  description: 'A chat model writes the text. Charged like the same chat completion.',
  input: fimRequestSchema,
  output: [CompletionSchema, ChunksSchema],
  errors: chatErrors,
  run: fillIn,
})

/** Routes of completions of texts, which editors call. */
export const completionOperations = [createCompletion, createFimCompletion]
