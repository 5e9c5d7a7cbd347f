/** One file, because the fields of a request and its contents are written together. */
import {
  isRecord,
  type Json,
  parseRecord,
  pickFields,
  recordOf,
  recordsIn,
} from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  ToolMessage,
} from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { isSystem } from '../conversation/contents.ts'
import { addressTypes, mediaTypeOf, typeOfAddress } from '../conversation/media.ts'
import { unknownFields, writeSampling } from '../conversation/sampling.ts'
import { argumentsOf, emptySchema, schemaOf } from '../conversation/tools.ts'
import { rejectCustomTools } from '../conversation/unsupported.ts'
import { contentsOf, fieldsOf, listOf, partFields, partsOf, textsOf } from './contents.ts'
import { knownConfig, passedFields, samplingNames } from './decode.ts'
import { isGemini3, isGemma, limitBudget, thinkingConfigOf } from './models.ts'
import { GenerateReader, jsonTool, readWhole } from './read.ts'
import { parseSignature } from './thought-signature.ts'

declare module '../conversation/chat-request.ts' {
  interface Apis {
    gemini: true
  }
}

/** Google's Gemini API as that of an upstream. */
export const geminiCodec: UpstreamCodec = {
  api: 'gemini',
  keyHeaders: (key) => ({ 'x-goog-api-key': key }),
  encode,
  ignoredFields: (request) =>
    request.raw?.api === 'gemini' ? [] : unknownFields(request, samplingNames),
  readWhole,
  createReader: () => new GenerateReader(),
}

function encode(request: ChatRequest, target: Target): EncodedRequest {
  const { model, isStream } = target
  const { raw } = request
  const method = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const { generationConfig, contents, ...body } =
    raw?.api === 'gemini' ? passRequest(raw.body) : writeRequest(request, target)
  const limited = { ...recordOf(generationConfig), ...limitOf(request, target) }
  const config = withinHold(limited, request, target)
  return {
    path: `/${model.includes('/') ? model : `models/${model}`}:${method}`,
    body: {
      ...body,
      contents: isGemini3(model) ? recordsIn(contents).map(signCalls) : contents,
      ...(Object.keys(config).length > 0 && { generationConfig: config }),
    },
  }
}

/** Returns the output limit: that of the hold, unless the model stops there by itself. */
function limitOf({ outputMax = Infinity }: ChatRequest, target: Target): Json {
  return target.stopsItself ? {} : { maxOutputTokens: Math.min(outputMax, target.outputMax) }
}

/** Lowers a budget of thoughts, which are a part of the output, where the hold lowers that. */
function withinHold(config: Json, { outputMax }: ChatRequest, target: Target): Json {
  const { thinkingConfig, maxOutputTokens } = config
  const { thinkingBudget, ...thinking } = fieldsOf(thinkingConfig)
  const isLowered = maxOutputTokens !== undefined && maxOutputTokens !== outputMax
  if (!isLowered || typeof thinkingBudget !== 'number' || thinkingBudget < 0) return config
  const within = limitBudget(target.model, target.outputMax, thinkingBudget)
  return { ...config, thinkingConfig: { ...thinking, thinkingBudget: within } }
}

/** Google's signature for calls that another model made, or whose signature was lost. */
const skippedSignature = 'skip_thought_signature_validator'

/**
 * Signs the first call of a content without signed calls: Gemini 3 and later reject unsigned ones
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
function signCalls(content: Json): Json {
  const parts = recordsIn(content.parts)
  const calls = parts.filter(({ functionCall }) => functionCall !== undefined)
  const [first] = calls
  if (!first || calls.some(({ thoughtSignature }) => thoughtSignature !== undefined)) return content
  const signed = { ...first, thoughtSignature: skippedSignature }
  return { ...content, parts: parts.with(parts.indexOf(first), signed) }
}

function writeRequest(request: ChatRequest, target: Target): Json {
  const { tools, format, toolChoice } = request
  rejectCustomTools(tools)
  // Models before Gemini 3, and all with a forced call, reject JSON output beside functions. Then
  // the output is the call of a function, which the reader turns back into text.
  const isForced = toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
  const isCalled = format && tools.length > 0 && (isForced || !isGemini3(target.model))
  const config = {
    ...(request.choices > 1 && { candidateCount: request.choices }),
    ...encodeSampling(request, target.model),
    ...(request.stop.length > 0 && { stopSequences: request.stop.slice(0, stopsMax) }),
    ...(format && !isCalled && encodeFormat(format)),
    ...thinkingConfigOf(request.reasoning, target),
    ...encodeLogprobs(request.logprobs),
  }
  return {
    ...encodeContents(request.messages, target.model),
    ...(isCalled ? encodeTools(withJsonTool(request, format)) : encodeTools(request)),
    generationConfig: config,
  }
}

/** Google's maximum of stop sequences. */
const stopsMax = 5

