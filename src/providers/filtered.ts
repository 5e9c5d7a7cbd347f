import { recordOf } from '../core/schema.ts'
import { recordIn } from './answer.ts'

/** How upstreams name a refusal under their content rules. */
const filterCodes = [
  'content_filter',
  'content_policy_violation',
  'content_policy',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]

/** Whether the body of a failure says that its upstream declined under its content rules. */
export function saysFiltered(said: string): boolean {
  const error = recordOf(recordIn(said)?.error)
  const inner = recordOf(error.innererror)
  return [error.code, error.type, inner.code].some(
    (code) => typeof code === 'string' && filterCodes.includes(code),
  )
}
