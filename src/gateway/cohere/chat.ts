import type { AppContext } from '../../context.ts'
import { recordOf } from '../../core/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { createChatCompletion, type TranscriberFactory } from '../chat/chat.ts'
import { convertStream } from '../chat/convert-stream.ts'
import { isOfChat, type NativeChat } from '../chat/native.ts'
import { streamResponse } from '../chat/stream.ts'
import { rerank } from '../rerank/rerank.ts'
import { nativeFields, toNativeCohere } from './native.ts'
import { parseCohereChat } from './request.ts'
import { toCohereChat } from './response.ts'
import { CohereWriter } from './stream.ts'

/** A call of Cohere's API. */
export interface CohereCall {
  spender: Spender
  raw: unknown
  call: Call
}

/** A replay under the same Idempotency-Key has the same id. */
const idOf = ({ idempotencyKey, requestId }: Call): string => idempotencyKey ?? requestId

const costOf = ({ headers }: Response): Record<string, string> => {
  const cost = headers.get('x-service-cost')
  return cost ? { 'x-service-cost': cost } : {}
}

/**
 * Creates a response of Cohere's chat API from a chat completion, which is held, served and charged
 * as such. Upstreams of Cohere receive the request itself. Throws `bad_request` and the errors of
 * the chat.
 */
export async function createCohereChat(
  ctx: AppContext,
  { spender, raw, call }: CohereCall,
  createTranscriber: TranscriberFactory,
): Promise<Response> {
  const { chat, isStream, ignored } = parseCohereChat(raw)
  let left = ignored
  const native: NativeChat = {
    ...toNativeCohere(raw),
    onResponse(isNative) {
      left = isNative ? ignored.filter((name) => !nativeFields.has(name)) : ignored
    },
  }
  const completion = await createChatCompletion(ctx, spender, chat, call, createTranscriber, native)
  // The replay of a charged error.
  if (!completion.ok) return completion
  call.reportIgnored?.(left)
  const id = idOf(call)
  if (isStream && completion.body) {
    return streamResponse(convertStream(completion.body, new CohereWriter(id)))
  }
  const body: unknown = await completion.json()
  const result = recordOf(body)
  const response = isOfChat(result) ? toCohereChat(result, id) : result
  return Response.json(response, { headers: costOf(completion) })
}

/**
 * Sorts documents in the format of Cohere's second version: the same call as POST /v1/rerank.
 * Throws its errors.
 */
export async function cohereRerank(
  ctx: AppContext,
  { spender, raw, call }: CohereCall,
): Promise<Response> {
  const response = await rerank(ctx, spender, raw, call)
  if (!response.ok) return response
  const { id, results, usage } = recordOf(await response.json())
  const { prompt_tokens: tokens, search_units, cost } = recordOf(usage)
  const meta = {
    api_version: { version: '2' },
    billed_units: { search_units },
    tokens: { input_tokens: tokens },
    cost,
  }
  return Response.json({ id, results, meta }, { headers: costOf(response) })
}
