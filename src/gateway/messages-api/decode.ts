import { ApiError, type FieldNames } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, recordOf, toText } from '../../kernel/schema.ts'
import type { OutputFormat, Reasoning } from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { isSystem, mediaIn } from '../conversation/contents.ts'
import { effortOfBudget } from '../conversation/effort.ts'
import { readSampling } from '../conversation/sampling.ts'
import { findCount, invalidField, readFlag, searchIn } from '../fields.ts'
import { readConversation } from './decode-messages.ts'
import { readTools } from './decode-tools.ts'
import { threadUnsupported } from './error-response.ts'

/** A request of the Messages API, with the options of its response. */
export interface DecodedMessages extends DecodedChat {
  /** False if the client does not want the text of the thinking. */
  showsThinking: boolean
  stopSequences: string[]
}

export const samplingNames = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

/** Fields with the same meaning in a chat request of this gateway. */
export const sharedFields = [
  'model',
  'models',
  'provider',
  'web_search',
  ...Object.values(samplingNames),
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

/** Betas that cost nothing beside the tokens. Anthropic rejects the fields of those not sent. */
const freeBetas =
  /^(claude-code|context-management|effort|fine-grained-tool-streaming|interleaved-thinking|mid-conversation-system|output-128k|pdfs|prompt-caching|prompt-caching-scope|structured-outputs|thinking-token-count|token-efficient-tools)-\d{4}-\d\d-\d\d$/

/**
 * Decodes a request of Anthropic's Messages API. A field that would change the response and has no
 * equivalent is an error (docs/spec/gateway-decisions.md, "Anthropic Messages"). Throws
 * `no_messages`, `bad_request`.
 */
export function decodeMessages(raw: unknown, headers = new Headers()): DecodedMessages {
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
  const messages = readConversation(body.messages, body.system)
  const { hasSearch, ...tools } = readTools(body.tools, body.tool_choice)
  const search = readFlag(body, 'web_search') || hasSearch
  const hasUploads = mediaIn(messages).some(({ source }) => 'fileId' in source)
  return {
    request: {
      messages,
      ...tools,
      ...(outputMax !== undefined && { outputMax }),
      choices: 1,
      sampling: readSampling(body, samplingNames),
      stop,
      ...readOutputConfig(body),
      ...(isRecord(body.cache_control) && { isCached: true }),
      extra: {},
      // The gateway replaces uploads, and adds its own search. Anthropic needs more than a system.
      ...(!search &&
        !hasUploads &&
        !messages.every(isSystem) && {
          raw: { api: 'messages', body, headers: readHeaders(headers) },
        }),
    },
    model: body.model,
    models: body.models,
    provider: body.provider,
    search,
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

/** Clearing thinking only saves tokens, so models of others may ignore it. */
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
 * high. Agents send it with every model, and models without reasoning reject an effort.
 */
function readOutputConfig({ thinking, output_config, output_format }: Json): {
  reasoning?: Reasoning
  format?: OutputFormat
} {
  const { effort, format = output_format, ...others } = recordOf(output_config)
  for (const [name, value] of Object.entries(others)) {
    if (isUnset(value)) continue
    throw invalidField('output_config', `output_config.${name} is not supported. Remove it.`)
  }
  const budget = readBudget(thinking)
  const reasoning = {
    ...(budget !== undefined && { effort: effortOfBudget(budget), budget }),
    ...(!isUnset(effort) && effort !== 'high' && { effort: readEffort(effort) }),
  }
  return {
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(!isUnset(format) && { format: readFormat(format) }),
  }
}

function readEffort(effort: unknown): string {
  if (typeof effort === 'string') return effort
  throw invalidField('output_config', 'output_config.effort must be a string.')
}

/** Returns the budget of thinking tokens; undefined where the model decides. */
function readBudget(raw: unknown): number | undefined {
  if (raw === undefined || raw === null) return undefined
  const { type, budget_tokens: budget } = recordOf(raw)
  if (type === 'adaptive' || type === 'disabled' || type === 'between_tools') return undefined
  if (type !== 'enabled' || typeof budget !== 'number') {
    throw invalidField('thinking', 'thinking must be adaptive, disabled, or enabled with a budget.')
  }
  return budget
}

function readFormat(format: unknown): OutputFormat {
  const { type, schema } = recordOf(format)
  if (type !== 'json_schema' || !isRecord(schema)) {
    throw invalidField('output_config', 'The output format must be a json_schema with a schema.')
  }
  return { type: 'schema', name: 'output', schema, ...(isStrict(schema) && { isStrict: true }) }
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

/** Returns the headers that belong to the API. */
function readHeaders(headers: Headers): Record<string, string> {
  const betas = (headers.get('anthropic-beta') ?? '').split(',').map((beta) => beta.trim())
  const free = betas.filter((beta) => freeBetas.test(beta)).join(',')
  return {
    'anthropic-version': headers.get('anthropic-version') ?? '2023-06-01',
    ...(free && { 'anthropic-beta': free }),
  }
}