/** Gemini 2.5 rejects penalties, except at Vertex AI. A seed has 32 bits. */
function encodeSampling({ sampling }: ChatRequest, model: string): Json {
  const { presencePenalty: _, frequencyPenalty: __, ...others } = samplingNames
  const { seed, ...numbers } = sampling
  return {
    ...writeSampling(numbers, /gemini-2\.5(?:[.-]|$)/.test(model) ? others : samplingNames),
    ...(seed !== undefined && { seed: seed | 0 }),
  }
}

const encodeLogprobs = (logprobs: number | undefined): Json =>
  logprobs === undefined ? {} : { responseLogprobs: true, ...(logprobs > 0 && { logprobs }) }

const encodeFormat = (format: OutputFormat): Json => ({
  responseMimeType: 'application/json',
  ...(format.type === 'schema' && { responseJsonSchema: withoutConst(format.schema) }),
})

/** Keywords of JSON Schema with a schema, or a list of them; and those with schemas by name. */
const nested = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'prefixItems'])
const named = new Set(['properties', '$defs'])

/** Writes `const` as an `enum` of one value: Google's output schemas do not have it. */
function withoutConst(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutConst)
  if (!isRecord(schema)) return schema
  const entries = Object.entries(schema).map(([name, value]): [string, unknown] => {
    if (name === 'const') return ['enum', [value]]
    if (nested.has(name)) return [name, withoutConst(value)]
    if (!named.has(name) || !isRecord(value)) return [name, value]
    const schemas = Object.entries(value).map(([key, one]) => [key, withoutConst(one)])
    return [name, Object.fromEntries(schemas)]
  })
  return Object.fromEntries(entries)
}

type ToolsOf = Pick<ChatRequest, 'tools' | 'toolChoice'>

/** Adds the function whose arguments are the output. The model must call it or another. */
function withJsonTool({ tools, toolChoice }: ChatRequest, format: OutputFormat): ToolsOf {
  const isSchema = format.type === 'schema'
  const tool: Tool = {
    name: jsonTool,
    description: (isSchema ? format.description : undefined) ?? 'Respond with a JSON object.',
    parameters: isSchema ? format.schema : emptySchema,
  }
  const all = [...tools, tool]
  if (typeof toolChoice !== 'object' && toolChoice !== 'none') {
    return { tools: all, toolChoice: 'required' }
  }
  const { mode, names } = toolChoice === 'none' ? { mode: 'auto', names: [] } : toolChoice
  const allowed = mode === 'required' ? names : [...names, jsonTool]
  return { tools: all, toolChoice: { mode: 'required', names: allowed } }
}

function encodeTools({ tools, toolChoice = 'auto' }: ToolsOf): Json {
  if (tools.length === 0) return {}
  return {
    tools: [{ functionDeclarations: tools.map(encodeTool) }],
    toolConfig: { functionCallingConfig: encodeChoice(toolChoice, tools) },
  }
}

const encodeTool = (tool: Tool): Json => ({
  name: tool.name,
  description: tool.description ?? '',
  parametersJsonSchema: schemaOf(tool),
})

function encodeChoice(choice: ToolChoice, tools: Tool[]): Json {
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY' }
  if (choice === 'auto') return { mode: tools.some((tool) => tool.isStrict) ? 'VALIDATED' : 'AUTO' }
  const declared = new Set(tools.map(({ name }) => name))
  const names = choice.names.filter((name) => declared.has(name))
  // AUTO does not take names.
  const mode = choice.mode === 'auto' ? 'VALIDATED' : 'ANY'
  return { mode, ...(names.length > 0 && { allowedFunctionNames: names }) }
}

/**
 * Returns a client's own request: unchanged, except for what would cost more than the hold covers.
 * It was decoded before, so that it has no other tools than functions.
 */
