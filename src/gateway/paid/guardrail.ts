import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { GuardrailQuestion } from '../../providers/guardrail.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { free, type UpstreamFailure } from './upstream-failure.ts'

/** A call, as the guardrail is told about it. */
export interface GuardedCall extends Pick<Call, 'requestId' | 'signal'> {
  ctx: AppContext
  spender: Spender
}

/**
 * Asks the guardrail before a model runs. Throws `guardrail_refused`, and `guardrail_failed` when
 * it does not answer.
 */
export async function checkInput(call: GuardedCall, model: string, input: unknown): Promise<void> {
  const error = await ask(call, { stage: 'input', model, input })
  if (error) throw error
}

/** Asks the guardrail about a response. Returns the failure of a refused one: it costs nothing. */
export async function checkOutput(
  call: GuardedCall,
  model: string,
  output: unknown,
): Promise<UpstreamFailure | undefined> {
  if (!call.ctx.guardrail?.checksOutput) return undefined
  const error = await ask(call, { stage: 'output', model, output })
  return error && free(error, false)
}

async function ask(
  { ctx: { guardrail }, spender, requestId, signal }: GuardedCall,
  question: Pick<GuardrailQuestion, 'stage' | 'model' | 'input' | 'output'>,
): Promise<ApiError<'guardrail_refused' | 'guardrail_failed'> | undefined> {
  if (!guardrail) return undefined
  const { account, callerId, source } = spender
  const key = source === 'api' ? callerId : null
  const verdict = await guardrail.ask({ ...question, request_id: requestId, account, key }, signal)
  if (verdict.is === 'allowed') return undefined
  return verdict.is === 'refused'
    ? new ApiError('guardrail_refused', { reason: verdict.reason })
    : new ApiError('guardrail_failed')
}
