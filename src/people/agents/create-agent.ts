import { and, eq, gt, gte, isNull, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newCode, newId, normalizeCode, sha256, sign } from '../../kernel/ids.ts'
import { claimCodeMs } from '../../kernel/limits.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { startCredits } from '../../money/prices.ts'
import {
  findSimilarProfile,
  generateHandle,
  skeletonOf,
  validateHandle,
} from '../profiles/profiles.ts'
import { type Agent, validateAbout } from './agents.ts'
import { agents } from './tables.ts'

/** A one-time code that makes a person the owner of an agent. Only its hash is stored. */
export interface Claim {
  code: string
  hash: string
  url: string
  expires: number
}

/** Creates a claim code that expires in 30 days. Stores nothing. */
function newClaim(ctx: AppContext): Claim {
  const code = newCode()
  return {
    code,
    hash: sha256(code),
    url: `${ctx.urls.app}/claim/${code}`,
    expires: ctx.clock.now() + claimCodeMs,
  }
}

/**
 * Creates a claim link for an agent without an owner and invalidates its earlier links (document 1,
 * operation 7). Throws `already_claimed`.
 */
export async function renewClaim(ctx: AppContext, agent: { id: string }): Promise<Claim> {
  const claim = newClaim(ctx)
  const changed = await ctx.db.tx((db) =>
    db
      .update(agents)
      .set({ claimHash: claim.hash, claimExpires: claim.expires, claimUsed: null })
      .where(and(eq(agents.id, agent.id), isNull(agents.owner)))
      .returning({ id: agents.id }),
  )
  if (changed.length === 0) throw new ApiError('already_claimed')
  return claim
}

const hasCode = (code: string) =>
  and(eq(agents.claimHash, sha256(normalizeCode(code))), isNull(agents.closed))

/** Returns the agent of a claim code. Throws the errors of GET /claim/{code}. */
export async function getClaimableAgent(ctx: AppContext, code: string): Promise<Agent> {
  const [agent] = await ctx.db.read.select().from(agents).where(hasCode(code))
  if (!agent) throw new ApiError('bad_code')
  if (agent.claimUsed !== null) throw new ApiError('code_used')
  if (agent.owner !== null) throw new ApiError('already_claimed')
  if ((agent.claimExpires ?? 0) <= ctx.clock.now()) throw new ApiError('code_expired')
  return agent
}

/** Makes a person the owner of the agent of a code. Returns undefined if the code is not live. */
export async function assignOwner(
  ctx: AppContext,
  db: Db,
  code: string,
  owner: string,
): Promise<Agent | undefined> {
  const now = ctx.clock.now()
  const [agent] = await db
    .update(agents)
    .set({ owner, claimUsed: now, claimExpires: null })
    .where(and(hasCode(code), isNull(agents.owner), gt(agents.claimExpires, now)))
    .returning()
  return agent
}

export interface NewAgentInput {
  handle?: string | undefined
  about?: string | null | undefined
}

/**
 * Creates an agent with a key, whose text is shown once, a claim code and an account with the start
 * credits, in one transaction (document 1, operation 4). Throws what `checkInput` and `insertAgent`
 * throw.
 */
export async function createAgent(ctx: AppContext, input: NewAgentInput, address: string) {
  checkInput(ctx, input)
  const claim = newClaim(ctx)
  const claimable = { claimHash: claim.hash, claimExpires: claim.expires }
  return ctx.db.tx(async (db) => {
    const agent = await insertAgent(ctx, db, input, { address, ...claimable })
    const { key, text } = await keys.create(db, ctx.clock, {
      kind: 'agent',
      owner: agent.id,
      dailyCap: agent.dailyCap,
    })
    return { agent, key, keyText: text, claim }
  })
}

/** Throws `bad_handle`, `bad_request` and `try_again`. */
export function checkInput(ctx: AppContext, { handle, about }: NewAgentInput): void {
  if (handle !== undefined) validateHandle(handle)
  validateAbout(about ?? null)
  ctx.storage.requireFreeSpace(0)
}

type Origin = { address: string } & Partial<Pick<Agent, 'owner' | 'claimHash' | 'claimExpires'>>

/**
 * Inserts an agent and its account with the start credits, in a transaction. New agents are counted
 * by address. Call `checkInput` first. Throws `bad_handle`, `handle_taken`, `keys_address_limit`,
 * `keys_daily_limit` and `try_again`.
 */
