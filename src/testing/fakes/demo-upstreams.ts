import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock'

import { gather } from '../../gateway/conversation/chat-event.ts'
import { decodeChat } from '../../gateway/openai-chat/decode.ts'
import { demoChat } from '../../gateway/providers/demo/chat-events.ts'
import type { ProviderModel } from '../fixtures/with-providers.ts'

/** The form of a response: one object, or a stream of events. */
export type Form = 'plain' | 'streamed'

/** The kinds of upstreams that chat, each with a model that clients know by its name. */
const kinds = [
  { kind: 'openai', base: '/v1', id: 'gpt-5.5' },
  { kind: 'anthropic', base: '/v1', id: 'claude-haiku-4-5' },
  { kind: 'google', base: '/v1beta', id: 'gemini-2.5-flash' },
  { kind: 'cohere', base: '/v2', id: 'command-r-08-2024' },
  { kind: 'bedrock', base: '', id: 'amazon.nova-lite-v1' },
] as const

export type ChatKind = (typeof kinds)[number]['kind']
export const chatKinds = kinds.map(({ kind }) => kind)

/** Returns the model of a kind, by which clients call it. */
export const modelOfKind = (kind: ChatKind): string =>
  kinds.find((one) => one.kind === kind)?.id ?? ''

/** A fake upstream of each kind. All play the demo model, each in the protocol of its kind. */
export interface DemoUpstreams {
  models: ProviderModel[]
  /** Returns the forms in which a kind answered tool results, and forgets its requests. */
  takeForms(kind: ChatKind): Form[]
  stop(): Promise<void>
}

/** Starts them on a free port of 127.0.0.1. */
export async function startDemoUpstreams(): Promise<DemoUpstreams> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' })
  const answered = new Map<string, Form[]>()
  mock.on({}, (request) => {
    const { model, messages, stream } = request
    if (messages.some(({ role }) => role === 'tool')) {
      answered.set(model, [...(answered.get(model) ?? []), stream ? 'streamed' : 'plain'])
    }
    return playDemo(request)
  })
  await mock.start()
  return {
    models: kinds.map(({ kind, base, id }) => ({
      id,
      kind,
      baseUrl: mock.url + base,
      contextLength: 200_000,
      maxOutput: 64_000,
    })),
    takeForms: (kind) => {
      const model = modelOfKind(kind)
      const calls = mock.getRequests().filter(({ path }) => path.includes(`/${model}/converse`))
      mock.clearRequests()
      const forms = answered.get(model) ?? []
      answered.delete(model)
      // Only the path of Bedrock's requests has their form.
      const shown = forms.length > 0 && kind === 'bedrock' ? calls.map(formOfPath) : forms
      return [...new Set(shown)].toSorted()
    },
    stop: () => mock.stop(),
  }
}

const formOfPath = ({ path }: { path: string }): Form =>
  path.endsWith('converse-stream') ? 'streamed' : 'plain'

/** Answers as the demo model does: "call <tool> {...}" calls it, and a tool result is repeated. */
function playDemo({ model, messages, tools }: ChatCompletionRequest) {
  const { request } = decodeChat({ messages, ...(tools && { tools }) }, {})
  const events = [...demoChat(model, request, false, 4_096, 0)]
  const content = gather(events).choices[0]?.content ?? []
  const reported = events.find((event) => event.type === 'usage')?.usage
  const [prompt = 0, output = 0] = [reported?.prompt, reported?.completion]
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: output,
    input_tokens: prompt,
    output_tokens: output,
    promptTokenCount: prompt,
    candidatesTokenCount: output,
  }
  const toolCalls = content.flatMap((part) =>
    part.type === 'call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  )
  // Gemini has no reason of its own for calls.
  const finish = model === modelOfKind('google') ? { finishReason: 'stop' } : {}
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return toolCalls.length > 0 ? { toolCalls, usage, ...finish } : { content: text, usage }
}
