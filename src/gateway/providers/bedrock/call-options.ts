import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'

import { isRecord } from '../../../kernel/schema.ts'
import type {
  Api,
  AssistantMessage,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  Part,
  TextPart,
  Tool,
  ToolMessage,
} from '../../conversation/chat-request.ts'
import type { Target } from '../../conversation/codec.ts'
import { isSystem } from '../../conversation/contents.ts'
import { effortOf } from '../../conversation/effort.ts'
import { mediaTypeOf, typeOfAddress } from '../../conversation/media.ts'
import {
  allowedTools,
  argumentsOf,
  modeOf,
  portableId,
  schemaOf,
  withOwnIds,
} from '../../conversation/tools.ts'
import {
  rejectChoices,
  rejectCustomTools,
  unsupportedMedia,
} from '../../conversation/unsupported.ts'
import { featuresOf, toThinking } from '../../messages-api/model-features.ts'

type Role<R extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: R }>
type AssistantPart = Role<'assistant'>['content'][number]
type Schema = LanguageModelV4FunctionTool['inputSchema']

const isSchema = (value: unknown): value is Schema => isRecord(value)

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
type Effort = (typeof efforts)[number]

/** Models that reject a request with cache points are the others. */
const cachingModels = /anthropic\.|claude|amazon\.nova/
const claude = /anthropic\.|claude/
/** These reject an output limit together with a high effort. */
const unlimitedAtHighEffort = /amazon\.nova-2-lite/

/** Returns the API whose models sign the thoughts of this model, so that it takes them back. */
export const originOf = (model: string): Api =>
  /(^|\.)openai\./.test(model) ? 'responses' : 'messages'

/**
 * Converts a chat to the options of the Bedrock package. Parameters without an equivalent are left
 * out. Throws `bad_request` for what may not be left out.
 */
export function toCallOptions(
  request: ChatRequest,
  target: Target,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const { tools, sampling, stop, isSerial, format, outputMax = Infinity } = request
  rejectChoices(request.choices)
  rejectCustomTools(tools)
  const prompt = buildPrompt(request, target.model)
  const limit = Math.min(outputMax, target.outputMax)
  const { bedrock, ...thinking } = claude.test(target.model)
    ? toClaudeThinking(request, target.model, { prompt, limit })
    : toEffort(request, target.model)
  const { minP: _, ...known } = sampling
  return {
    prompt,
    abortSignal: signal,
    ...(!target.stopsItself && { maxOutputTokens: limit }),
    ...known,
    ...(stop.length > 0 && { stopSequences: stop }),
    ...toTools(request),
    ...thinking,
    ...(format && { responseFormat: toResponseFormat(format) }),
    providerOptions: {
      ...(bedrock && { bedrock }),
      ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
    },
  }
}

/** The options of a reasoning; `bedrock`: those that only this package has. */
interface ReasoningOptions {
  reasoning?: Effort
  maxOutputTokens?: number
  bedrock?: JSONObject
}

/** Returns the thinking of Claude. The package adds a budget to the output limit. */
function toClaudeThinking(
  { reasoning = {} }: ChatRequest,
  model: string,
  { prompt, limit }: { prompt: LanguageModelV4Prompt; limit: number },
): ReasoningOptions {
  // Claude rejects thoughts about a tool call without their signature.
  if (hasUnsignedCall(prompt)) return {}
  const { thinking = {}, effort } = toThinking(reasoning, featuresOf(model), limit)
  const { type, budget_tokens: budgetTokens } = thinking
  if (type === 'adaptive') {
    const maxReasoningEffort = effort !== undefined && { maxReasoningEffort: effort }
    return { bedrock: { reasoningConfig: { type, ...maxReasoningEffort } } }
  }
  if (type !== 'enabled' || typeof budgetTokens !== 'number') return {}
  return {
    maxOutputTokens: limit - budgetTokens,
    bedrock: { reasoningConfig: { type, budgetTokens } },
  }
}

/** Returns the effort of other models. */
function toEffort({ reasoning }: ChatRequest, model: string): ReasoningOptions {
  const name = effortOf(reasoning)
  const effort = efforts.find((word) => word === name)
  const isHigh = effort === 'high' || effort === 'xhigh' || effort === 'max'
  if (!effort) return {}
  return { reasoning: isHigh && unlimitedAtHighEffort.test(model) ? 'medium' : effort }
}

/** Returns whether the last message is the result of a tool call whose reasoning was not sent. */
function hasUnsignedCall(prompt: LanguageModelV4Prompt): boolean {
  if (prompt.at(-1)?.role !== 'tool') return false
  const turn = prompt.findLast((message) => message.role === 'assistant')
  return turn?.role === 'assistant' && !turn.content.some(({ type }) => type === 'reasoning')
}

function toTools(request: ChatRequest): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  const { toolChoice } = request
  const allowed = allowedTools(request)
  if (allowed.length === 0) return {}
  const mode = modeOf(toolChoice)
  const [name, ...others] = typeof toolChoice === 'object' ? toolChoice.names : []
  const isOne = mode === 'required' && name !== undefined && others.length === 0
  return {
    tools: allowed.map(toTool),
    toolChoice: isOne ? { type: 'tool', toolName: name } : { type: mode },
  }
}

function toTool(tool: Tool) {
  const { name, description, isStrict } = tool
  const schema = schemaOf(tool)
  const inputSchema: Schema = isSchema(schema) ? schema : {}
  return {
    type: 'function' as const,
    name,
    inputSchema,
    ...(description !== undefined && { description }),
    ...(isStrict !== undefined && { strict: isStrict }),
  }
}

