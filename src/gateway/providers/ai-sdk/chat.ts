import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'

import { newId } from '../../../kernel/ids.ts'
import { recordOf } from '../../../kernel/schema.ts'
import { toOpenAiUsage } from './usage.ts'

/** The first fields of a completion and of its chunks. */
export interface CompletionHead {
  id: string
  created: number
  model: string
}

/** Creates a head; `created` is in seconds since 1970. */
export const createHead = (model: string, created: number): CompletionHead => ({
  id: `chatcmpl-${newId()}`,
  created,
  model,
})

/** Completes a chat without streaming. */
export async function generateChat(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  head: CompletionHead,
): Promise<Response> {
  const { content, finishReason, usage, response } = await model.doGenerate(options)
  const message = toMessage(content)
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

const finishReasons: Partial<Record<LanguageModelV4FinishReason['unified'], string>> = {
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

/** Returns OpenAI's finish reason. Some providers have none for tool calls. */
export const toFinishReason = (
  { unified }: LanguageModelV4FinishReason,
  hasCalls: boolean,
): string => finishReasons[unified] ?? (hasCalls ? 'tool_calls' : 'stop')

function toMessage(content: LanguageModelV4Content[]) {
  const partsOfType = <T extends LanguageModelV4Content['type']>(type: T) =>
    content.filter(
      (part): part is Extract<LanguageModelV4Content, { type: T }> => part.type === type,
    )
  const text = partsOfType('text').map((part) => part.text)
  const calls = partsOfType('tool-call').filter(({ providerExecuted }) => !providerExecuted)
  const thoughts = partsOfType('reasoning')
  const details = thoughts.flatMap(
    (part) => toReasoningDetail(part.text, part.providerMetadata) ?? [],
  )
  const sources = partsOfType('source').flatMap(toAnnotations)
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

/** Converts a tool call, with the signature of its reasoning where Google's OpenAI API has it. */
export function toToolCall({
  toolCallId,
  toolName,
  input,
  providerMetadata,
}: LanguageModelV4ToolCall) {
  const signature = stringIn(providerMetadata, 'google', 'thoughtSignature')
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input },
    ...(signature && { extra_content: { google: { thought_signature: signature } } }),
  }
}

/** Returns signed reasoning, which the client sends back so that the model can continue. */
export function toReasoningDetail(text: string, metadata: unknown) {
  const data = stringIn(metadata, 'anthropic', 'redactedData')
  if (data) return { type: 'reasoning.encrypted', data }
  const signature =
    stringIn(metadata, 'anthropic', 'signature') ?? stringIn(metadata, 'google', 'thoughtSignature')
  return signature ? { type: 'reasoning.text', text, signature } : undefined
}

/** Converts a web source of the provider to a citation. */
export function toAnnotations(source: Extract<LanguageModelV4Content, { type: 'source' }>) {
  if (source.sourceType !== 'url') return []
  const { url, title = url } = source
  return [{ type: 'url_citation', url_citation: { url, title } }]
}

function stringIn(metadata: unknown, provider: string, name: string): string | undefined {
  const value = recordOf(recordOf(metadata)[provider])[name]
  return typeof value === 'string' ? value : undefined
}
