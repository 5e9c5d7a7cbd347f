/**
 * Prompts of Claude's pages: `claude.complete` of artifacts in chats, and `sample` of Claude Code.
 * Source: the documentation and public pages of Claude, as of November 2026.
 */
import type { Message, Tool } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { ai, textOf } from './bridge-calls.ts'
import { claudeError, type Codes } from './claude-error.ts'

/** Returns the messages of a prompt: a text, also as `prompt`, or turns, with a system text. */
function messagesOf(prompt: unknown): Message[] {
  const turns: unknown = Array.isArray(prompt) ? prompt : field(prompt, 'messages')
  const system = field(prompt, 'system')
  const start: Message[] = system ? [{ role: 'system', content: textOf(system) }] : []
  if (!Array.isArray(turns)) {
    return [...start, { role: 'user', content: textOf(field(prompt, 'prompt') ?? prompt) }]
  }
  return [
    ...start,
    ...turns.map((turn): Message => {
      const role = field(turn, 'role') === 'assistant' ? 'assistant' : 'user'
      return { role, content: field(turn, 'content') ?? textOf(field(turn, 'text')) }
    }),
  ]
}

export const complete = async (prompt: unknown): Promise<string> =>
  (await ai.chat(messagesOf(prompt))).text

type Tier = 'quick' | 'default' | 'complex'

/** A function of the page. It gets a signal that ends with the call. */
interface SampleTool extends Omit<Tool, 'execute'> {
  inputSchema?: object
  input_schema?: object
  execute?: (input: unknown, context: { signal: AbortSignal }) => unknown
}

interface SampleOptions {
  onText?: (progress: { text: string; delta: string }) => void
  signal?: AbortSignal
  tools?: SampleTool[]
  images?: Blob | Iterable<Blob>
  modelTier?: Tier
  maxTokens?: number
}

const codes: Codes = {
  bad_json: 'invalid_json',
  bad_request: 'invalid_request',
  daily_cap: 'rate_limited',
  data_limit: 'rate_limited',
  holds_limit: 'rate_limited',
  not_enough_credits: 'rate_limited',
  too_large: 'prompt_too_large',
}

const mediaTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']

const toolOf = (
  { inputSchema, input_schema: schema = inputSchema, execute, ...tool }: SampleTool,
  signal: AbortSignal,
): Tool => ({
  parameters: schema,
  ...tool,
  ...(execute && { execute: (input) => execute(input, { signal }) }),
})

/** Chats. An error has the text that had arrived before it. */
async function ask(input: unknown, options: SampleOptions = {}, json?: true | object) {
  const { onText, signal, tools, images = [], modelTier: tier = 'default', maxTokens } = options
  const ending = new AbortController()
  let text = ''
  try {
    return await ai.chat(messagesOf(input), {
      onText: (delta, all) => {
        text = all
        if (!signal?.aborted) onText?.({ text, delta })
      },
      signal,
      images: images instanceof Blob ? [images] : [...images],
      tier,
      maxTokens,
      json,
      tools: tools?.map((tool) => toolOf(tool, ending.signal)),
    })
  } catch (error) {
    throw claudeError(error, codes, text === '' ? {} : { text })
  } finally {
    ending.abort()
  }
}

/** The namespace `sample` of `claude.use`. */
export const sample = Object.freeze(
  Object.assign(
    async (input: unknown, options: SampleOptions = {}) => {
      const { text, truncated } = await ask(input, options)
      return { text, truncated, modelTierApplied: options.modelTier ?? 'default' }
    },
    {
      json: async (input: unknown, options: SampleOptions & { schema?: object } = {}) =>
        (await ask(input, options, options.schema ?? true)).json,
      limits: async () => {
        const { textBytesMax, fileBytesMax } = await ai.limits()
        return {
          maxPromptBytes: textBytesMax,
          images: { maxCount: 8, maxInputBytes: fileBytesMax, mediaTypes },
          tools: { maxCount: 32 },
        }
      },
    },
  ),
)
