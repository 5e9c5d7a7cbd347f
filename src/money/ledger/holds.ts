import { and, count, eq, getTableColumns, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount, placeholders, prepared } from '../../kernel/db/query.ts'
import { thisProcess } from '../../kernel/db/replicas/process.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import type { HeldAmount } from './accounts.ts'
import type { Budget, Cap } from './caps.ts'
import { invariant } from './invariant.ts'
import { type AccountId, holds, type Price } from './tables.ts'

export type Hold = typeof holds.$inferSelect

/** Runs in the transaction of every charge, with the ended hold and the balance after it. */
export type ChargeObserver = (db: Db, charged: Hold, balance: NanoUsd) => Promise<unknown>

/** Writes further rows of a settlement, in its transaction. */
export type SettlementRecorder = (db: Db, ended: Hold) => Promise<unknown>

export interface HoldRequest {
  account: AccountId
  amount: NanoUsd
  /** The unique name of the purchase. A released ref may be held again. */
  ref: string
  /** The kind of work: build, chat, remix and so on. */
  kind: string
  item?: string | undefined
  /** `paid`: free credits cannot pay for it. The default, `any`, spends free credits first. */
  funds?: 'any' | 'paid' | undefined
  /** Receivers of a share, in percent of the charge. The operator's income gets the remainder. */
  shares?: { account: AccountId; percent: number }[] | undefined
  /** The price row that the maximum cost was computed with. */
  price?: Price | undefined
  cap?: Cap | undefined
  /** A counter that the key shares with others. It needs a `cap`. */
  group?: string | undefined
  /** Limits over several days, and limits of the group. */
  budgets?: Budget[] | undefined
  /** The deadline releases an open hold (the default), or settles all of it. */
  onExpiry?: 'release' | 'settle' | undefined
  /** The API key or balance whose running calls PostgreSQL limits among all processes. */
  caller?: string | undefined
  /** The job that does the work. This hold survives its process (job-holds.ts). */
  job?: string | undefined
  /** The longest time that the work may take, in milliseconds. */
  ms: number
}

/** Creates a hold from its terms, without writing it. */
export function createHold(at: number, request: HoldRequest): Hold {
  const { amount, shares = [], cap } = request
  const percent = shares.reduce((sum, part) => sum + part.percent, 0)
  invariant(amount >= 0n, 'a hold is not negative')
  invariant(percent <= 100 && shares.every((part) => part.percent >= 0), 'shares are 0 to 100 %')
  return {
    ref: request.ref,
    id: newOrderedId(at),
    account: request.account,
    kind: request.kind,
    item: request.item ?? null,
    amount,
    charged: zero,
    state: 'held',
    funds: request.funds ?? 'any',
    parts: shares,
    price: request.price ?? null,
    capKey: cap ? cap.key : null,
    capDay: cap ? utcDay(at) : null,
    capGroup: (cap && request.group) ?? null,
    onExpiry: request.onExpiry ?? 'release',
    deadline: at + request.ms,
    process: thisProcess,
    job: request.job ?? null,
    at,
    caller: request.caller ?? null,
  }
}

const value = sql.placeholder
const { ref: _, ...columnsBesideRef } = getTableColumns(holds)
/** Claims the ref of a hold and writes it, unless a hold that is not released has it. */
export const claim = (db: Db) =>
  db
    .insert(holds)
    .values(placeholders(holds))
    .onConflictDoUpdate({
      target: holds.ref,
      set: Object.fromEntries(
        Object.entries(columnsBesideRef).map(([key, { name }]) => [
          key,
          sql.raw(`excluded.${name}`),
        ]),
      ),
      setWhere: eq(holds.state, 'released'),
    })
const claimQuery = prepared((db) => claim(db).prepare())
const byRefQuery = prepared((db) =>
  db
    .select()
    .from(holds)
    .where(eq(holds.ref, value('ref')))
    .prepare(),
)
/** Finds one attempt by ref and id: a further index over the ids would slow every charge. */
const isAttempt = and(eq(holds.ref, value('ref')), eq(holds.id, value('id')))
const attemptQuery = prepared((db) => db.select().from(holds).where(isAttempt).prepare())

/**
 * Claims the ref of a hold and writes it. A released ref may be claimed again. Returns the hold
 * that already has the ref when its terms are the same; else throws `ref_conflict`.
 */
export async function claimHold(db: Db, hold: Hold): Promise<Hold | undefined> {
  const isClaimed = changedRowCount(await claimQuery(db).execute(hold)) === 1
  return isClaimed ? undefined : findSameHold(db, hold)
}

/** Returns the hold that has the ref of another with the same terms. Throws `ref_conflict`. */
export async function findSameHold(db: Db, hold: Hold): Promise<Hold> {
  const [existing] = await byRefQuery(db).execute({ ref: hold.ref })
  if (existing && termsOf(existing) === termsOf(hold)) return existing
  throw new ApiError('ref_conflict', { ref: hold.ref })
}

/** The terms that two requests with one ref must agree on. */
const termsOf = ({ account, amount, kind, item, parts }: Hold): string =>
  JSON.stringify([account, String(amount), kind, item, parts])

/** Deletes a claimed hold within the transaction that wrote it. */
export async function deleteClaimedHold(db: Db, hold: Hold): Promise<void> {
  await db.delete(holds).where(and(eq(holds.ref, hold.ref), eq(holds.id, hold.id)))
}

/** Ends an open hold. Changes nothing when it has ended. */
export const end = (db: Db) =>
  db
    .update(holds)
    .set({ state: sql`${value('state')}`, charged: sql`${value('charged')}` })
    .where(and(isAttempt, eq(holds.state, 'held')))

/** Returns a charge within 0 <= charge <= hold. */
export const clampCharge = ({ amount }: Hold, charge: NanoUsd): NanoUsd =>
  charge < 0n ? zero : charge > amount ? amount : charge

/** Makes the deadline charge an open hold: its work has begun, and the upstream bills it. */
export async function settleOnExpiry(db: Db, { ref, id }: Hold): Promise<void> {
  await db
    .update(holds)
    .set({ onExpiry: 'settle' })
    .where(and(eq(holds.ref, ref), eq(holds.id, id), eq(holds.state, 'held')))
}

/** Returns a hold as stored; undefined for one that was never committed. */
export async function findHold(
  db: Db,
  { ref, id }: Pick<Hold, 'ref' | 'id'>,
): Promise<Hold | undefined> {
  const [hold] = await attemptQuery(db).execute({ ref, id })
  return hold
}

/** Returns a hold as stored. Throws for a deleted one. */
export async function getHold(db: Db, name: Pick<Hold, 'ref' | 'id'>): Promise<Hold> {
  const hold = await findHold(db, name)
  if (!hold) throw new Error(`The hold ${name.id} does not exist.`)
  return hold
}

const openCallsQuery = prepared((db) =>
  db
    .select({ calls: count() })
    .from(holds)
    .where(and(eq(holds.caller, value('caller')), sql`${holds.state} = 'held'`))
    .prepare(),
)

/** Returns the running calls of a caller. The lock of its account makes the number exact. */
export async function countOpenCalls(db: Db, caller: string): Promise<number> {
  const [row] = await openCallsQuery(db).execute({ caller })
  return row?.calls ?? 0
}

export const heldAmountOf = ({ amount, funds }: Hold): HeldAmount => ({
  held: amount,
  heldPaid: funds === 'paid' ? amount : zero,
})

export const unspent = ({ amount, charged }: Hold): NanoUsd => nano(amount - charged)
