import { recordOf } from '../core/schema.ts'
import { parseRecord } from './response.ts'

/** How upstreams name a refusal under their content rules. */
const filterCodes = [
  'content_filter',
  'content_policy_violation',
  'content_policy',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]

/** Whether the body of a failure says that its upstream declined under its content rules. */
export function isContentFilterError(said: string): boolean {
  const error = recordOf(parseRecord(said)?.error)
  const inner = recordOf(error.innererror)
  return [error.code, error.type, inner.code].some(
    (code) => typeof code === 'string' && filterCodes.includes(code),
  )
}
