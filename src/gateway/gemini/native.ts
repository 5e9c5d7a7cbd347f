import { isRecord, type Json, pickFields, recordOf } from '../../kernel/schema.ts'
import { countOf } from '../chat/completion.ts'
import { countBytesBeside, type EventConverter, type NativeChat } from '../chat/native-chat.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'
import { contentsOf, partFields, partsOf } from './contents.ts'
import { fieldsOf, listOf } from './fields.ts'
import { knownConfig } from './request.ts'

/** Fields that cost nothing beside the tokens. Their values are those that the chat was made of. */
export const nativeFields = new Set(['safetySettings', 'store'])

/**
 * Returns a request of Google's Gemini API for upstreams of Google: unchanged, except for what
 * would cost more than the hold covers. `raw` was parsed into a chat before, so that it has no
 * other tools than functions and Google's search, for which the chat is sent.
 */
export function toNativeGeneration(raw: Json, isStream: boolean): NativeChat {
  const body = fieldsOf(raw)
  const contents = contentsOf(body.contents).flatMap(toContent)
  const own: Json = {
    ...pickFields(body, nativeFields),
    contents,
    ...toSystem(body.systemInstruction),
    ...toTools(body.tools),
    ...toToolConfig(body.toolConfig),
  }
  const config = pickFields(fieldsOf(body.generationConfig), knownConfig)
  const method = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {
    kind: 'google',
    request: {
      build: (model, limit) => ({
        path: `/${model.includes('/') ? model : `models/${model}`}:${method}`,
        body: withConfig(
          needsSignatures.test(model) ? { ...own, contents: contents.map(signCalls) } : own,
          limit === undefined ? config : { ...config, maxOutputTokens: limit },
        ),
      }),
    },
    usageName: 'usageMetadata',
    countBytes: () => countBytesBeside(imagesOf(own), withConfig(own, config)),
    toCompletion,
    createConverter,
  }
}

/** Gemini 3 and later reject function calls without a signature, which other models do not make. */
const needsSignatures = /gemini-(?![12][.-])/
/** Google's signature for these calls. */
const skippedSignature = 'skip_thought_signature_validator'

/** Signs the first call of a content without signed calls. */
function signCalls(content: Json): Json {
  const parts = recordsIn(content.parts)
  const calls = parts.filter(({ functionCall }) => functionCall !== undefined)
  const [first] = calls
  if (!first || calls.some(({ thoughtSignature }) => thoughtSignature !== undefined)) return content
  const signed = { ...first, thoughtSignature: skippedSignature }
  return { ...content, parts: parts.with(parts.indexOf(first), signed) }
}

const withConfig = (body: Json, generationConfig: Json): Json =>
  Object.keys(generationConfig).length === 0 ? body : { ...body, generationConfig }

function imagesOf({ contents }: Json): unknown[] {
  const parts = recordsIn(contents).flatMap((content) => recordsIn(content.parts))
  const inResults = parts.flatMap((part) => recordsIn(recordOf(part.functionResponse).parts))
  return [...parts, ...inResults]
    .map(({ inlineData }) => recordOf(inlineData))
    .filter(({ mimeType }) => /^image\//i.test(asString(mimeType)))
    .map(({ data }) => data)
}

/** Returns a content with its parts; nothing for one without parts, as in the chat. */
function toContent(content: unknown): Json[] {
  const { role } = fieldsOf(content)
  const known = partFields[role === 'model' ? 'model' : 'user']
  const parts = partsOf(content).flatMap((part) => {
    const own = toPart(part, known)
    return isOfUse(part, own) ? [own] : []
  })
  return parts.length === 0 ? [] : [{ ...(role !== undefined && { role }), parts }]
}

/** Models have no use for empty text, nor for reasoning without the signature of its model. */
const isOfUse = ({ thought, text }: Json, { thoughtSignature, ...data }: Json): boolean =>
  typeof thoughtSignature === 'string' ||
  (thought !== true && text !== '' && Object.keys(data).length > 0)

function toPart(part: Json, known: ReadonlySet<string>): Json {
  const fields = Object.entries(pickFields(part, known)).map(([name, value]) => [
    name,
    isRecord(value) ? toData(value) : value,
  ])
  return Object.fromEntries(fields)
}

/** Returns the data of a part. The response of a function may contain media. */
function toData(value: Json): Json {
  const { parts, ...data } = fieldsOf(value)
  if (parts === undefined) return data
  return { ...data, parts: listOf(parts, 'contents').map((part) => toPart(part, partFields.user)) }
}

function toSystem(instruction: unknown): Json {
  const parts = partsOf(instruction).flatMap(({ text, thought }) =>
    typeof text === 'string' && text !== '' && thought !== true ? [{ text }] : [],
  )
  return parts.length === 0 ? {} : { systemInstruction: { parts } }
}

function toTools(raw: unknown): Json {
  const tools = listOf(raw, 'tools').flatMap(({ functionDeclarations }) =>
    Array.isArray(functionDeclarations) ? [{ functionDeclarations }] : [],
  )
  return tools.length === 0 ? {} : { tools }
}

function toToolConfig(raw: unknown): Json {
  const { functionCallingConfig } = fieldsOf(raw)
  return isRecord(functionCallingConfig) ? { toolConfig: { functionCallingConfig } } : {}
}

/** Reasons by which Google blocks a response under its content rules. */
const filtered = /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY|OTHER_SAFETY)$/

