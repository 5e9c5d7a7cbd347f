import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { keyNameCharsMax, keysPerPersonMax } from '../kernel/limits.ts'
import { parseCredits } from '../kernel/money.ts'
import { isPlainLine } from '../kernel/text.ts'
import * as keys from '../money/keys/keys.ts'
import type { AppContext } from '../server/context.ts'
import { lockActivePerson, type Person } from './people.ts'

/** Personal keys call People operations. Gateway keys spend from the wallet. */
export type PersonalKeyKind = 'person' | 'gateway'

const keyOwner = ({ id, wallet }: Person, kind: PersonalKeyKind): string =>
  kind === 'person' ? id : wallet

/** Lists live keys of a kind, oldest first. */
export const list = (ctx: AppContext, person: Person, kind: PersonalKeyKind): Promise<keys.Key[]> =>
  keys.list(ctx.db.read, keyOwner(person, kind))

const parseCap = (credits: number | null) =>
  credits === null ? null : parseCredits(credits, 'dailyCap')

/** Creates a key and returns its text. `dailyCap` is in credits. Throws `bad_request`. */
export async function create(
  ctx: AppContext,
  person: Person,
  kind: PersonalKeyKind,
  name: string,
  dailyCap: number | null = null,
): Promise<string> {
  const owner = keyOwner(person, kind)
  if (!isPlainLine(name, keyNameCharsMax))
    rejectRequest(`The name of a key must be one line of at most ${keyNameCharsMax} characters.`)
  const { text } = await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    if ((await keys.count(db, owner)) >= keysPerPersonMax)
      rejectRequest(`You have reached the limit of ${keysPerPersonMax} keys. Revoke one first.`)
    const input = { kind, owner, name: name.trim() || undefined, dailyCap: parseCap(dailyCap) }
    return keys.create(db, ctx.clock, input)
  })
  return text
}

const keyNotFound = (kind: PersonalKeyKind) =>
  new ApiError('not_found', {
    what: 'key',
    see: `Your ${kind === 'person' ? 'account' : 'wallet'} page lists your keys.`,
  })

/** Returns a live gateway key. Throws `not_found`. */
export async function getGatewayKey(
  ctx: AppContext,
  person: Person,
  prefix: string,
): Promise<keys.Key> {
  const found = (await list(ctx, person, 'gateway')).find((key) => key.prefix === prefix)
  if (found) return found
  throw keyNotFound('gateway')
}

/** Changes the name and the limits of a gateway key. Throws `not_found`, `bad_request`. */
export async function changeGatewayKey(
  ctx: AppContext,
  person: Person,
  prefix: string,
  changes: Partial<keys.KeySettings> & { name?: string },
): Promise<void> {
  keys.validateName(changes.name)
  const changed = await ctx.db.tx((db) => keys.update(db, person.wallet, prefix, changes))
  if (!changed) throw keyNotFound('gateway')
  ctx.keys.forget()
}

/** Revokes a key. Throws `not_found`. */
export async function revoke(
  ctx: AppContext,
  person: Person,
  kind: PersonalKeyKind,
  prefix: string,
): Promise<void> {
  const owner = keyOwner(person, kind)
  const revoked = await ctx.db.tx((db) => keys.revoke(db, ctx.clock, owner, prefix))
  if (!revoked) throw keyNotFound(kind)
  ctx.keys.forget()
}
