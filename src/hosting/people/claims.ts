import type { House } from '../../house.ts'
import { isRefusal, Refusal } from '../../refusals.ts'
import type { Agent } from '../agents/agents.ts'
import { take, theClaimed } from '../agents/claims.ts'
import { tell } from '../notes/notes.ts'
import { checkHere, type Person, shownName } from './people.ts'
import { limitsOf } from './sign-in.ts'

/** Counts a code that turns out to be wrong. Refuses claim_locked after ten an hour. */
async function counted<T>(house: House, address: string, work: () => Promise<T>): Promise<T> {
  const { claims } = limitsOf(house)
  const retryAfter = claims.take(address)
  if (retryAfter !== undefined) throw new Refusal('claim_locked', { max: claims.max, retryAfter })
  try {
    const done = await work()
    claims.giveBack(address)
    return done
  } catch (error) {
    if (!isRefusal(error, 'bad_code')) claims.giveBack(address)
    throw error
  }
}

/**
 * The agent that a claim code is for, which is not used up by looking. Refuses bad_code, code_used,
 * code_expired, already_claimed, claim_locked.
 */
export const look = (house: House, code: string, address: string): Promise<Agent> =>
  counted(house, address, () => theClaimed(house, code))

/** Makes a person the owner of the agent of this code, once. Refuses as `look` does. */
export const claim = (
  house: House,
  person: Person,
  code: string,
  address: string,
): Promise<Agent> =>
  counted(house, address, async () => {
    await theClaimed(house, code)
    const agent = await house.db.tx(async (db) => {
      await checkHere(house, db, person.id)
      const taken = await take(house, db, code, person.id)
      const text = `${shownName(person)} has claimed you, and can send you credits.`
      if (taken) await tell(house, db, { to: taken.id, kind: 'claim.done', text })
      return taken
    })
    // Another person was first.
    if (!agent) throw new Refusal('code_used')
    return agent
  })