function finishOf(reason: unknown): string | null {
  if (typeof reason !== 'string' || reason === 'FINISH_REASON_UNSPECIFIED') return null
  if (filtered.test(reason)) return 'content_filter'
  return reason === 'MAX_TOKENS' ? 'length' : 'stop'
}

const toCompletion = (response: Json): Json => convert(response, 'message')

/** Converts a response, whole or one of a stream, to a completion or a chunk. */
function convert(response: Json, name: 'message' | 'delta'): Json {
  const { candidates, promptFeedback, usageMetadata } = response
  const found = recordsIn(candidates).map(({ index = 0, content, finishReason }) => ({
    index,
    [name]: toMessage(recordsIn(recordOf(content).parts)),
    finish_reason: finishOf(finishReason),
  }))
  const isBlocked = found.length === 0 && isBlockReason(recordOf(promptFeedback).blockReason)
  const blocked = { index: 0, [name]: {}, finish_reason: 'content_filter' }
  return {
    choices: isBlocked ? [blocked] : found,
    usage: isRecord(usageMetadata) ? toChatUsage(usageMetadata) : undefined,
  }
}

const isBlockReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason !== 'BLOCK_REASON_UNSPECIFIED'

function toMessage(parts: Json[]): Json {
  const join = (isThought: boolean): string =>
    parts
      .filter(({ thought }) => (thought === true) === isThought)
      .map(({ text }) => asString(text))
      .join('')
  const calls = parts.map(({ functionCall }) => functionCall).filter(isRecord)
  return {
    content: join(false),
    reasoning_content: join(true),
    tool_calls: calls.map(({ name, args }) => ({
      function: { name, arguments: JSON.stringify(args ?? {}) },
    })),
  }
}

/** Converts a usage. Google counts thoughts, and the prompts of its own tools, separately. */
function toChatUsage(usage: Json): Json {
  return {
    prompt_tokens: sumOf(usage.promptTokenCount, usage.toolUsePromptTokenCount),
    completion_tokens: sumOf(usage.candidatesTokenCount, usage.thoughtsTokenCount),
    prompt_tokens_details: {
      cached_tokens: usage.cachedContentTokenCount,
      audio_tokens: audioIn(usage.promptTokensDetails),
      cached_tokens_details: { audio_tokens: audioIn(usage.cacheTokensDetails) },
    },
    completion_tokens_details: { reasoning_tokens: usage.thoughtsTokenCount },
  }
}

/** Adds counts. An invalid one is the result, so that the usage is an estimate. */
function sumOf(...counts: unknown[]): unknown {
  const given = counts.filter((count) => count !== undefined && count !== null)
  if (given.length === 0) return undefined
  const invalid = given.find((count) => typeof count !== 'number' || !(count >= 0))
  return invalid ?? given.reduce((sum: number, count) => sum + Number(count), 0)
}

const audioIn = (details: unknown): number =>
  recordsIn(details)
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0)

/** Creates the converter of one stream, which is whole after a reason of its end. */
function createConverter(): EventConverter {
  let isEnded = false
  return {
    read(data) {
      const response = parseRecord(data)
      // Text that is no JSON breaks the stream off.
      if (!response || isRecord(response.error)) return data
      const chunk = convert(response, 'delta')
      isEnded ||= recordsIn(chunk.choices).some(({ finish_reason }) => finish_reason !== null)
      return JSON.stringify(chunk)
    },
    end: () => (isEnded ? '[DONE]' : undefined),
  }
}
