import { isRecord, type Json, pickFields, recordOf, recordsIn } from '../../kernel/schema.ts'
import { isMarked, markOf, withoutTtl } from '../conversation/cache-mark.ts'
import type { ChatRequest, OutputFormat, Tool, ToolChoice } from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { effortOf } from '../conversation/effort.ts'
import { openAiNames, writeSampling } from '../conversation/sampling.ts'
import { schemaOf } from '../conversation/tools.ts'
import { encodeMessages, needsRewrite } from './encode-messages.ts'
import { type Family, familyOf } from './families.ts'
import { createChatReader, readWholeChat } from './read.ts'

/** Differences of an upstream's HTTP API from OpenAI's current one. */
export interface ChatDialect {
  /** Its name for the output token limit; when undefined, the client's names are kept. */
  outputName?: 'max_completion_tokens' | 'max_tokens' | undefined
  /** It rejects `stream_options` and always sends the usage. */
  rejectsStreamOptions?: boolean | undefined
  /** Its family; by default that of an unknown upstream. */
  family?: Family
}

const unknownUpstream = familyOf('')

/** Creates the codec of an upstream with OpenAI's chat API. */
export const createChatCodec = (dialect: ChatDialect): UpstreamCodec => ({
  api: 'chat',
  encode: (request, target) => encodeChat(request, target, dialect),
  ignoredFields: (request) => ignoredFields(request, dialect.family ?? unknownUpstream),
  readWhole: readWholeChat,
  createReader: createChatReader,
})

/**
 * Encodes a chat. Listed fields of a client with this API pass unchanged, others are left out,
 * because they may cost more than the hold.
 */
export function encodeChat(
  request: ChatRequest,
  target: Target,
  dialect: ChatDialect,
): EncodedRequest {
  const family = dialect.family ?? unknownUpstream
  const own = ownBodyOf(request)
  const body = own ?? bodyOf(request, family)
  const messages =
    own && !needsRewrite(own.messages, family)
      ? own.messages
      : encodeMessages(request.messages, family)
  const picked = nameSeed(joinEffort(pickFields({ ...body, messages }, family.fields)), family)
  const { cache_control, ...unmarked } = allowTools(picked, family)
  const sent: Json = {
    ...unmarked,
    ...(family.hasCacheMarks && cache_control !== undefined && { cache_control }),
    ...streamField(picked, target),
  }
  const json = {
    ...sent,
    ...outputLimit(sent, target, dialect),
    model: target.model,
    ...streamOptions(sent, dialect),
  }
  return { path: '/chat/completions', body: withDefaultCacheTtl(json, family) }
}

/** Returns the client's own body, where it has this API. */
const ownBodyOf = ({ raw }: ChatRequest): Json | undefined =>
  raw?.api === 'chat' ? raw.body : undefined

/** Fields that the codec sets itself. */
const ownFields = ['model', 'messages', 'stream', 'stream_options']

/** Returns the fields of a request that have a value and that the family does not know. */
function ignoredFields(request: ChatRequest, family: Family): string[] {
  const body = ownBodyOf(request) ?? bodyOf(request, family)
  return Object.keys(body).filter(
    (name) =>
      !family.fields.has(name) && !ownFields.includes(name) && (body[name] ?? null) !== null,
  )
}

/** Writes the fields of a request beside its messages. */
function bodyOf(request: ChatRequest, family: Family): Json {
  const { tools, toolChoice, sampling, stop, format, logprobs, reasoning, extra } = request
  // A client of this API has the budget in its own field.
  const hasOwnBudget = isRecord(extra.reasoning)
  const effort = hasOwnBudget ? reasoning?.effort : effortOf(reasoning)
  return {
    ...extra,
    ...(tools.length > 0 && { tools: tools.map((tool) => writeTool(tool, family)) }),
    ...(toolChoice !== undefined && { tool_choice: writeToolChoice(toolChoice, tools) }),
    ...(request.isSerial && { parallel_tool_calls: false }),
    ...(request.outputMax !== undefined && { max_tokens: request.outputMax }),
    ...(request.choices > 1 && { n: request.choices }),
    ...writeSampling(sampling, openAiNames),
    ...(stop.length > 0 && { stop }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(format && { response_format: writeFormat(format) }),
    ...(logprobs !== undefined && { logprobs: true }),
    ...(logprobs !== undefined && logprobs > 0 && { top_logprobs: logprobs }),
    ...markOf(request.isCached),
  }
}

function writeTool(tool: Tool, { hasCacheMarks }: Family): Json {
  const { name, description, parameters, isStrict, isCustom, isCached } = tool
  const about = { name, ...(description !== undefined && { description }) }
  const mark = hasCacheMarks ? markOf(isCached) : {}
  if (isCustom) {
    return {
      type: 'custom',
      custom: { ...about, ...(parameters && { format: parameters }) },
      ...mark,
    }
  }
  return {
    type: 'function',
    function: {
      ...about,
      parameters: schemaOf(tool),
      ...(isStrict !== undefined && { strict: isStrict }),
    },
    ...mark,
  }
}

function writeToolChoice(choice: ToolChoice, tools: Tool[]): unknown {
  if (typeof choice === 'string') return choice
  const { mode, names } = choice
  const allowed = names.map((name) => {
    const isCustom = tools.some((tool) => tool.name === name && tool.isCustom)
    return isCustom
      ? { type: 'custom', custom: { name } }
      : { type: 'function', function: { name } }
  })
  return mode === 'required' && allowed.length === 1
    ? allowed[0]
    : { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } }
}

