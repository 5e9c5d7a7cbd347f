import type { FieldNames } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import type { OutputFormat, Reasoning, Tool, ToolChoice } from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { effortOfBudget } from '../conversation/effort.ts'
import { openAiNames, readSampling } from '../conversation/sampling.ts'
import { findCount, invalidField, rejectOthers, searchIn } from '../fields.ts'
import { fieldsOf, ignoredPartFields, listOf } from './contents.ts'
import { decodeContents } from './decode-contents.ts'

/** Fields that this module reads. */
const readFields = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']

/** Fields that change the filter, the price or the records of Google, never the response. */
const ignoredFields = ['model', 'safetySettings', 'labels', 'serviceTier', 'store']

/** Those that upstreams of Google get: they cost nothing beside the tokens. */
export const passedFields: ReadonlySet<string> = new Set(['safetySettings', 'store'])

const knownFields = new Set<string>([...readFields, ...ignoredFields, 'models', 'provider'])

/** Google's names of the sampling parameters. */
export const samplingNames = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  seed: 'seed',
} as const
const samplingFields = Object.values(samplingNames)

/** The names of a request's fields by those of the chat. */
export const fieldNames: FieldNames = {
  messages: 'contents',
  web_search: searchIn('tools'),
  tool_choice: 'toolConfig',
  max_tokens: 'generationConfig.maxOutputTokens',
  response_format: 'generationConfig.responseSchema',
  reasoning_effort: 'generationConfig.thinkingConfig',
  stop: 'generationConfig.stopSequences',
  ...Object.fromEntries(
    samplingFields.map((name) => [openAiNames[name], `generationConfig.${name}`]),
  ),
}

/** The fields of generationConfig that upstreams of Google get. */
export const knownConfig: ReadonlySet<string> = new Set([
  ...samplingFields,
  'candidateCount',
  'maxOutputTokens',
  'responseJsonSchema',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'stopSequences',
  'thinkingConfig',
])

export interface DecodedGeneration extends DecodedChat {
  /** True if the client wants the text of the reasoning. */
  showsThoughts: boolean
}

/**
 * Decodes a request of Google's Gemini API. `model` and `isStream` come from its path. A field that
 * would change the response and has no equivalent is an error (docs/spec/gateway-decisions.md,
 * "Gemini"). Throws `bad_request`.
 */
