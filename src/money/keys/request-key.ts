import type { Config } from '../../kernel/config/settings.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'

/** Headers of keys beside Authorization: those of Anthropic's and of Google's clients. */
const keyHeaders = ['x-api-key', 'x-goog-api-key']

/** Reads the key of a request from its headers, never from the query string. */
export function readApiKey(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')
  if (bearer) return bearer[1]
  const named = keyHeaders.map((name) => headers.get(name)?.trim())
  return named.find((key) => key !== undefined) ?? socketKeyOf(headers)
}

/** Reads the key that OpenAI's browser client sends as a protocol of its WebSocket. */
const socketKeyOf = (headers: Headers): string | undefined =>
  /\bopenai-insecure-api-key\.([^\s,]+)/.exec(headers.get('sec-websocket-protocol') ?? '')?.[1]

/** Throws `invite_only` where new accounts need the operator's token and the request has none. */
export function requireInvitation({ keysOpen, operatorToken }: Config, headers: Headers): void {
  if (keysOpen === 'on') return
  const token = readApiKey(headers) ?? ''
  if (!operatorToken || sha256(token) !== sha256(operatorToken)) throw new ApiError('invite_only')
}