function writeFormat(format: OutputFormat): Json {
  if (format.type === 'object') return { type: 'json_object' }
  const { schema, name = 'response', description, isStrict } = format
  const about = { name, ...(description !== undefined && { description }) }
  const strict = isStrict === undefined ? {} : { strict: isStrict }
  return { type: 'json_schema', json_schema: { ...about, schema, ...strict } }
}

/** Leaves only the allowed tools for an upstream that does not know such a choice. */
function allowTools(body: Json, { hasAllowedTools }: Family): Json {
  const choice = recordOf(body.tool_choice)
  if (hasAllowedTools || choice.type !== 'allowed_tools') return body
  const { mode, tools } = recordOf(choice.allowed_tools)
  const names = new Set(recordsIn(tools).map(toolName))
  const allowed = recordsIn(body.tools).filter((tool) => names.has(toolName(tool)))
  return { ...body, tools: allowed, tool_choice: mode }
}

const toolName = ({ function: called, custom, name }: Json): unknown =>
  recordOf(called ?? custom).name ?? name

/** Moves the effort into `reasoning`, because OpenRouter rejects two of them. */
function joinEffort({ reasoning_effort: effort, ...body }: Json): Json {
  if (effort === undefined) return body
  if (!isRecord(body.reasoning)) return { ...body, reasoning_effort: effort }
  return { ...body, reasoning: { effort, ...body.reasoning } }
}

const nameSeed = ({ seed, ...body }: Json, { seedName = 'seed' }: Family): Json =>
  seed === undefined ? body : { ...body, [seedName]: seed }

function streamField({ stream }: Json, { isStream }: Target): Json {
  if ((stream === true) === isStream) return {}
  return { stream: isStream ? true : undefined }
}

/** Requests the usage of every stream, because the charge depends on it. */
function streamOptions(body: Json, { rejectsStreamOptions }: ChatDialect): Json {
  if (rejectsStreamOptions) return { stream_options: undefined }
  if (body.stream !== true) return {}
  return { stream_options: { ...recordOf(body.stream_options), include_usage: true } }
}

/** Sets the lower output token limit of client and hold, under the name that the upstream knows. */
function outputLimit(body: Json, target: Target, { outputName }: ChatDialect): Json {
  const { max_tokens, max_completion_tokens } = body
  const limits = [max_tokens, max_completion_tokens].filter((limit) => typeof limit === 'number')
  if (limits.length === 0 && target.stopsItself) return {}
  const limit = Math.min(...limits, target.outputMax)
  if (outputName) {
    return { max_tokens: undefined, max_completion_tokens: undefined, [outputName]: limit }
  }
  if (typeof max_completion_tokens !== 'number') return { max_tokens: limit }
  return {
    ...(typeof max_tokens === 'number' && { max_tokens: limit }),
    max_completion_tokens: limit,
  }
}

/**
 * Removes `ttl` from cache marks: an hour in the cache costs more than the price covers. Schemas
 * and examples of the client keep their own fields of that name.
 */
function withDefaultCacheTtl(body: Json, { hasCacheMarks }: Family): Json {
  const tools = recordsIn(body.tools)
  const toolMarks = tools.flatMap((tool) => [tool, recordOf(tool.function)])
  const messages = recordsIn(body.messages)
  const parts = messages.flatMap((message) => [
    message,
    ...recordsIn(message.content),
    ...recordsIn(message.tool_calls),
  ])
  const hasMarks = toolMarks.some(isMarked)
  const unmark = (value: Json): Json => (hasCacheMarks ? withoutTtl(value) : withoutMark(value))
  const isLong = [body, ...toolMarks, ...parts].some(
    (value) => recordOf(value.cache_control).ttl != null,
  )
  if (!isLong && (hasCacheMarks || !hasMarks)) return body
  return {
    ...withoutTtl(body),
    ...(tools.length > 0 && {
      tools: tools.map((tool) =>
        unmark(isRecord(tool.function) ? { ...tool, function: unmark(tool.function) } : tool),
      ),
    }),
    messages: messages.map((message) => withMarks(message, unmark)),
  }
}

function withMarks(message: Json, unmark: (value: Json) => Json): Json {
  const { content, tool_calls } = message
  return unmark({
    ...message,
    ...(Array.isArray(content) && { content: recordsIn(content).map(unmark) }),
    ...(Array.isArray(tool_calls) && { tool_calls: recordsIn(tool_calls).map(unmark) }),
  })
}

const withoutMark = ({ cache_control: _, ...value }: Json): Json => value
