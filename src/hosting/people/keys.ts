import type { AppContext } from '../../context.ts'
import { nanoOf } from '../../core/money.ts'
import { isPlainLine } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { keyNameCharsMax, keysPerPersonMax } from '../../limits.ts'
import { lockActivePerson, type Person } from './people.ts'

/** A person's own keys: for scripts at People operations, and of the wallet for the gateway. */
export type PersonalKeyKind = 'person' | 'gateway'

const holderOf = ({ id, wallet }: Person, kind: PersonalKeyKind): string =>
  kind === 'person' ? id : wallet

/** The live keys of a kind, oldest first. */
export const list = (ctx: AppContext, person: Person, kind: PersonalKeyKind): Promise<keys.Key[]> =>
  keys.list(ctx.db.read, holderOf(person, kind))

const capOf = (credits: number | null) => (credits === null ? null : nanoOf(credits, 'dailyCap'))

/**
 * Makes a key; its text is shown once. `dailyCap` is in credits; null is none. Refuses bad_request.
 */
export async function create(
  ctx: AppContext,
  person: Person,
  kind: PersonalKeyKind,
  name: string,
  dailyCap: number | null = null,
): Promise<string> {
  const owner = holderOf(person, kind)
  if (!isPlainLine(name, keyNameCharsMax)) {
    const problem = `A key's name is one plain line of at most ${keyNameCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
  const { text } = await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    if ((await keys.count(db, owner)) >= keysPerPersonMax) {
      const problem = `A person has at most ${keysPerPersonMax} keys. Revoke one first.`
      throw new ApiError('bad_request', { problem })
    }
    const named = name.trim() || undefined
    return keys.create(db, ctx.clock, { kind, owner, name: named, dailyCap: capOf(dailyCap) })
  })
  return text
}

/** What a person is told of a key that is not theirs. */
const noKey = (kind: PersonalKeyKind) =>
  new ApiError('not_found', {
    what: 'key',
    see: kind === 'person' ? 'Your account lists them.' : 'Your wallet lists them.',
  })

/** Changes what a key of the wallet may spend in a day; null is no cap. Refuses not_found. */
export async function setDailyCap(
  ctx: AppContext,
  person: Person,
  prefix: string,
  dailyCap: number | null,
): Promise<void> {
  const wanted = { name: undefined, dailyCap: capOf(dailyCap) }
  const changed = await ctx.db.tx((db) => keys.update(db, person.wallet, prefix, wanted))
  if (!changed) throw noKey('gateway')
  ctx.keys.forget()
}

/** Revokes a key. Refuses not_found. */
export async function revoke(
  ctx: AppContext,
  person: Person,
  kind: PersonalKeyKind,
  prefix: string,
): Promise<void> {
  const owner = holderOf(person, kind)
  const revoked = await ctx.db.tx((db) => keys.revoke(db, ctx.clock, owner, prefix))
  if (!revoked) throw noKey(kind)
  ctx.keys.forget()
}