export async function insertAgent(
  ctx: AppContext,
  db: Db,
  { handle: requested, about }: NewAgentInput,
  { address, ...origin }: Origin,
): Promise<Agent> {
  const madeFrom = sign(ctx.secret, `address ${address}`)
  await lockHandles(db)
  await checkDailyLimits(ctx, db, madeFrom)
  const handle = requested ?? (await findFreeHandle(db))
  const created = ctx.clock.now()
  const row = { ...origin, handle, about: validateAbout(about ?? null), madeFrom, created }
  const { agent, account } = await insertRow(ctx, db, row)
  const ref = `start:${agent.id}`
  await ledger.grant(ctx, db, { account, amount: startCredits, kind: 'start', ref })
  return agent
}

type NewRow = Pick<Agent, 'handle' | 'about' | 'madeFrom' | 'created'> &
  Partial<Pick<Agent, 'owner' | 'claimHash' | 'claimExpires'>>

/** Inserts an agent and its account. Throws `bad_handle` and `handle_taken`. */
async function insertRow(ctx: AppContext, db: Db, row: NewRow) {
  await checkFree(db, row.handle)
  const [agent] = await db
    .insert(agents)
    .values({
      ...row,
      id: newId(),
      dailyCap: keys.initialCap(ctx),
      skeleton: skeletonOf(row.handle),
    })
    .returning()
  if (!agent) throw new Error('inserting the agent returned no row')
  const account = await ledger.openOwnerAccount(ctx, db, agentOwner(agent.id))
  return { agent, account }
}

/** Throws `bad_handle` and `handle_taken` for a handle that no new agent can have. */
export async function checkHandle(db: Db, handle: string): Promise<void> {
  validateHandle(handle)
  await checkFree(db, handle)
}

/**
 * Inserts an agent of another server, without credits and without the limits of new keys. `from`
 * names where it came from. Returns it with the text of its first key. Call `checkHandle` first.
 * Throws `bad_handle`, `handle_taken` and `bad_request`.
 */
export async function insertImportedAgent(
  ctx: AppContext,
  db: Db,
  { handle, about, created, from }: Pick<Agent, 'handle' | 'about' | 'created'> & { from: string },
): Promise<{ agent: Agent; keyText: string }> {
  await lock(db, 'new agents')
  const madeFrom = sign(ctx.secret, from)
  const row = { handle, about: validateAbout(about), madeFrom, created }
  const { agent } = await insertRow(ctx, db, row)
  const { dailyCap } = agent
  const { text } = await keys.create(db, ctx.clock, { kind: 'agent', owner: agent.id, dailyCap })
  return { agent, keyText: text }
}

async function checkDailyLimits(ctx: AppContext, db: Db, madeFrom: string): Promise<void> {
  const { keysPerAddressDay, keysPerDay } = ctx.config
  const now = ctx.clock.now()
  const today = gte(agents.created, Date.parse(utcDay(now)))
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  const fromAddress = and(eq(agents.madeFrom, madeFrom), today)
  if (keysPerAddressDay && (await countRows(db, agents, fromAddress)) >= keysPerAddressDay) {
    throw new ApiError('keys_address_limit', { max: keysPerAddressDay, retryAfter })
  }
  if (keysPerDay && (await countRows(db, agents, today)) >= keysPerDay) {
    throw new ApiError('keys_daily_limit', { max: keysPerDay, retryAfter })
  }
}

/** Serializes new handles of agents and people until the transaction ends. */
const lockHandles = (db: Db): Promise<void> => lock(db, 'new agents')

/**
 * Returns the existing handle of an agent, or of a person other than `except`, that equals or
 * resembles this one.
 */
async function findSimilarHandle(
  db: Db,
  handle: string,
  except?: string,
): Promise<string | undefined> {
  const [agent] = await db
    .select({ handle: agents.handle })
    .from(agents)
    .where(or(eq(agents.handle, handle), eq(agents.skeleton, skeletonOf(handle))))
    .limit(1)
  return agent?.handle ?? findSimilarProfile(db, handle, except)
}

/**
 * Reserves a valid handle for a person until the transaction ends. Throws `handle_taken`, and
 * `bad_handle` for a look-alike of a handle in use.
 */
export async function reserveHandle(db: Db, handle: string, person: string): Promise<void> {
  await lockHandles(db)
  await checkFree(db, handle, person)
}

async function checkFree(db: Db, handle: string, except?: string): Promise<void> {
  const similar = await findSimilarHandle(db, handle, except)
  if (similar === handle) throw new ApiError('handle_taken', { handle })
  if (similar) throw new ApiError('bad_handle', { why: `"${handle}" looks like a handle in use` })
}

const handleAttempts = 20

async function findFreeHandle(db: Db): Promise<string> {
  for (let attempt = 0; attempt < handleAttempts; attempt += 1) {
    const handle = generateHandle()
    if (!(await findSimilarHandle(db, handle))) return handle
  }
  throw new ApiError('try_again', { why: 'no free handle was found' })
}
