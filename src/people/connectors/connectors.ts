import { and, asc, eq, gt, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newSecret, sha256 } from '../../kernel/ids.ts'
import {
  authorizationCodeMs,
  codesPerPersonMax,
  connectorsPerPersonMax,
} from '../../kernel/limits.ts'
import type { Scope } from '../../kernel/scopes.ts'
import { iso } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import { findHandles } from '../agents/agents.ts'
import type { Person } from '../people.ts'
import { type Client, recordApproval } from './clients.ts'
import { authorizationCodes, connectors } from './tables.ts'

/** A program that acts as an agent of a person. */
export type Connector = typeof connectors.$inferSelect

/** The decision of a person to let a client act as an agent. */
export interface Approval {
  client: Client
  redirectUri: string
  challenge: string
  /** The id of the agent. */
  agent: string
  scopes: Scope[]
}

/**
 * Creates the code of an approved sign-in, in the transaction `db` of a locked person. Throws
 * `bad_request` past the connectors of a person, and `try_again` past the codes.
 */
export async function insertCode(
  ctx: AppContext,
  db: Db,
  person: Person,
  { client, redirectUri, challenge, agent, scopes }: Approval,
): Promise<string> {
  const now = ctx.clock.now()
  if ((await countRows(db, connectors, eq(connectors.person, person.id))) >= connectorsPerPersonMax)
    rejectRequest(
      `You have reached the limit of ${connectorsPerPersonMax} connectors. Revoke one on your account page first.`,
    )
  const waiting = and(eq(authorizationCodes.person, person.id), gt(authorizationCodes.expires, now))
  if ((await countRows(db, authorizationCodes, waiting)) >= codesPerPersonMax)
    throw new ApiError('try_again', { why: 'You approved many connectors just now.' })
  const code = newSecret()
  await db.insert(authorizationCodes).values({
    hash: sha256(code),
    client: client.id,
    clientName: client.name,
    redirectUri,
    challenge,
    person: person.id,
    agent,
    scopes,
    expires: now + authorizationCodeMs,
    connector: null,
  })
  await recordApproval(ctx, db, client.id)
  return code
}

/** Lists the live connectors of a person, oldest first. At most `connectorsPerPersonMax` exist. */
export async function listConnectors(ctx: AppContext, person: string): Promise<Connector[]> {
  const isLive = and(eq(connectors.person, person), gt(connectors.expires, ctx.clock.now()))
  const rows = await ctx.db.read
    .select()
    .from(connectors)
    .where(isLive)
    .orderBy(asc(connectors.created), asc(connectors.id))
  // The agent can revoke the token among its keys.
  const tokens = await keys.findByPrefixes(
    ctx.db.read,
    rows.map(({ token }) => token),
  )
  return rows.filter(({ token }) => tokens.get(token)?.revoked === null)
}

/** Revokes a connector of a person. Throws `not_found`. */
export async function revokeConnector(ctx: AppContext, person: string, id: string): Promise<void> {
  const own = (await listConnectors(ctx, person)).find((one) => one.id === id)
  if (!own) {
    throw new ApiError('not_found', {
      what: 'connector',
      see: 'GET /people/me/connectors lists your connectors.',
    })
  }
  await endConnector(ctx, own)
}

/** Deletes a connector and revokes its token, on all servers at once. */
export async function endConnector(
  ctx: AppContext,
  { id, agent, token }: Pick<Connector, 'id' | 'agent' | 'token'>,
): Promise<void> {
  await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, agent)
    await keys.revoke(db, ctx.clock, agent, token)
    await db.delete(connectors).where(eq(connectors.id, id))
  })
  ctx.keys.forget()
}

/** Ends the connectors of an agent. Call `ctx.keys.forget()` after the commit. */
export async function endConnectorsOf(ctx: AppContext, db: Db, agent: string): Promise<void> {
  await keys.lockOwner(db, agent)
  await keys.revokeTokens(db, ctx.clock, agent)
  await db.delete(connectors).where(eq(connectors.agent, agent))
  await db.delete(authorizationCodes).where(eq(authorizationCodes.agent, agent))
}

/** Deletes expired codes, and connectors without a refresh for a long time. */
export async function deleteExpiredConnectors(ctx: AppContext): Promise<void> {
  const now = ctx.clock.now()
  await ctx.db.tx((db) => db.delete(authorizationCodes).where(lte(authorizationCodes.expires, now)))
  const expired = await ctx.db.read
    .select()
    .from(connectors)
    .where(lte(connectors.expires, now))
    .limit(1_000)
  for (const connector of expired) await endConnector(ctx, connector)
}

/** Returns connectors as their person sees them. */
export async function presentConnectors(ctx: AppContext, connectors: readonly Connector[]) {
  const handles = await findHandles(
    ctx,
    connectors.map(({ agent }) => agent),
  )
  return connectors.map(({ id, clientName, agent, scopes, created, used }) => ({
    id,
    name: clientName,
    handle: handles.get(agent) ?? '',
    scopes,
    created: iso(created),
    used: iso(used),
  }))
}
