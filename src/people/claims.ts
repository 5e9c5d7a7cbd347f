import { ApiError, isApiError } from '../kernel/errors.ts'
import type { AppContext } from '../server/context.ts'
import type { Agent } from './agents/agents.ts'
import { assignOwner, getClaimableAgent } from './agents/claims.ts'
import { notify } from './notifications/notifications.ts'
import { displayName, lockActivePerson, type Person } from './people.ts'

/** Counts wrong codes. Throws `claim_locked` after ten within an hour. */
async function withAttemptLimit<T>(
  ctx: AppContext,
  address: string,
  work: () => Promise<T>,
): Promise<T> {
  const { claims } = ctx.state.limits
  const retryAfter = await claims.take(address)
  if (retryAfter !== undefined) throw new ApiError('claim_locked', { max: claims.max, retryAfter })
  try {
    const result = await work()
    await claims.giveBack(address)
    return result
  } catch (error) {
    if (!isApiError(error, 'bad_code')) await claims.giveBack(address)
    throw error
  }
}

/** Returns the agent of a claim code without using it. Throws the errors of GET /claim/{code}. */
export const previewClaim = (ctx: AppContext, code: string, address: string): Promise<Agent> =>
  withAttemptLimit(ctx, address, () => getClaimableAgent(ctx, code))

/** Makes a person the owner of the agent of a code. Throws as `previewClaim` does. */
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
      const claimed = await assignOwner(ctx, db, code, person.id)
      const text = `${displayName(person)} claimed you and can send you credits.`
      if (claimed) await notify(ctx, db, { to: claimed.id, kind: 'claim.done', text })
      return claimed
    })
    // Another person claimed it meanwhile.
    if (!agent) throw new ApiError('code_used')
    return agent
  })
