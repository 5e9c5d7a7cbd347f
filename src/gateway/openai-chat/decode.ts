import type { FieldNames } from '../../kernel/errors.ts'
import { choicesMax } from '../../kernel/limits.ts'
import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  lookUp,
  recordOf,
  recordsIn,
  toText,
} from '../../kernel/schema.ts'
import { isMarked } from '../conversation/cache-mark.ts'
import type {
  ChatRequest,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { openAiNames, readSampling } from '../conversation/sampling.ts'
import { completeTool, readAbout, readFunction } from '../conversation/tools.ts'
import { findCount, invalidField, readFlag, searchIn } from '../fields.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { decodeMessages } from './decode-messages.ts'
import { convertFunctionMessages, convertFunctions } from './functions.ts'

/** A parsed chat request, with the client's options of its response. */
interface DecodedOpenAiChat extends DecodedChat {
  /** True if the last chunk of the stream has the usage. */
  wantsUsage: boolean
  /** True if the client knows functions but no tools. */
  hasFunctions: boolean
}

/** `developerRole` replaces the role `developer`, which is rejected without it. */
interface DecodeOptions {
  developerRole?: 'system' | undefined
}

/**
 * Parses a chat request (document 2, section 4), messages first, in the order of section 7. Throws
 * `no_messages`, `bad_role`, `bad_part`, `no_usable_messages`, `bad_request`.
 */
export function decodeChat(raw: unknown, { developerRole }: DecodeOptions): DecodedOpenAiChat {
  const body = recordOf(raw)
  const sentMessages = insertFile(convertFunctionMessages(body.messages), body.file_id)
  const { sent, messages, needsRepair } = decodeMessages(sentMessages, developerRole)
  const {
    model,
    models,
    provider,
    file_id,
    usage,
    functions,
    function_call,
    random_seed,
    ...named
  } = body
  const { web_search, web_search_options, plugins, ...fields } = named
  rejectUnpricedFields(body, 'chat')
  checkTools(body.tools)
  const fromFunctions = convertFunctions(body)
  const options = body.stream_options ?? undefined
  if (options !== undefined && !isRecord(options)) {
    throw invalidField('stream_options', 'stream_options must be an object.')
  }
  // Mistral's name.
  const seed = fields.seed == null && random_seed != null && { seed: random_seed }
  const own: Json = { ...fields, ...seed, ...mapFields(fields), ...fromFunctions, messages: sent }
  if (Array.isArray(own.tools)) own.tools = recordsIn(own.tools).map(completeTool)
  return {
    model,
    models,
    provider,
    isStream: readFlag(body, 'stream'),
    wantsUsage: options?.include_usage === true || includesUsage(usage),
    request: {
      messages,
      ...readFields(own, body),
      ...(!needsRepair && { raw: { api: 'chat', body: own } }),
    },
    search: readFlag(body, 'web_search') || isRecord(web_search_options) || hasWebPlugin(plugins),
    hasFunctions: fromFunctions !== undefined,
  }
}

/** Returns the names of the fields in a request that this module reads under another name. */
export function sentNames(raw: unknown): FieldNames {
  const { web_search, web_search_options, plugins, max_tokens, max_completion_tokens } =
    recordOf(raw)
  const isOptions = isRecord(web_search_options)
  return {
    ...(web_search !== true && {
      // Without a field, the suffix `:online` of a model asks for the search.
      web_search: isOptions
        ? 'web_search_options'
        : searchIn(hasWebPlugin(plugins) ? 'plugins' : 'model'),
    }),
    ...(max_tokens == null &&
      max_completion_tokens != null && { max_tokens: 'max_completion_tokens' }),
  }
}

/**
 * Inserts the file of the request's field `file_id` (document 2) into the last user message. Throws
 * `bad_request`.
 */
function insertFile(messages: unknown, fileId: unknown): unknown {
  if (fileId === undefined || fileId === null || !Array.isArray(messages)) return messages
  const at = messages.findLastIndex((message) => isRecord(message) && message.role === 'user')
  if (at < 0 || typeof fileId !== 'string') {
    throw invalidField('file_id', 'file_id must be a string, and the request needs a user message.')
  }
  const message: unknown = messages[at]
  const content: unknown = isRecord(message) ? message.content : undefined
  const textParts =
    typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
  const parts: unknown[] = Array.isArray(content) ? content : textParts
  const withFile = [...parts, { type: 'file', file_id: fileId }]
  return messages.with(at, Object.assign({}, message, { content: withFile }))
}

/** Returns the fields under the names that all upstreams know. Throws `bad_request`. */
function mapFields({ tool_choice, reasoning, reasoning_effort }: Json): Json {
  if (reasoning !== undefined && reasoning !== null && !isRecord(reasoning)) {
    throw invalidField('reasoning', 'reasoning must be an object.')
  }
  const { effort, enabled, max_tokens: budget } = recordOf(reasoning)
  // OpenRouter's default effort.
  const word = enabled === true && budget == null ? 'medium' : undefined
  const mappedEffort = reasoning_effort ?? effort ?? (enabled === false ? 'none' : word)
  return {
    // Mistral's name.
    ...(tool_choice === 'any' && { tool_choice: 'required' }),
    ...(mappedEffort !== undefined && { reasoning_effort: mappedEffort }),
  }
}

/** The client runs tools of these types. */
const toolTypes = ['function', 'custom']

/** Throws `bad_request` for tools that run at the upstream: no hold covers their cost. */
function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalidField('tools', 'tools must be an array.')
  if (tools.every((tool) => isRecord(tool) && toolTypes.includes(toText(tool.type)))) return
  throw invalidField('tools', 'A tool must have the type function. Send web_search for a search.')
}

