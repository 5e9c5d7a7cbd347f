import type { Config } from '../../kernel/config/settings.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import type { KeySettings } from './keys.ts'

/** The counter of a project beside those of its keys. */
export const projectCounter = (id: string): string => `project:${id}`

/**
 * Checks the running requests that an account gives to a key. Throws `bad_request` above those of
 * every key, or those that the operator gave to `key`.
 */
export function checkRunningRequests(
  { config }: { config: Pick<Config, 'runningRequestsPerKey'> },
  { runningRequests: requested }: Partial<KeySettings>,
  key: KeySettings,
): void {
  const max = Math.max(config.runningRequestsPerKey, key.runningRequests ?? 0)
  if (typeof requested !== 'number' || requested <= max) return
  rejectRequest(
    `running_requests is at most ${max} here. The operator of this server can give a key more.`,
    'running_requests',
  )
}

/** Returns whether a list of ids and patterns, such as "openai/*", allows a model. */
export const allowsModel = (allowed: string[], id: string): boolean =>
  allowed.some((pattern) => matches(pattern, id))

/** An asterisk stands for any characters. */
function matches(pattern: string, id: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  if (parts.length === 0) return id === pattern
  if (!id.startsWith(start)) return false
  let at = start.length
  const end = parts.pop() ?? ''
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return id.length - end.length >= at && id.endsWith(end)
}
