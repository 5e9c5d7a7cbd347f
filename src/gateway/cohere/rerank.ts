import type { AppContext } from '../../kernel/context.ts'
import { Success, withHeaders } from '../../kernel/http/outcome.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
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
): Promise<CallOutcome> {
  const outcome = await rerank(ctx, spender, raw, call)
  if (!(outcome instanceof Success)) return outcome
  const { id, results, usage } = recordOf(outcome.value)
  const { prompt_tokens: tokens, search_units, cost } = recordOf(usage)
  const meta = {
    api_version: { version: '2' },
    billed_units: { search_units },
    tokens: { input_tokens: tokens },
    cost,
  }
  return withHeaders({ id, results, meta }, outcome.headers)
}
