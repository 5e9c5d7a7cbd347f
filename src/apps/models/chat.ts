import { readWhole } from '../../gateway/chat/read-whole.ts'
import { gather } from '../../gateway/conversation/chat-event.ts'
import type { ChatRequest } from '../../gateway/conversation/chat-request.ts'
import { estimatePromptTokens, estimateTokens } from '../../gateway/models/tokens.ts'
import { createUsage, usageWithin } from '../../gateway/models/usage.ts'
import { chatBodyOf } from '../../gateway/openai-chat/chat-body.ts'
import type { AppContext } from '../../kernel/context.ts'
import { callOnce, ModelDeclined, NoModelResult, type ServiceModel } from './model-call.ts'

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Calls a chat model once. Throws NoModelResult and ModelDeclined. */
export async function chat(
  ctx: AppContext,
  { upstream: name, name: model }: ServiceModel,
  {
    messages,
    maxTokens,
    signal,
  }: {
    messages: Message[]
    /** Maximum tokens, as in the price. */
    maxTokens: { input: number; output: number }
    signal: AbortSignal
  },
) {
  const request: ChatRequest = {
    messages: messages.map(({ role, content }) => ({
      role,
      content: [{ type: 'text', text: content }],
    })),
    tools: [],
    choices: 1,
    sampling: {},
    stop: [],
    // Newer models of OpenAI reject the older name.
    extra: { max_completion_tokens: maxTokens.output },
  }
  const target = { model, isStream: false, outputMax: maxTokens.output, stopsItself: false }
  const read = await callOnce(ctx, name, signal, async (upstream, deadlines) =>
    readWhole(await upstream.chat({ request, ...target, signal: deadlines.signal }), deadlines),
  )
  const [choice] = gather(read.events).choices
  const textOf = (kind: 'text' | 'refusal'): string =>
    (choice?.content ?? []).map((part) => (part.type === kind ? part.text : '')).join('')
  const [text, refusal] = [textOf('text'), textOf('refusal')]
  if (choice?.reason === 'filtered' || refusal !== '') {
    throw new ModelDeclined('the model declined the request', refusal)
  }
  if (text === '') throw new NoModelResult('the response has no text')
  const limits = { prompt: maxTokens.input, completion: maxTokens.output }
  const reported = read.events.findLast((event) => event.type === 'usage')?.usage
  const own = {
    prompt: estimatePromptTokens(chatBodyOf(request), 0),
    completion: estimateTokens(text),
  }
  const usage =
    (reported && usageWithin(reported, limits)) ?? createUsage({ ...own, estimated: true })
  return { text, usage }
}
