/**
 * Prompts of Claude's pages: `claude.complete` of artifacts in chats, and `sample` of Claude Code.
 * Source: the documentation and public pages of Claude, as of November 2026.
 */
import type { Message, Tool } from '../bridge/chat.ts'
import { field } from '../frame/messages.ts'
import { ai, textOf } from './bridge-calls.ts'

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

interface SampleOptions {
  onText?: (progress: { text: string; delta: string }) => void
  signal?: AbortSignal
  tools?: (Tool & { inputSchema?: object; input_schema?: object })[]
  images?: Blob[]
  modelTier?: 'quick' | 'default' | 'complex'
  maxTokens?: number
}

const chatOptions = (options: SampleOptions = {}) => {
  const { onText, signal, tools, images, modelTier: tier, maxTokens } = options
  return {
    onText: (delta: string, text: string) => onText?.({ text, delta }),
    signal,
    images,
    tier,
    maxTokens,
    tools: tools?.map(({ inputSchema, input_schema: schema = inputSchema, ...tool }) => ({
      parameters: schema,
      ...tool,
    })),
  }
}

/** The namespace `sample` of `claude.use`. */
export const sample = Object.assign(
  async (input: unknown, options?: SampleOptions) => {
    const { text, truncated } = await ai.chat(messagesOf(input), chatOptions(options))
    return { text, truncated }
  },
  {
    json: async (input: unknown, options: SampleOptions & { schema?: object } = {}) => {
      const chat = { ...chatOptions(options), json: options.schema ?? true }
      return (await ai.chat(messagesOf(input), chat)).json
    },
    limits: async () => {
      const { textBytesMax, fileBytesMax } = await ai.limits()
      return { maxPromptBytes: textBytesMax, maxImageBytes: fileBytesMax }
    },
  },
)