/** OpenRouter's field for usage in a stream, which OpenAI rejects. */
const includesUsage = (usage: unknown): boolean => isRecord(usage) && usage.include === true

/** OpenRouter's field for web search. Plugins are not forwarded: no hold covers their cost. */
const hasWebPlugin = (plugins: unknown): boolean =>
  Array.isArray(plugins) && plugins.some((plugin) => isRecord(plugin) && plugin.id === 'web')

const maxDefined = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)

/** Reads the fields beside the messages. Those without a place in `ChatRequest` are its `extra`. */
function readFields(own: Json, sent: Json): Omit<ChatRequest, 'messages' | 'raw'> {
  const choice = readToolChoice(own.tool_choice)
  const format = readFormat(own.response_format)
  const reasoning = readReasoning(own)
  const isSerial = own.parallel_tool_calls === false
  const logprobs = own.logprobs === true ? readCount(own.top_logprobs) : undefined
  const choices = findCount(sent, 'n', choicesMax) ?? 1
  const outputMax = maxDefined(
    findCount(sent, 'max_tokens', Number.MAX_SAFE_INTEGER),
    findCount(sent, 'max_completion_tokens', Number.MAX_SAFE_INTEGER),
  )
  // Other values reach the upstream as they are.
  const numbers = Object.entries(own).filter(([, value]) => typeof value === 'number')
  const sampling = readSampling(Object.fromEntries(numbers), openAiNames)
  const extra = extraOf(own, {
    response_format: format !== undefined || recordOf(own.response_format).type === 'text',
    parallel_tool_calls: isSerial,
    logprobs: logprobs !== undefined,
    top_logprobs: logprobs !== undefined,
  })
  return {
    tools: recordsIn(own.tools).map(readTool),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(isSerial && { isSerial }),
    ...(outputMax !== undefined && { outputMax }),
    choices,
    sampling,
    stop: [own.stop].flat().filter((text) => typeof text === 'string'),
    ...(reasoning && { reasoning }),
    ...(format && { format }),
    ...(logprobs !== undefined && { logprobs }),
    ...(isMarked(own) && { isCached: true }),
    extra,
  }
}

const samplingFields: readonly string[] = Object.values(openAiNames)

/** Fields that always have a place of their own in `ChatRequest`, or in the options around it. */
const placed = new Set([
  'messages',
  'stream',
  'stream_options',
  'n',
  'tools',
  'tool_choice',
  'max_tokens',
  'max_completion_tokens',
  'cache_control',
  'stop',
  'reasoning_effort',
])

/** Returns the other fields. `isRead` says which of those that may be odd were read. */
function extraOf(own: Json, isRead: Record<string, boolean>): Json {
  const extra: Json = {}
  for (const [name, value] of Object.entries(own)) {
    const isSampling = samplingFields.includes(name) && typeof value === 'number'
    if (!placed.has(name) && !isSampling && lookUp(isRead, name) !== true) extra[name] = value
  }
  return extra
}

const readCount = (value: unknown): number => (typeof value === 'number' ? value : 0)

function readTool({ type, function: called, custom, cache_control }: Json): Tool {
  const isCustom = type === 'custom'
  const definition = recordOf(isCustom ? custom : called)
  const { parameters, format, ...about } = definition
  const isCached = isMarked({ cache_control }) || isMarked(definition)
  return {
    ...readFunction({ ...about, parameters: isCustom ? format : parameters }),
    ...(isCustom && { isCustom }),
    ...(isCached && { isCached }),
  }
}

const nameOf = (tool: unknown): string => {
  const { function: called, custom, name } = recordOf(tool)
  return asString(recordOf(called ?? custom).name) || asString(name)
}

function readToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (!isRecord(choice)) return undefined
  if (choice.type !== 'allowed_tools') return { mode: 'required', names: [nameOf(choice)] }
  const { mode, tools } = recordOf(choice.allowed_tools)
  return { mode: mode === 'required' ? 'required' : 'auto', names: itemsOf(tools).map(nameOf) }
}

function readFormat(format: unknown): OutputFormat | undefined {
  const { type, json_schema } = recordOf(format)
  if (type === 'json_object') return { type: 'object' }
  if (type !== 'json_schema' || !isRecord(json_schema)) return undefined
  const { schema } = json_schema
  return isRecord(schema) ? { type: 'schema', schema, ...readAbout(json_schema) } : undefined
}

function readReasoning({ reasoning_effort: effort, reasoning }: Json): Reasoning | undefined {
  const { max_tokens: budget } = recordOf(reasoning)
  const read = {
    ...(typeof effort === 'string' && { effort }),
    ...(typeof budget === 'number' && budget > 0 && { budget }),
  }
  return Object.keys(read).length > 0 ? read : undefined
}
