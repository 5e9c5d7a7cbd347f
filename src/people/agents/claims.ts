import { and, eq, gt, isNull } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newCode, normalizeCode, sha256 } from '../../kernel/ids.ts'
import { claimCodeMs } from '../../kernel/limits.ts'
import type { AppContext } from '../../server/context.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** A one-time code that makes a person the owner of an agent. Only its hash is stored. */
export interface Claim {
  code: string
  hash: string
  url: string
  expires: number
}

/** Creates a claim code that expires in 30 days. Stores nothing. */
export function newClaim(ctx: AppContext): Claim {
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
