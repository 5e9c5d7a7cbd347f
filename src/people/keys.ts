import type { AppContext } from '../kernel/context.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { completed } from '../kernel/http/outcome.ts'
import { keyNameCharsMax, keysPerPersonMax } from '../kernel/limits.ts'
import { parseCredits } from '../kernel/money.ts'
import { isPlainLine } from '../kernel/text.ts'
import * as keys from '../money/keys/keys.ts'
import { checkRunningRequests } from '../money/keys/restrictions.ts'
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

/** Creates a key. Returns its text and prefix. `dailyCap` is in credits. Throws `bad_request`. */
export async function create(
  ctx: AppContext,
  person: Person,
  kind: PersonalKeyKind,
  name: string,
  dailyCap: number | null = null,
): Promise<{ key: string; prefix: string }> {
  const owner = keyOwner(person, kind)
  if (!isPlainLine(name, keyNameCharsMax))
    rejectRequest(`The name of a key must be one line of at most ${keyNameCharsMax} characters.`)
  const { text, key } = await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    if ((await keys.count(db, owner)) >= keysPerPersonMax)
      rejectRequest(`You have reached the limit of ${keysPerPersonMax} keys. Revoke one first.`)
    const input = { kind, owner, name: name.trim() || undefined, dailyCap: parseCap(dailyCap) }
    return keys.create(db, ctx.clock, input)
  })
  return { key: text, prefix: key.prefix }
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
  const changed = await ctx.db.tx(async (db) => {
    const key = (await keys.list(db, person.wallet)).find((one) => one.prefix === prefix)
    if (key) checkRunningRequests(ctx, changes, key)
    return keys.update(db, person.wallet, prefix, changes)
  })
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

/**
 * Runs `create` at most once for a `ref`, because a key is shown only to the first request. Throws
 * `bad_request` for a second one, and as `Idempotency.run` does.
 */
export async function createOnce<Created>(
  ctx: AppContext,
  owner: string,
  ref: string | undefined,
  create: () => Promise<Created>,
): Promise<Created> {
  let created: { key: Created } | undefined
  await ctx.idempotency.run(owner, ref, {}, async (keep) => {
    created = { key: await create() }
    // The stored result never has the text of the key.
    return ctx.db.tx((db) => keep(db, completed(null)))
  })
  if (created) return created.key
  rejectRequest(
    'This key was already created and is shown only once. If you lost it, create a new one.',
  )
}
