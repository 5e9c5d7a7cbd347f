import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'

import { isRecord } from '../../core/schema.ts'
import { asString, recordsIn } from '../response.ts'
import { buildPrompt } from './prompt.ts'
import type { ProviderKind } from './provider-kinds.ts'

type Json = Record<string, unknown>
type Schema = LanguageModelV4FunctionTool['inputSchema']

const isSchema = (value: unknown): value is Schema => isRecord(value)

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/**
 * An OpenAI chat request as the provider packages take it. What they have no word for (logprobs,
 * penalties of some) goes unsaid; more than one choice is refused before.
 */
export function buildCallOptions(
  body: Json,
  most: number | undefined,
  signal: AbortSignal,
  kind: ProviderKind,
): LanguageModelV4CallOptions {
  const prompt = buildPrompt(recordsIn(body.messages))
  const tools = recordsIn(body.tools).flatMap(toolOf)
  const effort = efforts.find((word) => word === body.reasoning_effort)
  const stop = [body.stop].flat().filter((mark) => typeof mark === 'string')
  const isSerial = body.parallel_tool_calls === false
  return {
    prompt,
    abortSignal: signal,
    ...(most !== undefined && { maxOutputTokens: most }),
    ...numbersOf(body),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(tools.length > 0 && { tools, toolChoice: choiceOf(body.tool_choice) }),
    ...(effort && !(kind.signsReasoning && hasUnsignedCall(prompt)) && { reasoning: effort }),
    ...formatOf(body.response_format),
    ...(isSerial && { providerOptions: { anthropic: { disableParallelToolUse: true } } }),
  }
}

const names = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
} as const

const numbersOf = (body: Json): { [K in (typeof names)[keyof typeof names]]?: number } =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, own]) =>
      typeof body[name] === 'number' ? [[own, body[name]]] : [],
    ),
  )

function toolOf({ function: called }: Json): LanguageModelV4FunctionTool[] {
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

function choiceOf(choice: unknown): LanguageModelV4ToolChoice {
  if (choice === 'none' || choice === 'required') return { type: choice }
  const called = isRecord(choice) ? choice.function : undefined
  return isRecord(called) ? { type: 'tool', toolName: asString(called.name) } : { type: 'auto' }
}

function formatOf(format: unknown): Pick<LanguageModelV4CallOptions, 'responseFormat'> {
  if (!isRecord(format)) return {}
  if (format.type === 'json_object') return { responseFormat: { type: 'json' } }
  if (format.type !== 'json_schema' || !isRecord(format.json_schema)) return {}
  const { schema, name, description } = format.json_schema
  return {
    responseFormat: {
      type: 'json',
      ...(isSchema(schema) && { schema }),
      ...(typeof name === 'string' && { name }),
      ...(typeof description === 'string' && { description }),
    },
  }
}

/** Whether the call whose answer comes now was thought about, and its thoughts were not sent. */
function hasUnsignedCall(prompt: LanguageModelV4Prompt): boolean {
  if (prompt.at(-1)?.role !== 'tool') return false
  const turn = prompt.findLast((message) => message.role === 'assistant')
  return turn?.role === 'assistant' && !turn.content.some(({ type }) => type === 'reasoning')
}
