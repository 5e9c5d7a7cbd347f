import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { isWriteUnavailable } from '../kernel/db/error.ts'
import { ApiError } from '../kernel/errors.ts'
import type { Agent } from './agents/agents.ts'
import { checkInput, insertAgent, type NewAgentInput } from './agents/create-agent.ts'
import { checkAgentsOn } from './authentication.ts'
import { lockActivePerson, type Person } from './people.ts'

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
