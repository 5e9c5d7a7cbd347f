import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'

import { isRecord, type Json, recordOf } from '../../../kernel/schema.ts'
import { asString, recordsIn } from '../response.ts'
import { buildPrompt } from './prompt.ts'
import type { ProviderKind } from './provider-kinds.ts'

type Schema = LanguageModelV4FunctionTool['inputSchema']

const isSchema = (value: unknown): value is Schema => isRecord(value)

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/**
 * Converts an OpenAI chat request to the options of the provider packages. It drops parameters
 * without an equivalent, such as logprobs. The adapter rejects more than one choice before.
 */
export function buildCallOptions(
  body: Json,
  outputTokensMax: number | undefined,
  signal: AbortSignal,
  kind: ProviderKind,
): LanguageModelV4CallOptions {
  const prompt = buildPrompt(recordsIn(body.messages))
  const tools = recordsIn(body.tools).flatMap(toTool)
  const effort = efforts.find((word) => word === body.reasoning_effort)
  const stop = [body.stop].flat().filter((mark) => typeof mark === 'string')
  const isSerial = body.parallel_tool_calls === false
  return {
    prompt,
    abortSignal: signal,
    ...(outputTokensMax !== undefined && { maxOutputTokens: outputTokensMax }),
    ...numericOptions(body),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(tools.length > 0 && { tools, toolChoice: toToolChoice(body.tool_choice) }),
    ...(effort && !(kind.signsReasoning && hasUnsignedCall(prompt)) && { reasoning: effort }),
    ...toResponseFormat(body.response_format),
    ...(isSerial && { providerOptions: { anthropic: { disableParallelToolUse: true } } }),
  }
}

/** Numeric parameters by OpenAI's name. */
const numericNames = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
} as const

const numericOptions = (
  body: Json,
): { [K in (typeof numericNames)[keyof typeof numericNames]]?: number } =>
  Object.fromEntries(
    Object.entries(numericNames).flatMap(([name, own]) =>
      typeof body[name] === 'number' ? [[own, body[name]]] : [],
    ),
  )

function toTool({ function: called }: Json): LanguageModelV4FunctionTool[] {
  if (!isRecord(called)) return []
  const { name, description, parameters, strict } = called
  return [
    {
      type: 'function',
      name: asString(name),
      inputSchema: isSchema(parameters) ? parameters : { type: 'object', properties: {} },
      ...(typeof description === 'string' && { description }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  ]
}

function toToolChoice(choice: unknown): LanguageModelV4ToolChoice {
  if (choice === 'none' || choice === 'required') return { type: choice }
  const { function: called } = recordOf(choice)
  return isRecord(called) ? { type: 'tool', toolName: asString(called.name) } : { type: 'auto' }
}

function toResponseFormat(format: unknown): Pick<LanguageModelV4CallOptions, 'responseFormat'> {
  const { type, json_schema } = recordOf(format)
  if (type === 'json_object') return { responseFormat: { type: 'json' } }
  if (type !== 'json_schema' || !isRecord(json_schema)) return {}
  const { schema, name, description } = json_schema
  return {
    responseFormat: {
      type: 'json',
      ...(isSchema(schema) && { schema }),
      ...(typeof name === 'string' && { name }),
      ...(typeof description === 'string' && { description }),
    },
  }
}

/** Returns whether the last message is the result of a tool call whose reasoning was not sent. */
function hasUnsignedCall(prompt: LanguageModelV4Prompt): boolean {
  if (prompt.at(-1)?.role !== 'tool') return false
  const turn = prompt.findLast((message) => message.role === 'assistant')
  return turn?.role === 'assistant' && !turn.content.some(({ type }) => type === 'reasoning')
}
