import { and, eq, gte, isNull, or, sql } from 'drizzle-orm'

import { type AppContext, firstCap } from '../../context.ts'
import { newId, sign } from '../../core/ids.ts'
import { isPlainLine } from '../../core/text.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { isWriteUnavailable } from '../../db/error.ts'
import { lock } from '../../db/lock.ts'
import { countRows, lookup, prepared } from '../../db/query.ts'
import { ApiError, isApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { aboutCharsMax } from '../../limits.ts'
import { startCredits } from '../../prices.ts'
import { isForbidden } from '../../scan/rules/text-policy.ts'
import { type Claim, newClaim } from './claims.ts'
import { validateHandle, generateHandle, skeletonOf } from './handles.ts'
import { agents } from './tables.ts'

export type Agent = typeof agents.$inferSelect

/** What POST /keys brings: both may be left out. */
export interface NewAgentInput {
  handle?: string | undefined
  about?: string | null | undefined
}

/** A new agent with what is shown once: the key's text and the claim code. */
export interface CreatedAgent {
  agent: Agent
  key: keys.Key
  keyText: string
  claim: Claim
}

/**
 * Makes an agent, its key, its claim code and its account with the start credits (document 1,
 * operation 4), all or nothing. `address` is what new keys are counted by.
 * Refuses bad_handle, handle_taken, keys_address_limit, keys_daily_limit, bad_request, try_again.
 */
export async function createAgent(ctx: AppContext, wanted: NewAgentInput, address: string): Promise<CreatedAgent> {
  if (wanted.handle !== undefined) validateHandle(wanted.handle)
  const about = checkAbout(wanted.about ?? null)
  ctx.storage.requireFreeSpace(0)
  const madeFrom = sign(ctx.secret, `address ${address}`)
  return ctx.db.tx(async (db) => {
    await lock(db, 'new agents')
    await checkNewKeys(ctx, db, madeFrom)
    const claim = newClaim(ctx)
    const handle = wanted.handle ?? (await freeHandle(db))
    await checkTaken(db, handle)
    const dailyCap = firstCap(ctx)
    const [agent] = await db
      .insert(agents)
      .values({
        id: newId(),
        handle,
        dailyCap,
        skeleton: skeletonOf(handle),
        about,
        claimHash: claim.hash,
        claimExpires: claim.expires,
        madeFrom,
        created: ctx.clock.now(),
      })
      .returning()
    if (!agent) throw new Error('the new agent was not kept')
    const made = await keys.create(db, ctx.clock, { kind: 'agent', owner: agent.id, dailyCap })
    await grantStart(ctx, db, agent.id)
    return { agent, key: made.key, keyText: made.text, claim }
  })
}

/** Opens the agent's account and grants the start credits once. */
async function grantStart(ctx: AppContext, db: Db, agent: string): Promise<void> {
  const account = await ledger.open(ctx, db, agentOwner(agent))
  const ref = `start:${agent}`
  await ledger.grant(ctx, db, { account, amount: startCredits, kind: 'start', ref })
}

async function checkNewKeys(ctx: AppContext, db: Db, madeFrom: string): Promise<void> {
  const { keysPerAddressDay, keysPerDay } = ctx.config
  const now = ctx.clock.now()
  const today = gte(agents.created, Date.parse(utcDay(now)))
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  const here = and(eq(agents.madeFrom, madeFrom), today)
  if (keysPerAddressDay && (await countRows(db, agents, here)) >= keysPerAddressDay) {
    throw new ApiError('keys_address_limit', { max: keysPerAddressDay, retryAfter })
  }
  if (keysPerDay && (await countRows(db, agents, today)) >= keysPerDay) {
    throw new ApiError('keys_daily_limit', { max: keysPerDay, retryAfter })
  }
}

async function holderOf(db: Db, handle: string): Promise<string | undefined> {
  const [holder] = await db
    .select({ handle: agents.handle })
    .from(agents)
    .where(or(eq(agents.handle, handle), eq(agents.skeleton, skeletonOf(handle))))
    .limit(1)
  return holder?.handle
}

async function checkTaken(db: Db, handle: string): Promise<void> {
  const holder = await holderOf(db, handle)
  if (holder === handle) throw new ApiError('handle_taken', { handle })
  if (holder) throw new ApiError('bad_handle', { why: `"${handle}" looks like a handle in use` })
}

const handleTries = 20

async function freeHandle(db: Db): Promise<string> {
  for (let tries = 0; tries < handleTries; tries += 1) {
    const handle = generateHandle()
    if (!(await holderOf(db, handle))) return handle
  }
  throw new ApiError('try_again', { why: 'no free handle was found' })
}

function checkAbout(about: string | null): string | null {
  if (about === null) return null
  if (isPlainLine(about, aboutCharsMax) && !isForbidden(about)) return about.trim() || null
  const problem =
    `"about" is one plain line of at most ${aboutCharsMax} characters, without slurs and orders ` +
    'to agents, or null.'
  throw new ApiError('bad_request', { problem })
}

const byId = lookup(
  prepared((db) =>
    db
      .select()
      .from(agents)
      .where(eq(agents.id, sql.placeholder('id')))
      .prepare(),
  ),
)

/** The agent with this id, closed ones too. */
export async function findAgent(ctx: AppContext, id: string): Promise<Agent | undefined> {
  return byId(ctx.db, id)
}

/** Whether nobody has made an agent here yet. */
export async function hasNoAgents(ctx: AppContext): Promise<boolean> {
  const some = await ctx.db.read.select({ id: agents.id }).from(agents).limit(1)
  return some.length === 0
}

const byHandle = prepared((db) =>
  db
    .select()
    .from(agents)
    .where(eq(agents.handle, sql.placeholder('handle')))
    .prepare(),
)

/** The agent with this handle, closed ones too. */
export async function findByHandle(ctx: AppContext, handle: string): Promise<Agent | undefined> {
  const [agent] = await byHandle(ctx.db.read).execute({ handle })
  return agent
}

/** The same by what it is called, with or without @. */
export async function findByMention(ctx: AppContext, name: string): Promise<Agent | undefined> {
  const [, handle] = /^@?([a-z0-9-]{1,30})$/.exec(name) ?? []
  return handle === undefined ? undefined : findByHandle(ctx, handle)
}

/**
 * Changes the line about itself (document 1, operation 6); null clears it. Refuses bad_request, and
 * not_ready when it cannot be kept just now.
 */
export async function updateAbout(
  ctx: AppContext,
  agent: Agent,
  about: string | null,
): Promise<Agent> {
  const line = checkAbout(about)
  try {
    ctx.storage.requireFreeSpace(0)
    return await ctx.db.tx(async (db) => {
      const [changed] = await db
        .update(agents)
        .set({ about: line })
        .where(eq(agents.id, agent.id))
        .returning()
      return changed ?? agent
    })
  } catch (error) {
    const isFull = isApiError(error, 'try_again') || isWriteUnavailable(error)
    throw isFull ? new ApiError('not_ready') : error
  }
}

/**
 * Closes the account for good and revokes its keys, inside a transaction: they answer
 * account_closed then. Forget the keys after its commit.
 */
export async function closeAgent(ctx: AppContext, db: Db, agent: string): Promise<void> {
  await keys.lockOwner(db, agent)
  await db
    .update(agents)
    .set({ closed: ctx.clock.now(), claimHash: null, claimExpires: null })
    .where(and(eq(agents.id, agent), isNull(agents.closed)))
  await keys.revokeAll(db, ctx.clock, agent)
}
