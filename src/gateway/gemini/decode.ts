/** One file, because the fields of a request and its contents are read together. */
import type { FieldNames } from '../../kernel/errors.ts'
import { choicesMax } from '../../kernel/limits.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf, toText } from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  MediaPart,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  ToolMessage,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { effortOfBudget } from '../conversation/effort.ts'
import { mediaTypeOf } from '../conversation/media.ts'
import { openAiNames, readSampling } from '../conversation/sampling.ts'
import { endsThought } from '../conversation/sealed-thought.ts'
import { originalId } from '../conversation/tools.ts'
import { findCount, invalidField, rejectOthers, searchIn } from '../fields.ts'
import { contentsOf, fieldsOf, ignoredPartFields, listOf, partsOf, textsOf } from './contents.ts'
import { parseSignature } from './thought-signature.ts'

/** Fields that this module reads. */
const readFields = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']

/** Fields that change the filter, the price or the records of Google, never the response. */
const ignoredFields = ['model', 'safetySettings', 'labels', 'serviceTier', 'store']

/** Those that upstreams of Google get: they cost nothing beside the tokens. */
export const passedFields: ReadonlySet<string> = new Set(['safetySettings', 'store'])

/** The fields of a request that are read or ignored. */
export const knownFields: ReadonlySet<string> = new Set([
  ...readFields,
  ...ignoredFields,
  'models',
  'provider',
])

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
  n: 'generationConfig.candidateCount',
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
  'logprobs',
  'maxOutputTokens',
  'responseJsonSchema',
  'responseLogprobs',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'stopSequences',
  'thinkingConfig',
])

/** Google's maximum of alternatives for a token. */
const logprobsMax = 20

