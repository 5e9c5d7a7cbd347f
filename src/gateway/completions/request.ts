import { lookUp, recordOf } from '../../kernel/schema.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { invalidField } from '../fields.ts'
import { decodeChat } from '../openai-chat/decode.ts'

export interface CompletionRequest {
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
export function parseCompletionRequest(raw: unknown): CompletionRequest {
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
