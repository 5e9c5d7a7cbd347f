import { and, eq, getTableColumns, sql } from 'drizzle-orm'

import { newOrderedId } from '../core/ids.ts'
import { nano, type NanoUsd, zero } from '../core/money.ts'
import { utcDay } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import { thisProcess } from '../db/process.ts'
import { changedBy, placeholders, prepared } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import type { Kept } from './accounts.ts'
import { invariant } from './invariant.ts'
import type { Ask } from './ledger.ts'
import { holds } from './tables.ts'

export type Hold = typeof holds.$inferSelect

/** The hold that an ask makes. */
export function holdOf(at: number, ask: Ask): Hold {
  const { amount, shares = [], cap } = ask
  const percent = shares.reduce((sum, part) => sum + part.percent, 0)
  invariant(amount >= 0n, 'a hold is not negative')
  invariant(percent <= 100 && shares.every((part) => part.percent >= 0), 'shares are of the whole')
  const [capKey, capDay] = cap ? [cap.key, utcDay(at)] : [null, null]
  return {
    ref: ask.ref,
    id: newOrderedId(at),
    account: ask.account,
    kind: ask.kind,
    item: ask.item ?? null,
    amount,
    charged: zero,
    state: 'held',
    funds: ask.funds ?? 'any',
    parts: shares,
    price: ask.price ?? null,
    capKey,
    capDay,
    onExpiry: ask.onExpiry ?? 'release',
    deadline: at + ask.ms,
    process: thisProcess,
    job: ask.job ?? null,
    at,
  }
}

const value = sql.placeholder
const { ref: _, ...besideRef } = getTableColumns(holds)
const claimQuery = prepared((db) =>
  db
    .insert(holds)
    .values(placeholders(holds))
    .onConflictDoUpdate({
      target: holds.ref,
      set: Object.fromEntries(
        Object.entries(besideRef).map(([key, { name }]) => [key, sql.raw(`excluded.${name}`)]),
      ),
      setWhere: eq(holds.state, 'released'),
    })
    .prepare(),
)
const byRefQuery = prepared((db) =>
  db
    .select()
    .from(holds)
    .where(eq(holds.ref, value('ref')))
    .prepare(),
)
/** One try: an index over the ids would cost every charge more than the ref that is at hand. */
const isTry = and(eq(holds.ref, value('ref')), eq(holds.id, value('id')))
const tryQuery = prepared((db) => db.select().from(holds).where(isTry).prepare())

/**
 * Takes the ref for this hold. A ref that was released cost nothing and may be taken again. When it
 * is taken: the hold that has it, if that asks for the same; else refuses ref_conflict.
 */
export async function claim(db: Db, hold: Hold): Promise<Hold | undefined> {
  if (changedBy(await claimQuery(db).execute({ ...hold })) === 1) return undefined
  const [twin] = await byRefQuery(db).execute({ ref: hold.ref })
  if (!twin || body(twin) !== body(hold)) throw new ApiError('ref_conflict', { ref: hold.ref })
  return twin
}

/** What two requests under one ref must agree on. */
const body = ({ account, amount, kind, item, parts }: Hold): string =>
  JSON.stringify([account, String(amount), kind, item, parts])

/** Forgets a claim in the transaction that made it. */
export async function unclaim(db: Db, hold: Hold): Promise<void> {
  await db.delete(holds).where(and(eq(holds.ref, hold.ref), eq(holds.id, hold.id)))
}

const endQuery = prepared((db) =>
  db
    .update(holds)
    .set({
      state: sql`${value('state')}`,
      charged: sql`${value('charged')}`,
    })
    .where(and(isTry, eq(holds.state, 'held')))
    .prepare(),
)

/** Ends an open hold, the charge clamped to 0 <= charge <= hold. Undefined when it is not open. */
export async function end(
  db: Db,
  hold: Hold,
  state: 'settled' | 'released',
  charge: NanoUsd = zero,
): Promise<Hold | undefined> {
  const { ref, id, amount } = hold
  const charged = charge < 0n ? zero : charge > amount ? amount : charge
  const changed = changedBy(await endQuery(db).execute({ ref, id, state, charged }))
  return changed === 1 ? { ...hold, state, charged } : undefined
}

/** A hold as it stands; throws when it is gone. */
export async function theHold(db: Db, { ref, id }: Hold): Promise<Hold> {
  const [hold] = await tryQuery(db).execute({ ref, id })
  if (!hold) throw new Error(`There is no hold ${id}.`)
  return hold
}

/** What the hold keeps back in its account. */
export const keptBy = ({ amount, funds }: Hold): Kept => ({
  amount,
  paid: funds === 'paid' ? amount : zero,
})

/** What is left of the hold after its charge. */
export const unspent = ({ amount, charged }: Hold): NanoUsd => nano(amount - charged)