interface DecodedGeneration extends DecodedChat {
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
  const count = (name: string, max: number) => findCount(config, name, max, 'generationConfig.')
  const outputMax = count('maxOutputTokens', Number.MAX_SAFE_INTEGER)
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
      choices: count('candidateCount', choicesMax) ?? 1,
      sampling: readSampling(config, samplingNames, 'generationConfig.'),
      stop: [config.stopSequences].flat().filter((text) => typeof text === 'string'),
      ...(reasoning && { reasoning }),
      ...(format && { format }),
      ...(config.responseLogprobs === true && {
        logprobs: count('logprobs', logprobsMax) ?? 0,
      }),
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
function checkConfig({ responseModalities }: Json): void {
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
  includeThoughts,
}: Json): Reasoning | undefined {
  const shown = includeThoughts === true && { summary: 'auto' }
  if (typeof level === 'string' && !/^(HIGH|THINKING_LEVEL_UNSPECIFIED)$/i.test(level)) {
    return { effort: level.toLowerCase(), ...shown }
  }
  if (typeof budget !== 'number' || budget < 0) return shown || undefined
  return budget < 1 ? { effort: 'none' } : { effort: effortOfBudget(budget), budget, ...shown }
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

const invalidContents = (problem: string) => invalidField('contents', problem)

interface OpenCall {
  id: string
  isOpen: boolean
}

/** The calls of a conversation by id and by name, each in its order. */
class Calls {
  private readonly byKey = new Map<string, { calls: OpenCall[]; next: number }>()
  private count = 0

  newId(): string {
    return `call_${this.count++}`
  }

  add(id: string, name: string): void {
    const call = { id, isOpen: true }
    for (const key of [`id ${id}`, `name ${name}`]) {
      const known = this.byKey.get(key)
      if (known) known.calls.push(call)
      else this.byKey.set(key, { calls: [call], next: 0 })
    }
  }

  /** Returns the id of the first call without a response, by the id or else by the name. */
  take(id: string, name: string): string | undefined {
    const call = this.findOpen(`id ${id}`) ?? this.findOpen(`name ${name}`)
    if (call) call.isOpen = false
    return call?.id
  }

  private findOpen(key: string): OpenCall | undefined {
    const known = this.byKey.get(key)
    while (known?.calls[known.next]?.isOpen === false) known.next += 1
    return known?.calls[known.next]
  }
}

/** A turn of the model that is being read. */
class Turn {
  readonly content: AssistantMessage['content'] = []
  private readonly thoughts = new Map<string, ThinkingPart>()
  private known = 0

  /** Returns the last thought with a text. A call follows, so that no thought is open. */
  findThought(text: string): ThinkingPart | undefined {
    for (; this.known < this.content.length; this.known += 1) {
      const part = this.content[this.known]
      if (part?.type === 'thinking') this.thoughts.set(part.text, part)
    }
    return this.thoughts.get(text)
  }
}

/**
 * Decodes `contents` and `systemInstruction` as a conversation. A function response belongs to the
 * call with its id, else to the first open call of its name. Consecutive contents of the model are
 * one message: a client that keeps a stream sends one for each of its events. Throws `bad_request`.
 */
function decodeContents(contents: unknown, systemInstruction: unknown): Message[] {
  const messages = readSystem(systemInstruction)
  const calls = new Calls()
  let turn = new Turn()
  for (const content of contentsOf(contents)) {
    const { role = 'user' } = fieldsOf(content)
    const parts = partsOf(content)
    if (role === 'model') {
      const isNew = turn.content.length === 0
      for (const part of parts) addModelPart(turn, part, calls)
      if (isNew && turn.content.length > 0) {
        messages.push({ role: 'assistant', content: turn.content })
      }
    } else if (role === 'user' || role === 'function') {
      const read = readUserTurn(parts, calls)
      messages.push(...read)
      if (read.length > 0) turn = new Turn()
    } else throw invalidContents('The role of a content must be user or model.')
  }
  return messages
}

/** Reads the system instruction as one text, which all APIs accept. */
function readSystem(instruction: unknown): Message[] {
  const texts = textsOf(partsOf(instruction))
  return texts.length === 0
    ? []
    : [{ role: 'system', content: [{ type: 'text', text: texts.join('\n\n') }] }]
}

/** Adds a part of the model to its turn. */
function addModelPart(turn: Turn, part: Json, calls: Calls): void {
  const { content } = turn
  const { text, thought, thoughtSignature, functionCall } = part
  const signed = typeof thoughtSignature === 'string' ? parseSignature(thoughtSignature) : undefined
  if (functionCall !== undefined) {
    for (const thought of signed?.thoughts ?? []) addThoughtOfCall(turn, thought)
    const { id, name, args } = fieldsOf(functionCall)
    if (typeof name !== 'string') throw invalidContents('A functionCall needs a name.')
    const callId = typeof id === 'string' && id !== '' ? originalId(id) : calls.newId()
    calls.add(callId, name)
    const signature = signed?.own !== undefined && { signature: signed.own }
    content.push({
      type: 'call',
      id: callId,
      name,
      arguments: JSON.stringify(args ?? {}),
      ...signature,
    })
    return
  }
  if (typeof text !== 'string') return
  if (thought === true) addThought(content, text)
  else addText(content, text)
  if (signed?.own !== undefined) addSignature(content, signed.own, thought === true)
  else for (const foreign of signed?.thoughts ?? []) addForeignThought(content, foreign)
}

type Content = Turn['content']

function addText(turn: Content, text: string): void {
  const last = turn.at(-1)
  if (last?.type === 'text') last.text += text
  else if (text !== '') turn.push({ type: 'text', text })
}

/** Returns the thought at the end of a turn that may go on. */
function openThought(turn: Content): ThinkingPart | undefined {
  const last = turn.at(-1)
  return last?.type === 'thinking' && last.signature === undefined ? last : undefined
}

function addThought(turn: Content, text: string): void {
  const last = openThought(turn)
  if (last) last.text += text
  else if (text !== '') turn.push({ type: 'thinking', text })
}

/** Adds Google's signature: to the thought that it ends, else behind the text. */
function addSignature(turn: Content, signature: string, isThought: boolean): void {
  const seal = { signature, origin: 'gemini' } as const
  const last = isThought ? openThought(turn) : undefined
  if (last) Object.assign(last, seal)
  else turn.push({ type: 'thinking', text: '', ...seal })
}

/** Adds a thought of another API. Its text may be in the parts before. */
function addForeignThought(turn: Content, thought: ThinkingPart): void {
  const last = thought.text === '' && endsThought(thought) ? openThought(turn) : undefined
  if (last) Object.assign(last, { ...thought, text: last.text })
  else turn.push(thought)
}

/** Adds a thought that came back with its call. The client may have sent it as a part, too. */
function addThoughtOfCall(turn: Turn, thought: ThinkingPart): void {
  const same = turn.findThought(thought.text)
  if (same) Object.assign(same, thought)
  else turn.content.push(thought)
}

function readUserTurn(parts: Json[], calls: Calls): Message[] {
  const isResult = ({ functionResponse }: Json): boolean => functionResponse !== undefined
  const results = parts.filter(isResult).map((part) => readFunctionResponse(part, calls))
  const content = parts.filter((part) => !isResult(part)).flatMap(readPart)
  return content.length === 0 ? results : [...results, { role: 'user', content }]
}

function readFunctionResponse(part: Json, calls: Calls): ToolMessage {
  const { id, name, response, parts } = fieldsOf(part.functionResponse)
  const callId = calls.take(originalId(toText(id)), toText(name))
  if (callId === undefined) {
    throw invalidContents('A functionResponse needs the id or the name of an earlier functionCall.')
  }
  const { text, isError } = readResult(response ?? {})
  return {
    role: 'tool',
    callId,
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...listOf(parts, 'contents').flatMap(readPart),
    ],
    ...(isError && { isError }),
  }
}

