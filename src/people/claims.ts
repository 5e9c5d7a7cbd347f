import type { AppContext } from '../kernel/context.ts'
import { ApiError, isApiError } from '../kernel/errors.ts'
import { sentence } from '../kernel/words/message.ts'
import type { Agent } from './agents/agents.ts'
import { assignOwner, getClaimableAgent } from './agents/create-agent.ts'
import { notify } from './notifications/notifications.ts'
import { displayName, lockActivePerson, type Person } from './people.ts'

/** Counts codes that fail with the error `wrong`. Throws `claim_locked` after ten in an hour. */
export async function withAttemptLimit<T>(
  ctx: AppContext,
  { address, wrong }: { address: string; wrong: 'bad_code' | 'bad_device_code' },
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
    if (!isApiError(error, wrong)) await claims.giveBack(address)
    throw error
  }
}

const attempt = (address: string) => ({ address, wrong: 'bad_code' as const })

/** Returns the agent of a claim code without using it. Throws the errors of GET /claim/{code}. */
export const previewClaim = (ctx: AppContext, code: string, address: string): Promise<Agent> =>
  withAttemptLimit(ctx, attempt(address), () => getClaimableAgent(ctx, code))

/** Makes a person the owner of the agent of a code. Throws as `previewClaim` does. */
export const claimAgent = (
  ctx: AppContext,
  person: Person,
  code: string,
  address: string,
): Promise<Agent> =>
  withAttemptLimit(ctx, attempt(address), async () => {
    await getClaimableAgent(ctx, code)
    const agent = await ctx.db.tx(async (db) => {
      await lockActivePerson(ctx, db, person.id)
      const claimed = await assignOwner(ctx, db, code, person.id)
      if (!claimed) return undefined
      const text = sentence('{person} claimed {agent} and can send it credits.', {
        person: displayName(person),
        agent: `@${claimed.handle}`,
      })
      await notify(ctx, db, { to: claimed.id, kind: 'claim.done', text })
      return claimed
    })
    // Another person claimed it meanwhile.
    if (!agent) throw new ApiError('code_used')
    return agent
  })
