import { isPlainLine } from '../../core/text.ts'
import { lock } from '../../db/lock.ts'
import type { House } from '../../house.ts'
import * as keys from '../../keys/keys.ts'
import { keyNameCharsMax, keysPerPersonMax } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import type { Person } from './people.ts'

/** A person's own keys: for scripts at People operations, and of the wallet for the gateway. */
export type OwnKind = 'person' | 'gateway'

const holderOf = ({ id, wallet }: Person, kind: OwnKind): string =>
  kind === 'person' ? id : wallet

/** The live keys of a kind, oldest first. */
export const listOf = (house: House, person: Person, kind: OwnKind): Promise<keys.Key[]> =>
  keys.listOf(house.db.read, holderOf(person, kind))

/** Makes a key; its text is shown once. Refuses bad_request. */
export async function make(
  house: House,
  person: Person,
  kind: OwnKind,
  name: string,
): Promise<string> {
  const owner = holderOf(person, kind)
  if (!isPlainLine(name, keyNameCharsMax)) {
    const problem = `A key's name is one plain line of at most ${keyNameCharsMax} characters.`
    throw new Refusal('bad_request', { problem })
  }
  const { text } = await house.db.tx(async (db) => {
    await lock(db, `keys of ${owner}`)
    if ((await keys.countOf(db, owner)) >= keysPerPersonMax) {
      const problem = `A person has at most ${keysPerPersonMax} keys. Revoke one first.`
      throw new Refusal('bad_request', { problem })
    }
    const named = name.trim() || undefined
    return keys.make(db, house.clock, { kind, owner, name: named, dailyCap: null })
  })
  return text
}

/** Revokes a key. Refuses not_found. */
export async function revoke(
  house: House,
  person: Person,
  kind: OwnKind,
  prefix: string,
): Promise<void> {
  const owner = holderOf(person, kind)
  const revoked = await house.db.tx((db) => house.keys.revoke(db, house.clock, owner, prefix))
  if (!revoked) throw new Refusal('not_found', { what: 'key', see: 'Your account lists them.' })
  house.keys.forget()
}
