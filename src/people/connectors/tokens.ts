import { and, eq, gt, isNull } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { newId, newSecret, sha256, sign } from '../../kernel/ids.ts'
import { connectorMs, connectorTokenMs, refreshLeewayMs } from '../../kernel/limits.ts'
import { type Scope, scopes as knownScopes } from '../../kernel/scopes.ts'
import * as keys from '../../money/keys/keys.ts'
import { isOwned } from '../agents/agents.ts'
import { insertAgentKey } from '../agents/keys.ts'
import { lockActivePerson } from '../people.ts'
import { type Connector, endConnector } from './connectors.ts'
import { authorizationCodes, connectors } from './tables.ts'

/** The tokens of a connector (RFC 6749, 5.1). */
export interface Tokens {
  access: string
  refresh: string
  scopes: Scope[]
}

/** A refresh token: its family, which all of a connector have, and a secret of its own. */
const refreshPattern = /^cr_([A-Za-z0-9]{40})([a-f0-9]{64})$/

const hexMac = (ctx: AppContext, text: string): string =>
  Buffer.from(sign(ctx.secret, text), 'base64url').toString('hex')

/**
 * Returns the tokens that replace a refresh token. They are always the same ones, so that a client
 * whose requests refresh at the same time, or that lost a response, gets one pair.
 */
function nextTokens(ctx: AppContext, refresh: string, prefix: string) {
  const [, family = ''] = refreshPattern.exec(refresh) ?? []
  return {
    access: prefix + hexMac(ctx, `access after ${refresh}`).slice(0, keys.tokenSecretChars),
    refresh: `cr_${family}${hexMac(ctx, `refresh after ${refresh}`)}`,
  }
}

/**
 * Returns the scopes of a text, in their order, without those that this server does not have.
 * Throws `invalid_scope` where none is left.
 */
export function parseScopes(text: string | undefined, fallback: readonly Scope[]): Scope[] {
  if (text === undefined) return [...fallback]
  const words = new Set(text.split(' '))
  const found = knownScopes.filter((scope) => words.has(scope))
  if (found.length === 0) throw new ApiError('invalid_scope')
  return found
}

interface CodeRequest {
  code: string
  client: string
  redirectUri: string | undefined
  verifier: string
}

/** Returns the S256 challenge of a verifier (RFC 7636, 4.6). */
const challengeOf = (verifier: string): string =>
  Buffer.from(sha256(verifier), 'hex').toString('base64url')

/**
 * Creates the connector of a code, once. A code that is sent again ends its connector, because one
 * of both senders is a thief (RFC 6749, 4.1.2). Throws `invalid_grant`, and as `insertAgentKey`
 * does.
 */
export async function redeemCode(ctx: AppContext, request: CodeRequest): Promise<Tokens> {
  const hash = sha256(request.code)
  const isCode = and(
    eq(authorizationCodes.hash, hash),
    gt(authorizationCodes.expires, ctx.clock.now()),
  )
  const [code] = await ctx.db.read.select().from(authorizationCodes).where(isCode)
  const isOwn =
    code?.client === request.client &&
    (request.redirectUri ?? code.redirectUri) === code.redirectUri &&
    challengeOf(request.verifier) === code.challenge
  // Only the client that has the verifier ends a connector by its code.
  if (!code || !isOwn) throw new ApiError('invalid_grant')
  const id = newId()
  const tokens = await ctx.db.tx(async (db) => {
    await lockOwner(ctx, db, code)
    const used = await db
      .update(authorizationCodes)
      .set({ connector: id })
      .where(and(isCode, isNull(authorizationCodes.connector)))
      .returning({ hash: authorizationCodes.hash })
    return used.length === 0 ? undefined : insertConnector(ctx, db, { ...code, id })
  })
  if (tokens) return tokens
  await endReused(ctx, hash)
  throw new ApiError('invalid_grant')
}

/** Ends the connector that used a code. */
async function endReused(ctx: AppContext, hash: string): Promise<void> {
  const { db } = ctx
  const [code] = await db.read
    .select({ connector: authorizationCodes.connector })
    .from(authorizationCodes)
    .where(eq(authorizationCodes.hash, hash))
  if (code?.connector == null) return
  const [connector] = await db.read
    .select()
    .from(connectors)
    .where(eq(connectors.id, code.connector))
  if (connector) await endConnector(ctx, connector)
}

/**
 * Locks the person and the agent of a sign-in. Throws `invalid_grant` where the person left, was
 * suspended, or owns the agent no longer.
 */