function passRequest(raw: Json): Json {
  const body = fieldsOf(raw)
  return {
    ...pickFields(body, passedFields),
    contents: contentsOf(body.contents).flatMap(passContent),
    ...passSystem(body.systemInstruction),
    ...passTools(body.tools),
    ...passToolConfig(body.toolConfig),
    generationConfig: pickFields(fieldsOf(body.generationConfig), knownConfig),
  }
}

/** Returns a content with its parts; nothing for one without parts. */
function passContent(content: unknown): Json[] {
  const { role } = fieldsOf(content)
  const known = partFields[role === 'model' ? 'model' : 'user']
  const parts = partsOf(content).flatMap((part) => {
    const own = withoutForeignSignature(passPart(part, known))
    return isOfUse(part, own) ? [own] : []
  })
  return parts.length === 0 ? [] : [{ ...(role !== undefined && { role }), parts }]
}

/** Models have no use for empty text, nor for reasoning without the signature of its model. */
const isOfUse = ({ thought, text }: Json, { thoughtSignature, ...data }: Json): boolean =>
  typeof thoughtSignature === 'string' ||
  (thought !== true && text !== '' && Object.keys(data).length > 0)

/** Returns a part without the thoughts of a model of another API, which Google rejects. */
function withoutForeignSignature(part: Json): Json {
  const { thoughtSignature, ...others } = part
  const isForeign =
    typeof thoughtSignature === 'string' && parseSignature(thoughtSignature).own === undefined
  return isForeign ? others : part
}

function passPart(part: Json, known: ReadonlySet<string>): Json {
  const fields = Object.entries(pickFields(part, known)).map(([name, value]) => [
    name,
    isRecord(value) ? passData(value) : value,
  ])
  return Object.fromEntries(fields)
}

/** Returns the data of a part. The response of a function may contain media. */
function passData(value: Json): Json {
  const { parts, ...data } = fieldsOf(value)
  const isInline = typeof data.data === 'string' && typeof data.mimeType === 'string'
  const typed = isInline
    ? { ...data, mimeType: mediaTypeOf(String(data.data), String(data.mimeType)) }
    : data
  if (parts === undefined) return typed
  return {
    ...typed,
    parts: listOf(parts, 'contents').map((part) => passPart(part, partFields.user)),
  }
}

function passSystem(instruction: unknown): Json {
  const parts = textsOf(partsOf(instruction)).map((text) => ({ text }))
  return parts.length === 0 ? {} : { systemInstruction: { parts } }
}

function passTools(raw: unknown): Json {
  const tools = listOf(raw, 'tools').flatMap(({ functionDeclarations: list }) =>
    Array.isArray(list) ? [{ functionDeclarations: recordsIn(list).map(withoutEmptySchema) }] : [],
  )
  return tools.length === 0 ? {} : { tools }
}

/** A function without arguments has no schema. Google rejects an empty one. */
const withoutEmptySchema = (declaration: Json): Json =>
  Object.fromEntries(
    Object.entries(declaration).filter(
      ([name, value]) =>
        !/^parameters/.test(name) || !isRecord(value) || Object.keys(value).length > 0,
    ),
  )

function passToolConfig(raw: unknown): Json {
  const { functionCallingConfig } = fieldsOf(raw)
  return isRecord(functionCallingConfig) ? { toolConfig: { functionCallingConfig } } : {}
}

/**
 * Encodes a conversation as `contents` and `systemInstruction`. Contents alternate between user and
 * model. A conversation of system messages alone is that of a user.
 */
function encodeContents(messages: readonly Message[], model: string): Json {
  const system = messages.filter(isSystem).flatMap(({ content }) => systemPart(content))
  const contents = new Contents(isGemini3(model))
  for (const message of messages) contents.add(message)
  const list = contents.list()
  if (system.length === 0) return { contents: list.length > 0 ? list : [emptyContent] }
  if (list.length === 0) return { contents: [{ role: 'user', parts: system }] }
  if (!isGemma(model)) return { systemInstruction: { parts: system }, contents: list }
  const [first, ...others] = list
  const text = `${system.map((part) => part.text).join('\n\n')}\n\n`
  if (first?.role !== 'user') return { contents: [{ role: 'user', parts: [{ text }] }, ...list] }
  return { contents: [{ ...first, parts: [{ text }, ...first.parts] }, ...others] }
}

/** A list without contents is an error at Google that does not name its cause. */
const emptyContent = { role: 'user', parts: [{ text: '' }] }

interface Content {
  role: 'user' | 'model'
  parts: Json[]
}

