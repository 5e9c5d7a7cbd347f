import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'

import { newId } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import { toOpenAiUsage } from './usage.ts'

/** What every answer and every chunk of one begins with. */
export interface CompletionHead {
  id: string
  created: number
  model: string
}

/** `created`: seconds since 1970. */
export const createHead = (model: string, created: number): CompletionHead => ({
  id: `chatcmpl-${newId()}`,
  created,
  model,
})

/** Asks for a whole answer; it is written as OpenAI's chat.completion. */
export async function generateChat(
  model: LanguageModelV4,
  asked: LanguageModelV4CallOptions,
  head: CompletionHead,
): Promise<Response> {
  const { content, finishReason, usage, response } = await model.doGenerate(asked)
  const message = messageOf(content)
  return Response.json({
    ...head,
    id: response?.id ?? head.id,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: toFinishReason(finishReason, message.tool_calls !== undefined),
      },
    ],
    usage: toOpenAiUsage(usage),
  })
}

const finishes = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'stop',
  interrupted: 'stop',
  other: 'stop',
} as const

/** OpenAI's word for how an answer ended; some providers have no word of their own for calls. */
export const toFinishReason = (
  { unified }: LanguageModelV4FinishReason,
  hasCalls: boolean,
): string => (hasCalls && finishes[unified] === 'stop' ? 'tool_calls' : finishes[unified])

function messageOf(content: LanguageModelV4Content[]) {
  const all = <T extends LanguageModelV4Content['type']>(type: T) =>
    content.filter(
      (part): part is Extract<LanguageModelV4Content, { type: T }> => part.type === type,
    )
  const text = all('text').map((part) => part.text)
  const calls = all('tool-call').filter(({ providerExecuted }) => !providerExecuted)
  const thoughts = all('reasoning')
  const details = thoughts.flatMap(
    (part) => toReasoningDetail(part.text, part.providerMetadata) ?? [],
  )
  const sources = all('source').flatMap(toAnnotations)
  return {
    role: 'assistant',
    content: text.length > 0 ? text.join('') : null,
    refusal: null,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.map((part) => part.text).join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => toToolCall(call)) }),
    ...(sources.length > 0 && { annotations: sources }),
  }
}

/** A call of a tool; the signature of its thought goes where Google's own OpenAI lane has it. */
export function toToolCall({
  toolCallId,
  toolName,
  input,
  providerMetadata,
}: LanguageModelV4ToolCall) {
  const signature = wordIn(providerMetadata, 'google', 'thoughtSignature')
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input },
    ...(signature && { extra_content: { google: { thought_signature: signature } } }),
  }
}

/** A signed thought, which the client sends back so that the model may go on from it. */
export function toReasoningDetail(text: string, metadata: unknown) {
  const data = wordIn(metadata, 'anthropic', 'redactedData')
  if (data) return { type: 'reasoning.encrypted', data }
  const signature =
    wordIn(metadata, 'anthropic', 'signature') ?? wordIn(metadata, 'google', 'thoughtSignature')
  return signature ? { type: 'reasoning.text', text, signature } : undefined
}

/** A page that the provider itself read, as OpenAI cites one. */
export function toAnnotations(source: Extract<LanguageModelV4Content, { type: 'source' }>) {
  if (source.sourceType !== 'url') return []
  const { url, title = url } = source
  return [{ type: 'url_citation', url_citation: { url, title } }]
}

function wordIn(metadata: unknown, provider: string, name: string): string | undefined {
  const held = isRecord(metadata) ? metadata[provider] : undefined
  const word = isRecord(held) ? held[name] : undefined
  return typeof word === 'string' ? word : undefined
}
