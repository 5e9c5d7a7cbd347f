import { ApiError } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import type { GuardrailQuestion } from '../providers/guardrail.ts'
import { free, type UpstreamFailure } from './upstream-failure.ts'

/** The facts of a call that the guardrail receives. */
export interface GuardedCall extends Pick<Call, 'requestId' | 'signal'> {
  ctx: AppContext
  spender: Spender
}

/**
 * Asks the guardrail before a model runs: with the body of the request, or the text fields of a
 * form that has a prompt. Throws `guardrail_refused`, and `guardrail_failed` when it does not
 * respond.
 */
export async function checkInput(call: GuardedCall, model: string, body: unknown): Promise<void> {
  const input = body instanceof FormData ? textFieldsOf(body) : body
  if (input === undefined) return
  const error = await ask(call, { stage: 'input', model, input })
  if (error) throw error
}

/** Returns the text fields of a form; undefined without a prompt, because files are not checked. */
const textFieldsOf = (form: FormData): Json | undefined =>
  typeof form.get('prompt') === 'string'
    ? Object.fromEntries([...form.entries()].filter(([, value]) => typeof value === 'string'))
    : undefined

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
