import { isRecord } from '../core/shape.ts'

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
  const error = parsed(said)
  const inner = isRecord(error.innererror) ? error.innererror : {}
  return [error.code, error.type, inner.code].some(
    (code) => typeof code === 'string' && filterCodes.includes(code),
  )
}

function parsed(said: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(said)
    const error = isRecord(value) ? value.error : undefined
    return isRecord(error) ? error : {}
  } catch {
    return {}
  }
}
