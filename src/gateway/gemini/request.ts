import type { FieldNames } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import { effortOfBudget, findCount, invalidField, rejectOthers, searchIn } from '../fields.ts'
import { ignoredPartFields, readContents } from './contents.ts'
import { fieldsOf } from './fields.ts'
import { readTools, toJsonSchema } from './tools.ts'

export interface GenerateRequest {
  /** The chat request that serves it. */
  chat: Json
  /** True if the client wants the text of the reasoning. */
  showsThoughts: boolean
  /** Fields that have no effect where the chat is sent. */
  ignored: string[]
}

/** Fields that this module reads. */
const readFields = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']

/** Fields that change the filter, the price or the records of Google, never the response. */
const ignoredFields = ['model', 'safetySettings', 'labels', 'serviceTier', 'store']
/** Fields of this gateway. */
const routingFields = ['models', 'provider'] as const

const knownFields = new Set<string>([...readFields, ...ignoredFields, ...routingFields])

/** Fields of generationConfig with the same meaning in a chat request. */
const sharedConfig = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['stopSequences', 'stop'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['seed', 'seed'],
] as const

/** The names of a request's fields by those of the chat. */
export const fieldNames: FieldNames = {
  messages: 'contents',
  web_search: searchIn('tools'),
  tool_choice: 'toolConfig',
  max_tokens: 'generationConfig.maxOutputTokens',
  response_format: 'generationConfig.responseSchema',
  reasoning_effort: 'generationConfig.thinkingConfig',
  ...Object.fromEntries(sharedConfig.map(([name, inChat]) => [inChat, `generationConfig.${name}`])),
}

export const knownConfig = new Set<string>([
  ...sharedConfig.map(([name]) => name),
  'candidateCount',
  'maxOutputTokens',
  'responseJsonSchema',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'thinkingConfig',
])

/**
 * Parses a request of Google's Gemini API into a chat request. A field that would change the
 * response and has no equivalent is an error (docs/spec/gateway-decisions.md, "Gemini"). Throws
 * `bad_request`.
 */
export function parseGenerateRequest(raw: Json, model: string, isStream: boolean): GenerateRequest {
  const body = fieldsOf(raw)
  rejectOthers(body, knownFields)
  const config = fieldsOf(body.generationConfig)
  rejectOthers(config, knownConfig, 'generationConfig.')
  checkConfig(config)
  const outputMax = findCount(
    config,
    'maxOutputTokens',
    Number.MAX_SAFE_INTEGER,
    'generationConfig.',
  )
  const routing = routingFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  const shared = sharedConfig.flatMap(([name, chatName]) =>
    config[name] == null ? [] : [[chatName, config[name]]],
  )
  return {
    chat: {
      model,
      messages: readContents(body.contents, body.systemInstruction),
      ...Object.fromEntries(routing),
      ...Object.fromEntries(shared),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...readTools(body.tools, body.toolConfig),
      ...readFormat(config),
      ...readThinking(config.thinkingConfig),
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    },
    showsThoughts: fieldsOf(config.thinkingConfig).includeThoughts === true,
    ignored: [
      ...ignoredFields.filter((name) => name !== 'model' && body[name] != null),
      ...ignoredPartFields(body.contents),
    ],
  }
}

/** Throws `bad_request` for values of generationConfig that a chat does not have. */
function checkConfig({ candidateCount, responseModalities }: Json): void {
  if ((candidateCount ?? 1) !== 1) {
    throw invalidField('generationConfig.candidateCount', 'candidateCount must be 1.')
  }
  const modalities: unknown = responseModalities ?? ['TEXT']
  const isText = Array.isArray(modalities) && modalities.every((one) => one === 'TEXT')
  if (isText) return
  throw invalidField('generationConfig.responseModalities', 'responseModalities must be ["TEXT"].')
}

function readFormat({ responseMimeType = 'text/plain', ...config }: Json): Json {
  const schema = config.responseJsonSchema ?? toJsonSchema(config.responseSchema)
  if (responseMimeType === 'text/plain' && schema === undefined) return {}
  if (responseMimeType !== 'application/json') {
    const problem =
      'responseMimeType must be text/plain, or application/json with a schema or none.'
    throw invalidField('generationConfig.responseMimeType', problem)
  }
  if (schema === undefined) return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', schema } } }
}

/**
 * Reads the effort of the reasoning. Google's default level is HIGH, and clients send it with every
 * model; models without reasoning reject an effort, so it sets none. A budget of -1 is the model's.
 */
function readThinking(raw: unknown): Json {
  const { thinkingBudget: budget, thinkingLevel: level } = fieldsOf(raw)
  if (typeof level === 'string' && !/^(HIGH|THINKING_LEVEL_UNSPECIFIED)$/i.test(level)) {
    return { reasoning_effort: level.toLowerCase() }
  }
  if (typeof budget !== 'number' || budget < 0) return {}
  return { reasoning_effort: budget < 1 ? 'none' : effortOfBudget(budget) }
}
