import { estimatePromptTokens, estimateTokens } from '../../gateway/models/tokens.ts'
import { createUsage, readUsage } from '../../gateway/models/usage.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import {
  callModel,
  ModelDeclined,
  NoModelResult,
  readJsonObject,
  type ServiceModel,
} from './model-call.ts'

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Calls a chat model once. Throws NoModelResult and ModelDeclined. */
export async function chat(
  ctx: AppContext,
  by: ServiceModel,
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
  const body = { messages, max_completion_tokens: maxTokens.output }
  const response = await readJsonObject(
    await callModel(ctx, by, { path: '/chat/completions', body, signal }),
  )
  const [choice]: unknown[] = Array.isArray(response['choices']) ? response['choices'] : []
  const { message, finish_reason: end } = recordOf(choice)
  const { content, refusal } = recordOf(message)
  const text = typeof content === 'string' ? content : ''
  const reported = readUsage(response['usage'], {
    prompt: maxTokens.input,
    completion: maxTokens.output,
  })
  const own = { prompt: estimatePromptTokens(body, 0), completion: estimateTokens(text) }
  const usage = reported ?? createUsage({ ...own, estimated: true })
  const reason = typeof refusal === 'string' ? refusal : ''
  if (end === 'content_filter' || reason !== '') {
    throw new ModelDeclined('the model declined the request', reason)
  }
  if (text === '') throw new NoModelResult('the response has no text')
  return { text, usage }
}
