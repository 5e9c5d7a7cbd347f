import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { isWriteUnavailable } from '../kernel/db/error.ts'
import { ApiError, isApiError } from '../kernel/errors.ts'
import { sentence } from '../kernel/words/message.ts'
import type { Agent } from './agents/agents.ts'
import {
  assignOwner,
  checkInput,
  getClaimableAgent,
  insertAgent,
  type NewAgentInput,
} from './agents/create-agent.ts'
import { checkAgentsOn } from './authentication.ts'
import { notify } from './notifications/notifications.ts'
import { displayName, lockActivePerson, type Person } from './people.ts'

/**
 * Creates an agent that a person owns, with the start credits. It has no key until the owner
 * creates one, and counts for the limits of new keys (document 1, operation 4). `also` belongs to
 * the same transaction. Throws
 * `agents_off`, `invite_only`, `account_suspended`, and what `checkInput` and `insertAgent` throw.
 */
export async function createOwnedAgent(
  ctx: AppContext,
  person: Person,
  input: NewAgentInput,
  address: string,
  also?: (db: Db, agent: Agent) => Promise<void>,
): Promise<Agent> {
  checkAgentsOn(ctx)
  if (ctx.config.keysOpen !== 'on') throw new ApiError('invite_only')
  checkInput(ctx, input)
  return ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    const agent = await insertAgent(ctx, db, input, { address, owner: person.id })
    await also?.(db, agent)
    return agent
  })
}

/** Creates the first agent of a new account; undefined past the limits of new keys. */
export async function createFirstAgent(
  ctx: AppContext,
  person: Person,
  address: string,
): Promise<Agent | undefined> {
  try {
    return await createOwnedAgent(ctx, person, {}, address)
  } catch (error) {
    // The account exists, and its recovery codes have to be shown.
    if (error instanceof ApiError || isWriteUnavailable(error)) return undefined
    throw error
  }
}

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
