import { ApiError, type FieldNames } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, recordOf, toText } from '../../kernel/schema.ts'
import { effortOfBudget, findCount, invalidField, readFlag, searchIn } from '../fields.ts'
import { threadUnsupported } from './error-response.ts'
import { readMessages } from './input.ts'
import { readTools } from './tools.ts'

export interface MessagesRequest {
  /** The chat request that serves it. */
  chat: Json
  isStream: boolean
  /** False if the client does not want the text of the reasoning. */
  showsThinking: boolean
  stopSequences: string[]
}

/** Fields with the same meaning in a chat request, which parses them. */
export const sharedFields = [
  'model',
  'models',
  'provider',
  'web_search',
  'temperature',
  'top_p',
  'top_k',
] as const

/** Returns the names of a request's fields by those of the chat. */
export const fieldNames = (raw: unknown): FieldNames => ({
  stop: 'stop_sequences',
  response_format: 'output_config.format',
  reasoning_effort: recordOf(raw).thinking == null ? 'output_config.effort' : 'thinking',
  ...(recordOf(raw).web_search !== true && { web_search: searchIn('tools') }),
})

/** Fields that this module reads. */
const readFields = [
  'messages',
  'system',
  'max_tokens',
  'stream',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
]

/** Fields that change the price, the cache or the records of Anthropic, never the response. */
export const ignoredFields = ['metadata', 'service_tier', 'cache_control', 'diagnostics', 'betas']

const knownFields = new Set<string>([...sharedFields, ...readFields, ...ignoredFields])

/**
 * Parses a request of Anthropic's Messages API into a chat request. A field that would change the
 * response and has no equivalent is an error (docs/spec/gateway-decisions.md, "Anthropic
 * Messages"). Throws `no_messages`, `bad_request`.
 */
export function parseMessagesRequest(raw: unknown): MessagesRequest {
  const body = recordOf(raw)
  if (body.thread) throw threadError()
  for (const [name, value] of Object.entries(body)) {
    if (knownFields.has(name) || isUnset(value)) continue
    throw invalidField(name.slice(0, 100), `${name.slice(0, 100)} is not supported. Remove it.`)
  }
  const isStream = readFlag(body, 'stream')
  checkContextManagement(body.context_management)
  const outputMax = findCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER)
  const stop = readStopSequences(body.stop_sequences)
  const shared = sharedFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  return {
    chat: {
      ...Object.fromEntries(shared),
      messages: readMessages(body.messages, body.system),
      ...readTools(body.tools, body.tool_choice),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...(stop.length > 0 && { stop }),
      ...readOutputConfig(body),
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    },
    isStream,
    showsThinking: recordOf(body.thinking).display !== 'omitted',
    stopSequences: stop,
  }
}

const threadError = () =>
  new ApiError('bad_request', {
    problem: 'Conversations are not stored. Remove "thread", and send all messages.',
    param: 'thread',
    code: threadUnsupported,
  })

const isUnset = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0)

/** Reasoning of earlier turns is not sent, so clearing it has no further effect. */
function checkContextManagement(raw: unknown): void {
  for (const edit of itemsOf(recordOf(raw).edits)) {
    const type = toText(recordOf(edit).type)
    if (type.startsWith('clear_thinking_')) continue
    throw invalidField('context_management', `context_management does not support ${type}.`)
  }
}

function readStopSequences(raw: unknown): string[] {
  const list: unknown = raw ?? []
  const isList = Array.isArray(list) && list.every((mark) => typeof mark === 'string')
  if (!isList) throw invalidField('stop_sequences', 'stop_sequences must be an array of strings.')
  return list
}

/**
 * Reads the fields for reasoning and for the format of the output. Anthropic's default effort is
 * high. Agents send it with every model, and models without reasoning reject a reasoning_effort.
 */
function readOutputConfig({ thinking, output_config, output_format }: Json): Json {
  const { effort, format = output_format, ...others } = recordOf(output_config)
  for (const [name, value] of Object.entries(others)) {
    if (isUnset(value)) continue
    throw invalidField('output_config', `output_config.${name} is not supported. Remove it.`)
  }
  const reasoning_effort = isUnset(effort) || effort === 'high' ? effortOf(thinking) : effort
  return {
    ...(reasoning_effort !== undefined && { reasoning_effort }),
    ...(!isUnset(format) && { response_format: readFormat(format) }),
  }
}

/** Returns the effort for a budget of reasoning tokens; undefined where the model decides. */
function effortOf(raw: unknown): string | undefined {
  if (raw === undefined || raw === null) return undefined
  const { type, budget_tokens: budget } = recordOf(raw)
  if (type === 'adaptive' || type === 'disabled' || type === 'between_tools') return undefined
  if (type !== 'enabled' || typeof budget !== 'number') {
    throw invalidField('thinking', 'thinking must be adaptive, disabled, or enabled with a budget.')
  }
  return effortOfBudget(budget)
}

function readFormat(format: unknown): Json {
  const { type, schema } = recordOf(format)
  if (type !== 'json_schema' || !isRecord(schema)) {
    throw invalidField('output_config', 'The output format must be a json_schema with a schema.')
  }
  const strict = isStrict(schema)
  return { type, json_schema: { name: 'output', schema, ...(strict && { strict }) } }
}

/** Returns whether all objects of a schema require all their fields, as strict upstreams demand. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isRecord(schema)) return true
  const { type, properties, required, additionalProperties } = schema
  const names = Object.keys(recordOf(properties))
  const isClosed = additionalProperties === false && itemsOf(required).length === names.length
  return (type !== 'object' || isClosed) && Object.values(schema).every(isStrict)
}
