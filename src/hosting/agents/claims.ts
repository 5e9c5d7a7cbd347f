import { and, eq, gt, isNull } from 'drizzle-orm'

import { codeOf, newCode, sha256 } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import type { House } from '../../house.ts'
import { claimCodeMs } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** A one-time claim code for a person. Only its hash is kept. */
export interface Claim {
  code: string
  hash: string
  url: string
  expires: number
}

/** Makes a claim code, good for 30 days. Nothing is kept yet. */
export function newClaim(house: House): Claim {
  const code = newCode()
  return {
    code,
    hash: sha256(code),
    url: `${house.urls.app}/claim/${code}`,
    expires: house.clock.now() + claimCodeMs,
  }
}

/**
 * Makes a new claim link for an unclaimed agent; every earlier one stops working (document 1,
 * operation 7). Refuses already_claimed.
 */
export async function renewClaim(house: House, agent: { id: string }): Promise<Claim> {
  const claim = newClaim(house)
  const changed = await house.db.tx((db) =>
    db
      .update(agents)
      .set({ claimHash: claim.hash, claimExpires: claim.expires, claimUsed: null })
      .where(and(eq(agents.id, agent.id), isNull(agents.owner)))
      .returning({ id: agents.id }),
  )
  if (changed.length === 0) throw new Refusal('already_claimed')
  return claim
}

const isOf = (code: string) =>
  and(eq(agents.claimHash, sha256(codeOf(code))), isNull(agents.closed))

/**
 * The unclaimed agent that a live claim code is for. Refuses bad_code, code_used, code_expired,
 * already_claimed.
 */
export async function theClaimed(house: House, code: string): Promise<Agent> {
  const [agent] = await house.db.read.select().from(agents).where(isOf(code))
  if (!agent) throw new Refusal('bad_code')
  if (agent.claimUsed !== null) throw new Refusal('code_used')
  if (agent.owner !== null) throw new Refusal('already_claimed')
  if ((agent.claimExpires ?? 0) <= house.clock.now()) throw new Refusal('code_expired')
  return agent
}

/** Gives the agent of a live claim code its owner, once. Undefined when the code is none now. */
export async function take(
  house: House,
  db: Db,
  code: string,
  owner: string,
): Promise<Agent | undefined> {
  const now = house.clock.now()
  const [agent] = await db
    .update(agents)
    .set({ owner, claimUsed: now, claimExpires: null })
    .where(and(isOf(code), isNull(agents.owner), gt(agents.claimExpires, now)))
    .returning()
  return agent
}
