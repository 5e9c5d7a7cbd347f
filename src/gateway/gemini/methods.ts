import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { valueOf } from '../../kernel/http/outcome.ts'
import { itemsOf, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import { countPromptTokens } from '../chat/max-cost.ts'
import { embedInputs } from '../embeddings/operations.ts'
import { invalidField } from '../fields.ts'
import { fieldsOf, innerRequest, listOf, textOfContent } from './contents.ts'
import { decodeGeneration, fieldNames } from './decode.ts'
import { createGeminiClient } from './write.ts'

/** A call of a method of a model. */
export interface MethodCall {
  ctx: AppContext
  spender: Spender
  call: Call
  /** The id of the model. */
  model: string
  raw: unknown
  /** The parameter `alt`: the format of a stream. */
  alt: string | undefined
}

/** The value of a method that is no chat. */
type MethodOutcome = CallOutcome | Json

/** The methods of Google's Gemini API, by the name after the colon of a path. */
const methods: Record<string, (call: MethodCall) => Promise<MethodOutcome>> = {
  generateContent: (call) => generate(call, false),
  streamGenerateContent: (call) => generate(call, true),
  countTokens,
  embedContent,
  batchEmbedContents,
}

/**
 * Calls a method of a model by the path of its name, such as "models/demo/chat:generateContent".
 * Chats and embeddings are held, served and charged as such. Throws `not_found`, `bad_request` and
 * the errors of the chat.
 */
export function callMethod(path: string, call: Omit<MethodCall, 'model'>): Promise<MethodOutcome> {
  const colon = path.lastIndexOf(':')
  const name = path.slice(colon + 1)
  const method = colon > 0 ? lookUp(methods, name) : undefined
  if (!method)
    throw new ApiError('not_found', {
      what: 'method',
      see: `The methods are ${Object.keys(methods).join(', ')}.`,
    })
  return method({ ...call, model: path.slice(0, colon).replace(/^models\//, '') })
}

async function generate(
  { ctx, spender, call, model, raw, alt }: MethodCall,
  isStream: boolean,
): Promise<CallOutcome> {
  if (isStream && alt !== 'sse') {
    throw invalidField('alt', 'A stream is sent as server-sent events: add ?alt=sse to the path.')
  }
  const responseId = call.idempotencyKey ?? call.requestId
  return createChat(ctx, spender, call, {
    api: 'gemini',
    raw: { raw, model, isStream },
    names: fieldNames,
    open() {
      const { showsThoughts, ...decoded } = decodeGeneration(raw, model, isStream)
      return {
        ...decoded,
        codec: (model) => createGeminiClient({ responseId, model, showsThoughts }),
      }
    },
  })
}

/** Estimates the input tokens of a request. It calls no model and costs nothing. */
async function countTokens({ ctx, model, raw }: MethodCall): Promise<Json> {
  const decoded = decodeGeneration(innerRequest(raw), model, false)
  return { totalTokens: countPromptTokens(ctx, decoded) }
}

async function embedContent(call: MethodCall): Promise<Json> {
  const [embedding] = await embed(call, [fieldsOf(call.raw)])
  return { embedding }
}

async function batchEmbedContents(call: MethodCall): Promise<Json> {
  const requests = listOf(fieldsOf(call.raw).requests, 'requests')
  return { embeddings: await embed(call, requests) }
}

/** Creates the embeddings of several requests with one call. */
async function embed(
  { ctx, spender, call, model }: MethodCall,
  requests: Json[],
): Promise<{ values: unknown }[]> {
  const sizes = new Set(requests.map(({ outputDimensionality: size }) => size ?? undefined))
  if (sizes.size > 1) {
    throw invalidField('requests', 'All requests of a batch need the same outputDimensionality.')
  }
  const [dimensions] = sizes
  const input = requests.map(({ content }) => textOfContent(content))
  const body = { model, input, ...(dimensions !== undefined && { dimensions }) }
  const { data } = recordOf(valueOf(await embedInputs(ctx, spender, body, call)))
  return itemsOf(data).map((one) => ({ values: recordOf(one).embedding }))
}
