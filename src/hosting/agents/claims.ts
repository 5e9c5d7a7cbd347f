import { and, eq, isNull } from 'drizzle-orm'

import { newCode, sha256 } from '../../core/ids.ts'
import type { House } from '../../house.ts'
import { claimCodeMs } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
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
      .set({ claimHash: claim.hash, claimExpires: claim.expires })
      .where(and(eq(agents.id, agent.id), isNull(agents.owner)))
      .returning({ id: agents.id }),
  )
  if (changed.length === 0) throw new Refusal('already_claimed')
  return claim
}

/** The unclaimed agent that a live claim code is for. Refuses not_found for any other code. */
export async function theClaimed(house: House, code: string): Promise<typeof agents.$inferSelect> {
  const [agent] = await house.db.read
    .select()
    .from(agents)
    .where(and(eq(agents.claimHash, sha256(code)), isNull(agents.owner), isNull(agents.closed)))
  if (agent && (agent.claimExpires ?? 0) > house.clock.now()) return agent
  throw new Refusal('not_found', { what: 'claim link' })
}