/** Reads a result. Google's clients send a text as `result` and a failure as `error`. */
function readResult(response: unknown): { text: string; isError: boolean } {
  const fields = recordOf(response)
  const isError = Boolean(fields.error)
  const [only, ...others] = Object.entries(fields)
  const [name, value] = only ?? []
  const isText = others.length === 0 && (name === 'result' || (isError && name === 'error'))
  const text = isText && typeof value === 'string' ? value : JSON.stringify(response)
  return { text, isError }
}

/** Reads a part of a user's content. */
function readPart(part: Json): (TextPart | MediaPart)[] {
  const { text, thought, inlineData, fileData } = part
  if (thought === true || text === '') return []
  if (typeof text === 'string') return [{ type: 'text', text }]
  if (inlineData !== undefined) return [readInline(fieldsOf(inlineData))]
  if (fileData !== undefined) return [readFile(fieldsOf(fileData))]
  const [kind = 'part'] = Object.keys(part)
  throw invalidContents(
    `A ${kind} is not supported here. Send text, inlineData, fileData or functionResponse.`,
  )
}

const mediaKinds = ['image', 'audio', 'video'] as const

function readInline({ mimeType, data, displayName }: Json): TextPart | MediaPart {
  if (typeof mimeType !== 'string' || typeof data !== 'string') {
    throw invalidContents('inlineData needs the strings mimeType and data.')
  }
  const mediaType = mediaTypeOf(data, mimeType)
  const source = { data, mediaType }
  const type = mediaKinds.find((kind) => mediaType.startsWith(`${kind}/`))
  if (type) return { type, source }
  if (mediaType.startsWith('text/')) {
    return { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') }
  }
  const filename = typeof displayName === 'string' ? displayName : 'file'
  return { type: 'file', source, filename }
}

/** Reads a file by its address, or by the id of an upload to this gateway. */
function readFile({ fileUri, mimeType }: Json): MediaPart {
  if (typeof fileUri !== 'string') throw invalidContents('fileData needs a fileUri.')
  const isImage = toText(mimeType).startsWith('image/')
  if (!URL.canParse(fileUri)) {
    const source = { fileId: fileUri.replace(/^files\//, '') }
    return { type: isImage ? 'image' : 'file', source }
  }
  if (isImage) return { type: 'image', source: { url: fileUri } }
  throw invalidContents('A fileUri must be an image, or the id of an uploaded file.')
}
