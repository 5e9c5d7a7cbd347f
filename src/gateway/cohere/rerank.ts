import type { AppContext } from '../../kernel/context.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { rerank } from '../rerank/rerank.ts'

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
  const charged = response.headers.get('x-service-cost')
  const headers: Record<string, string> = charged === null ? {} : { 'x-service-cost': charged }
  return Response.json({ id, results, meta }, { headers })
}
