import { connectSegment, firstScopes, resourceMetadataUrl } from '../../apps/connectors/metadata.ts'
import type { AppContext } from '../../kernel/context.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { getRequestContext, pathOf } from '../../kernel/http/request-context.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { scopes } from '../../kernel/scopes.ts'
import { readApiKey } from '../../money/keys/request-key.ts'
import { findSentKey, scopeOf } from '../../people/authentication.ts'

const connectPath = /^\/mcp\/connect\/?$/

/** The start of all tokens of connectors. */
const tokenStart = 'ct_'

/**
 * Returns the 401 of a token that is not live, and of a client without a live key at the address
 * where clients sign in. Elsewhere, calls without a key and with a wrong one get their tool errors.
 */
export async function signInChallenge(
  ctx: AppContext,
  request: Request,
): Promise<Response | undefined> {
  const context = getRequestContext(request)
  context.acceptsTokens = true
  const isConnect = connectPath.test(pathOf(request.url))
  const text = readApiKey(request.headers)
  if (!isConnect && !text?.startsWith(tokenStart)) return undefined
  const key = text === undefined ? undefined : await findSentKey(ctx, context, text)
  if (key?.kind === 'agent' && key.revoked === null) return undefined
  const error = text === undefined ? {} : { error: 'invalid_token' }
  return challenge(ctx, request, 401, { ...error, scope: firstScopes.join(' ') })
}

/** Returns the 403 of a call that needs another scope than the connector has (RFC 6750, 3.1). */
export async function scopeChallenge(
  ctx: AppContext,
  request: Request,
  body: unknown,
  operations: readonly Operation[],
): Promise<Response | undefined> {
  const text = readApiKey(request.headers)
  if (!text?.startsWith(tokenStart) || !isRecord(body) || body['method'] !== 'tools/call')
    return undefined
  const granted = (await ctx.keys.findToken(text))?.scopes ?? []
  const { name } = recordOf(body['params'])
  const operation = operations.find(({ id }) => id === name)
  const needed = operation && operation.access.auth === 'agent' ? scopeOf(operation) : 'none'
  if (needed === 'none' || granted.includes(needed)) return undefined
  const all = scopes.filter((scope) => scope === needed || granted.includes(scope))
  return challenge(ctx, request, 403, { error: 'insufficient_scope', scope: all.join(' ') })
}

const messages = {
  401: 'Sign in: this address needs a token. Your program finds the sign-in in WWW-Authenticate.',
  403: 'Your person did not allow this connector to do this. Sign in again with the scope of WWW-Authenticate.',
}

/** Returns a response that says how to sign in (RFC 9728, 5.1). */
function challenge(
  ctx: AppContext,
  request: Request,
  status: 401 | 403,
  fields: Record<string, string>,
): Response {
  const { mcp } = urlsFor(ctx, request.headers)
  const resource = connectPath.test(pathOf(request.url)) ? mcp + connectSegment : mcp
  const all = { ...fields, resource_metadata: resourceMetadataUrl(resource) }
  const list = Object.entries(all).map(([name, value]) => `${name}="${value}"`)
  const error = { code: -32_000, message: messages[status] }
  const headers = { 'www-authenticate': `Bearer ${list.join(', ')}` }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status, headers })
}
