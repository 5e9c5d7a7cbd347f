import { recordOf } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { costHeaderOf, createTranslatedChat } from '../chat/translated-chat.ts'
import { rerank } from '../rerank/rerank.ts'
import { nativeFields, toNativeCohere } from './native.ts'
import { fieldNames, parseCohereChat } from './request.ts'
import { toCohereChat } from './response.ts'
import { CohereWriter } from './stream.ts'

/**
 * Creates a response of Cohere's chat API from a chat completion, which is held, served and charged
 * as such. Upstreams of Cohere receive the request itself. Throws `bad_request` and the errors of
 * the chat.
 */
export function createCohereChat(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
): Promise<Response> {
  const { chat, isStream, ignored } = parseCohereChat(raw)
  // A replay under the same Idempotency-Key has the same id.
  const id = call.idempotencyKey ?? call.requestId
  return createTranslatedChat(ctx, spender, call, {
    chat,
    isStream,
    native: toNativeCohere(raw),
    names: fieldNames,
    ignored: { chat: ignored, native: ignored.filter((name) => !nativeFields.has(name)) },
    createConverter: () => new CohereWriter(id),
    convert: (completion) => toCohereChat(completion, id),
  })
}

/**
 * Sorts documents in the format of Cohere's second version: the same call as POST /v1/rerank.
 * Throws its errors.
 */
export async function cohereRerank(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
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
  return Response.json({ id, results, meta }, { headers: costHeaderOf(response) })
}
