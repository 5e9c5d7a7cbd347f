import type { AppContext } from '../../context.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { Agent } from '../agents/agents.ts'
import { assignOwner, getClaimableAgent } from '../agents/claims.ts'
import { notify } from '../notifications/notifications.ts'
import { lockActivePerson, type Person, displayName } from './people.ts'

/** Counts a code that turns out to be wrong. Refuses claim_locked after ten an hour. */
async function withAttemptLimit<T>(ctx: AppContext, address: string, work: () => Promise<T>): Promise<T> {
  const { claims } = ctx.state.signInLimits
  const retryAfter = claims.take(address)
  if (retryAfter !== undefined) throw new ApiError('claim_locked', { max: claims.max, retryAfter })
  try {
    const done = await work()
    claims.giveBack(address)
    return done
  } catch (error) {
    if (!isApiError(error, 'bad_code')) claims.giveBack(address)
    throw error
  }
}

/**
 * The agent that a claim code is for, which is not used up by looking. Refuses bad_code, code_used,
 * code_expired, already_claimed, claim_locked.
 */
export const previewClaim = (ctx: AppContext, code: string, address: string): Promise<Agent> =>
  withAttemptLimit(ctx, address, () => getClaimableAgent(ctx, code))

/** Makes a person the owner of the agent of this code, once. Refuses as `look` does. */
export const claimAgent = (
  ctx: AppContext,
  person: Person,
  code: string,
  address: string,
): Promise<Agent> =>
  withAttemptLimit(ctx, address, async () => {
    await getClaimableAgent(ctx, code)
    const agent = await ctx.db.tx(async (db) => {
      await lockActivePerson(ctx, db, person.id)
      const taken = await assignOwner(ctx, db, code, person.id)
      const text = `${displayName(person)} has claimed you, and can send you credits.`
      if (taken) await notify(ctx, db, { to: taken.id, kind: 'claim.done', text })
      return taken
    })
    // Another person was first.
    if (!agent) throw new ApiError('code_used')
    return agent
  })