function systemPart(content: readonly TextPart[]): { text: string }[] {
  const text = content.map((part) => part.text).join('\n')
  return text === '' ? [] : [{ text }]
}

/** Gathers the contents of a conversation. */
class Contents {
  private readonly contents: Content[] = []
  /** The names of the calls, by id. */
  private readonly names = new Map<string, string>()
  /** Media of results, which follow the last result of a turn. */
  private media: Json[] = []

  /** `hasResultMedia`: the model takes media in a `functionResponse`. */
  constructor(private readonly hasResultMedia: boolean) {}

  add(message: Message): void {
    if (message.role === 'tool') return this.addResult(message)
    this.flushMedia()
    if (message.role === 'user') this.push('user', message.content.flatMap(userPart))
    if (message.role === 'assistant') this.addTurn(message)
  }

  list(): Content[] {
    this.flushMedia()
    return this.contents
  }

  private push(role: Content['role'], parts: Json[]): void {
    const last = this.contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else this.contents.push({ role, parts: [...parts] })
  }

  private flushMedia(): void {
    this.push('user', this.media)
    this.media = []
  }

  private addTurn({ content }: AssistantMessage): void {
    for (const part of content) if (part.type === 'call') this.names.set(part.id, part.name)
    this.push('model', content.flatMap(modelPart))
  }

  private addResult({ callId, content, isError = false }: ToolMessage): void {
    const name = this.names.get(callId) ?? 'unknown'
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const media = content.filter((part) => part.type !== 'text')
    const isInside = (part: MediaPart): boolean => this.hasResultMedia && isResultMedia(part)
    const parts = media.filter(isInside).flatMap(mediaPart)
    const response = responseOf(text, isError)
    this.push('user', [
      { functionResponse: { id: callId, name, response, ...(parts.length > 0 && { parts }) } },
    ])
    const others = media.filter((part) => !isInside(part)).flatMap(mediaPart)
    if (others.length === 0) return
    this.media.push({ text: `Media of the result of ${name} (${callId}):` }, ...others)
  }
}

/** Returns whether a result may contain a media part. */
function isResultMedia({ source }: MediaPart): boolean {
  if (!('data' in source)) return false
  const type = mediaTypeOf(source.data, source.mediaType)
  return /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(type)
}

/**
 * Returns the response of a function, an object. A text that is one is sent as it is, if it can be
 * restored to the letter. Google reserves `$ref`.
 */
function responseOf(text: string, isError: boolean): Json {
  const object = text.startsWith('{') && !text.includes('"$ref"') ? parseRecord(text) : undefined
  const isExact = object !== undefined && JSON.stringify(object) === text
  const [name, ...others] = Object.keys(object ?? {})
  const isOwnForm = others.length === 0 && (name === 'result' || name === 'error')
  if (isExact && !isOwnForm && isError === Boolean(object.error)) return object
  return isError ? { error: text || 'The call failed.' } : { result: text }
}

const userPart = (part: TextPart | MediaPart): Json[] =>
  part.type === 'text' ? textPart(part) : mediaPart(part)

const textPart = ({ text }: TextPart): Json[] => (text === '' ? [] : [{ text }])

function modelPart(part: TextPart | ThinkingPart | CallPart | MediaPart): Json[] {
  if (part.type === 'text') return textPart(part)
  if (part.type === 'thinking') return thoughtPart(part)
  return part.type === 'call' ? [callPart(part)] : mediaPart(part)
}

/** Returns a signed thought. A signature without text is that of the text before it. */
function thoughtPart({ text, signature, origin }: ThinkingPart): Json[] {
  if (signature === undefined || origin !== 'gemini') return []
  return [{ text, ...(text !== '' && { thought: true }), thoughtSignature: signature }]
}

function callPart(call: CallPart): Json {
  const { id, name, signature } = call
  return {
    functionCall: { id, name, args: argumentsOf(call) },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

function mediaPart({ type, source }: MediaPart): Json[] {
  if ('data' in source) {
    const label = mediaTypeOf(source.data, source.mediaType)
    const mimeType = /^\w+\/[^*]/.test(label) ? label : addressTypes[type]
    return [{ inlineData: { mimeType, data: source.data } }]
  }
  // The gateway has replaced its own files by their content.
  if (!('url' in source)) return []
  const mimeType = typeOfAddress(type, URL.parse(source.url))
  return [{ fileData: { mimeType, fileUri: source.url } }]
}