function toResponseFormat(
  format: OutputFormat,
): NonNullable<LanguageModelV4CallOptions['responseFormat']> {
  if (format.type === 'object') return { type: 'json' }
  const { schema, name, description } = format
  return {
    type: 'json',
    ...(isSchema(schema) && { schema }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  }
}

/**
 * Converts the messages, the system messages first, the only place that Bedrock accepts. A
 * conversation of system messages only becomes that of a user.
 */
function buildPrompt(request: ChatRequest, model: string): LanguageModelV4Prompt {
  const { messages, tools, isCached } = request
  const point = (isMarked: boolean | undefined) =>
    isMarked && cachingModels.test(model)
      ? { providerOptions: { bedrock: { cachePoint: { type: 'default' } } } }
      : {}
  const texts = messages.filter(isSystem).flatMap(({ content }) => textsOf(content))
  // The package has no cache points for tools. The system messages follow these.
  const marksTools = tools.some((tool) => tool.isCached)
  const turns = toTurns(
    withOwnIds(messages).filter((message) => !isSystem(message)),
    model,
    point,
  )
  const last = turns.at(-1)
  if (last && isCached) Object.assign(last, point(true))
  if (turns.length === 0) {
    return [{ role: 'user', content: [{ type: 'text', text: joinTexts(texts) }] }]
  }
  const system = texts.map(({ text, isCached: isMarked }, index): LanguageModelV4Message => {
    const isLast = index === texts.length - 1
    return { role: 'system', content: text, ...point(isMarked || (isLast && marksTools)) }
  })
  return [...system, ...turns]
}

/** Returns the texts that Bedrock accepts: it rejects blank ones. */
const textsOf = (content: readonly Part[]): TextPart[] =>
  content.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part] : []))

const joinTexts = (parts: TextPart[]): string => parts.map(({ text }) => text).join('\n\n')

/** Returns the cache point of a part with a mark. */
type CachePoint = (
  isMarked: boolean | undefined,
) => Pick<LanguageModelV4TextPart, 'providerOptions'>

/** Converts messages; the tool results of one turn become one message. */
function toTurns(messages: Message[], model: string, point: CachePoint): LanguageModelV4Prompt {
  const turns: LanguageModelV4Prompt = []
  const tools = new Map<string, string>()
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const part of message.content) if (part.type === 'call') tools.set(part.id, part.name)
      const content = toAssistantParts(message, model, point)
      if (content.length > 0) turns.push({ role: 'assistant', content })
    } else if (message.role === 'tool') {
      const result = toToolResult(message, tools.get(message.callId) ?? '', point)
      const last = turns.at(-1)
      if (last?.role === 'tool') last.content.push(result)
      else turns.push({ role: 'tool', content: [result] })
    } else {
      const content = toUserParts(message.content, point)
      if (content.length > 0) turns.push({ role: 'user', content })
    }
  }
  return turns
}

const toUserParts = (
  content: readonly (TextPart | MediaPart)[],
  point: CachePoint,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] =>
  content.flatMap((part): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] => {
    if (part.type !== 'text') return [{ ...toFile(part), ...point(part.isCached) }]
    return part.text.trim() ? [{ type: 'text', text: part.text, ...point(part.isCached) }] : []
  })

function toFile({ type, source, filename }: MediaPart): LanguageModelV4FilePart {
  const name = filename === undefined ? {} : { filename }
  if ('data' in source) {
    const { data } = source
    const mediaType = mediaTypeOf(data, source.mediaType)
    return { type: 'file', mediaType, data: { type: 'data', data }, ...name }
  }
  const url = 'url' in source ? URL.parse(source.url) : undefined
  if (!url) throw unsupportedMedia('texts and inline media')
  // The package does not detect it.
  const mediaType = typeOfAddress(type, url)
  return { type: 'file', mediaType, data: { type: 'url', url }, ...name }
}

/** Converts a turn of the model. A thought goes back with its signature, and only with that. */
function toAssistantParts(
  { content }: AssistantMessage,
  model: string,
  point: CachePoint,
): AssistantPart[] {
  return content.flatMap((part): AssistantPart[] => {
    switch (part.type) {
      case 'text':
        return part.text.trim() ? [{ type: 'text', text: part.text, ...point(part.isCached) }] : []
      case 'thinking': {
        const { text, signature, origin, isEncrypted } = part
        if (signature === undefined || origin !== originOf(model)) return []
        const bedrock = isEncrypted ? { redactedContent: signature } : { signature }
        return [{ type: 'reasoning', text, providerOptions: { bedrock } }]
      }
      case 'call': {
        const { id, name: toolName, isCached } = part
        const call = { toolCallId: portableId(id), toolName, input: argumentsOf(part) }
        return [{ type: 'tool-call', ...call, ...point(isCached) }]
      }
      default:
        return []
    }
  })
}

function toToolResult(
  { callId, content, isError, isCached }: ToolMessage,
  toolName: string,
  point: CachePoint,
): Role<'tool'>['content'][number] {
  const toolCallId = portableId(callId)
  const isMarked = isCached || content.some((part) => part.isCached)
  const output = toOutput(content, isError === true)
  return { type: 'tool-result', toolCallId, toolName, output, ...point(isMarked) }
}

/** Converts the content of a result. The package has no field for a failed call. */
function toOutput(
  content: ToolMessage['content'],
  isError: boolean,
): LanguageModelV4ToolResultOutput {
  const text = textsOf(content)
    .map((part) => part.text)
    .join('\n')
  const spoken = isError ? `Error: ${text}` : text
  const media = content.filter((part) => part.type !== 'text')
  if (media.length === 0 && spoken) return { type: 'text', value: spoken }
  const first = spoken ? [{ type: 'text' as const, text: spoken }] : []
  return { type: 'content', value: [...first, ...media.map(toFile)] }
}
