import type { Config } from '../config/settings.ts'
import { sha256 } from '../core/ids.ts'
import { ApiError } from '../errors.ts'

/** Reads the key of a request from Authorization or X-API-Key, never from the query string. */
export function readApiKey(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')
  return bearer?.[1] ?? headers.get('x-api-key')?.trim() ?? undefined
}

/** Throws `invite_only` where new accounts need the operator's token and the request has none. */
export function requireInvitation({ keysOpen, operatorToken }: Config, { headers }: Request): void {
  if (keysOpen === 'on') return
  const token = readApiKey(headers) ?? ''
  if (!operatorToken || sha256(token) !== sha256(operatorToken)) throw new ApiError('invite_only')
}