export function decodeGeneration(
  raw: unknown,
  model: string,
  isStream: boolean,
): DecodedGeneration {
  const sent = recordOf(raw)
  const body = fieldsOf(sent)
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
  const messages = decodeContents(body.contents, body.systemInstruction)
  const { tools, toolChoice, search } = readTools(body.tools, body.toolConfig)
  const format = readFormat(config)
  const thinking = fieldsOf(config.thinkingConfig)
  const reasoning = readThinking(thinking)
  const ignored = ignoredFields.filter((name) => name !== 'model' && body[name] != null)
  const inParts = ignoredPartFields(body.contents)
  return {
    request: {
      messages,
      tools,
      ...(toolChoice && { toolChoice }),
      ...(outputMax !== undefined && { outputMax }),
      choices: 1,
      sampling: readSampling(config, samplingNames, 'generationConfig.'),
      stop: [config.stopSequences].flat().filter((text) => typeof text === 'string'),
      ...(reasoning && { reasoning }),
      ...(format && { format }),
      extra: {},
      raw: { api: 'gemini', body: sent },
    },
    model,
    models: body.models,
    provider: body.provider,
    isStream,
    search,
    showsThoughts: thinking.includeThoughts === true,
    ignored: {
      passed: [...ignored.filter((name) => !passedFields.has(name)), ...inParts],
      written: [...ignored, ...inParts],
    },
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

function readFormat({
  responseMimeType = 'text/plain',
  ...config
}: Json): OutputFormat | undefined {
  const schema = config.responseJsonSchema ?? toJsonSchema(config.responseSchema)
  if (responseMimeType === 'text/plain' && schema === undefined) return undefined
  if (responseMimeType !== 'application/json') {
    const problem =
      'responseMimeType must be text/plain, or application/json with a schema or none.'
    throw invalidField('generationConfig.responseMimeType', problem)
  }
  return isRecord(schema) ? { type: 'schema', name: 'output', schema } : { type: 'object' }
}

/**
 * Reads the effort of the reasoning. Google's default level is HIGH, and clients send it with every
 * model; models without reasoning reject an effort, so it sets none. A budget of -1 is the model's.
 */
function readThinking({
  thinkingBudget: budget,
  thinkingLevel: level,
}: Json): Reasoning | undefined {
  if (typeof level === 'string' && !/^(HIGH|THINKING_LEVEL_UNSPECIFIED)$/i.test(level)) {
    return { effort: level.toLowerCase() }
  }
  if (typeof budget !== 'number' || budget < 0) return undefined
  return budget < 1 ? { effort: 'none' } : { effort: effortOfBudget(budget), budget }
}

/** Google's names of a web search, by generation of models. */
const searches = ['googleSearch', 'googleSearchRetrieval']
const knownTools = new Set(['functionDeclarations', ...searches])

function readTools(raw: unknown, toolConfig: unknown) {
  const all = listOf(raw, 'tools')
  for (const tool of all) rejectOthers(tool, knownTools, 'tools.')
  const tools = all.flatMap((tool) => listOf(tool.functionDeclarations, 'tools').map(readFunction))
  const toolChoice = tools.length > 0 ? readChoice(tools, toolConfig) : undefined
  const search = all.some((tool) => searches.some((name) => Boolean(tool[name])))
  return { tools, toolChoice, search }
}

const modes = { AUTO: 'auto', VALIDATED: 'auto', ANY: 'required', NONE: 'none' } as const

function readChoice(tools: Tool[], toolConfig: unknown): ToolChoice | undefined {
  const { mode, allowedFunctionNames } = fieldsOf(fieldsOf(toolConfig).functionCallingConfig)
  const isUnset = mode === undefined || mode === null || mode === 'MODE_UNSPECIFIED'
  const choice = isUnset ? undefined : lookUp(modes, mode)
  if (!isUnset && !choice) {
    throw invalidField(
      'toolConfig',
      'The mode of a functionCallingConfig must be AUTO, ANY or NONE.',
    )
  }
  const allowed = new Set(itemsOf(allowedFunctionNames))
  if (choice === 'none' || allowed.size === 0) return choice
  const names = tools.map(({ name }) => name).filter((name) => allowed.has(name))
  return names.length === 0 ? 'none' : { mode: choice ?? 'auto', names }
}

function readFunction({ name, description, parameters, parametersJsonSchema }: Json): Tool {
  if (typeof name !== 'string' || name === '') {
    throw invalidField('tools', 'A function declaration needs a name.')
  }
  const schema = parametersJsonSchema ?? toJsonSchema(parameters)
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isRecord(schema) && { parameters: schema }),
  }
}

/** Numbers that Google's clients send as strings, because they are 64 bits long there. */
const numbers = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** Converts a schema of Google (a subset of OpenAPI 3.0, types in capitals) to JSON Schema. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema)
  if (!isRecord(schema)) return schema
  const { nullable, type, properties, ...others } = fieldsOf(schema)
  const own = typeof type === 'string' ? type.toLowerCase() : type
  const nested = Object.entries(others).map(([name, value]) => [
    name,
    numbers.has(name) && typeof value === 'string'
      ? Number(value)
      : isSchema(name)
        ? toJsonSchema(value)
        : value,
  ])
  return {
    ...(own !== undefined && { type: nullable === true ? [own, 'null'] : own }),
    ...Object.fromEntries(nested.filter(([name]) => name !== 'propertyOrdering')),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, toJsonSchema(value)]),
      ),
    }),
  }
}

const isSchema = (name: string): boolean =>
  ['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(name)