async function lockOwner(
  ctx: AppContext,
  db: Db,
  { person, agent }: Pick<Connector, 'person' | 'agent'>,
): Promise<void> {
  await lockActivePerson(ctx, db, person).catch((error: unknown) => {
    throw isApiError(error, 'not_signed_in') || isApiError(error, 'account_suspended')
      ? new ApiError('invalid_grant')
      : error
  })
  await keys.lockOwner(db, agent)
  if (!(await isOwned(db, { id: agent, owner: person }))) throw new ApiError('invalid_grant')
}

type NewConnector = Pick<Connector, 'id' | 'person' | 'agent' | 'client' | 'clientName' | 'scopes'>

async function insertConnector(
  ctx: AppContext,
  db: Db,
  { id, person, agent, client, clientName, scopes }: NewConnector,
): Promise<Tokens> {
  const now = ctx.clock.now()
  const { text: access, key } = await insertAgentKey(ctx, db, {
    id: agent,
    name: clientName,
    token: { scopes, expires: now + connectorTokenMs },
  })
  const family = newSecret()
  const refresh = `cr_${family}${hexMac(ctx, `first of ${newSecret()}`)}`
  await db.insert(connectors).values({
    id,
    person,
    agent,
    client,
    clientName,
    scopes,
    token: key.prefix,
    familyHash: sha256(family),
    refreshHash: sha256(refresh),
    previousHash: null,
    created: now,
    used: now,
    expires: now + connectorMs,
  })
  return { access, refresh, scopes }
}

/** Returns the connector of a refresh token, whether the token is its newest one or not. */
async function findByRefreshToken(db: Db, text: string): Promise<Connector | undefined> {
  const [, family] = refreshPattern.exec(text) ?? []
  if (family === undefined) return undefined
  const isFamily = eq(connectors.familyHash, sha256(family))
  const [connector] = await db.select().from(connectors).where(isFamily)
  return connector
}

interface RefreshRequest {
  refresh: string
  client: string
  scope: string | undefined
}

/**
 * Replaces both tokens of a connector. A refresh token that was replaced before, more than
 * `refreshLeewayMs` ago, ends the connector, because one of both senders is a thief (RFC 9700,
 * 4.14.2). Throws `invalid_grant` and `invalid_scope`.
 */
export async function refreshTokens(ctx: AppContext, request: RefreshRequest): Promise<Tokens> {
  const known = await findByRefreshToken(ctx.db.read, request.refresh)
  if (known?.client !== request.client || known.expires <= ctx.clock.now())
    throw new ApiError('invalid_grant')
  const scopes = parseScopes(request.scope, known.scopes)
  if (!scopes.every((one) => known.scopes.includes(one))) throw new ApiError('invalid_scope')
  const tokens = await ctx.db.tx(async (db) => {
    await lockOwner(ctx, db, known)
    return replaceTokens(ctx, db, request.refresh, scopes)
  })
  ctx.keys.forget()
  if (tokens) return tokens
  await endConnector(ctx, known)
  throw new ApiError('invalid_grant')
}

/** Replaces the tokens under `lockOwner`. Returns undefined for a token of long ago. */
async function replaceTokens(
  ctx: AppContext,
  db: Db,
  refresh: string,
  scopes: Scope[],
): Promise<Tokens | undefined> {
  const now = ctx.clock.now()
  const current = await findByRefreshToken(db, refresh)
  if (!current) throw new ApiError('invalid_grant')
  const { id, agent, token: prefix, refreshHash, previousHash, used } = current
  const [hash, next] = [sha256(refresh), nextTokens(ctx, refresh, prefix)]
  if (hash === previousHash && now - used < refreshLeewayMs) return { ...next, scopes }
  if (hash !== refreshHash) return undefined
  const isLive = await keys.renewToken(db, agent, {
    text: next.access,
    scopes,
    expires: now + connectorTokenMs,
  })
  if (!isLive) return undefined
  await db
    .update(connectors)
    .set({
      refreshHash: sha256(next.refresh),
      previousHash: hash,
      used: now,
      expires: now + connectorMs,
    })
    .where(eq(connectors.id, id))
  return { ...next, scopes }
}

/** Ends the connector of an access or refresh token (RFC 7009). Unknown tokens are ignored. */
export async function revokeToken(ctx: AppContext, text: string): Promise<void> {
  const key = await ctx.keys.findToken(text)
  const [byAccess] = key
    ? await ctx.db.read.select().from(connectors).where(eq(connectors.token, key.prefix))
    : []
  const connector = byAccess ?? (await findByRefreshToken(ctx.db.read, text))
  if (connector) await endConnector(ctx, connector)
}
