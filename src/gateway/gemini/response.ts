import { itemsOf, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { contentTextOf, countOf, reasoningOf } from '../chat/completion.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'

/** The parts of a response that do not come from the chat. */
export interface GenerateOptions {
  responseId: string
  showsThoughts: boolean
}

/** A tool call of a chat. */
export interface ChatCall {
  id: string
  name: string
  /** JSON. */
  args: string
  signature: string
}

/** Converts a whole chat completion to a response of Google's Gemini API. */
export function toGenerateResponse(completion: Json, options: GenerateOptions): Json {
  const choice = recordOf(itemsOf(completion.choices)[0])
  const message = recordOf(choice.message)
  const calls = recordsIn(message.tool_calls).map(readCall)
  const parts = [...textParts(message, options), ...calls.map(toFunctionCall)]
  const usage = toUsage(recordOf(completion.usage))
  return {
    ...generateChunk(parts, completion.model, options, {
      finishReason: finishReasonOf(choice.finish_reason),
      ...groundingOf(message),
    }),
    usageMetadata: usage,
  }
}

/** Returns a response with these parts. `ending`: further fields of its candidate. */
export const generateChunk = (
  parts: Json[],
  model: unknown,
  { responseId }: GenerateOptions,
  ending: Json = {},
): Json => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...ending }],
  modelVersion: asString(model),
  responseId,
})

/** Returns the text and the reasoning of a message or a delta as parts. */
export function textParts(message: Json, { showsThoughts }: GenerateOptions): Json[] {
  const thought = reasoningOf(message)
  const text = contentTextOf(message)
  return [
    ...(thought && showsThoughts ? [{ text: thought, thought: true }] : []),
    ...(text ? [{ text }] : []),
  ]
}

export function readCall({ id, function: called, extra_content: extra }: Json): ChatCall {
  const { name, arguments: args } = recordOf(called)
  const { thought_signature } = recordOf(recordOf(extra).google)
  return {
    id: asString(id),
    name: asString(name),
    args: asString(args),
    signature: asString(thought_signature),
  }
}

/** Returns a call as a part. Arguments that are no JSON object are shown to the client as text. */
export function toFunctionCall({ id, name, args: text, signature }: ChatCall): Json {
  const args = text === '' ? {} : (parseRecord(text) ?? { arguments: text })
  return {
    functionCall: { ...(id && { id }), name, args },
    ...(signature && { thoughtSignature: signature }),
  }
}

const finishReasons: Record<string, string> = { length: 'MAX_TOKENS', content_filter: 'SAFETY' }

export const finishReasonOf = (finish: unknown): string => lookUp(finishReasons, finish) ?? 'STOP'

/** Returns the pages that a web search found. */
export function groundingOf(message: Json): Json {
  const pages = recordsIn(message.annotations).map(({ url_citation }) => recordOf(url_citation))
  const groundingChunks = pages.flatMap(({ url, title }) =>
    typeof url === 'string' ? [{ web: { uri: url, title: asString(title) } }] : [],
  )
  return groundingChunks.length > 0 ? { groundingMetadata: { groundingChunks } } : {}
}

/** Converts a chat's usage, with its cost in USD if known. Google counts thoughts separately. */
export function toUsage(usage: Json): Json {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const thoughts = countOf(recordOf(completion).reasoning_tokens)
  const cached = countOf(recordOf(prompt).cached_tokens)
  const [input, output] = [countOf(usage.prompt_tokens), countOf(usage.completion_tokens)]
  return {
    promptTokenCount: input,
    candidatesTokenCount: Math.max(0, output - thoughts),
    totalTokenCount: input + output,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(typeof usage.cost === 'number' && { cost: usage.cost }),
  }
}
