import { and, asc, eq } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import {
  accountOf,
  availableOf,
  type Balance,
  findBalance,
  isServiceAccount,
  openAccounts,
  type Owner,
  serviceAccounts,
} from './accounts.ts'
import { type LedgerContext, runUnits } from './commit-groups.ts'
import {
  createHold,
  type Hold,
  type HoldRequest,
  invariant,
  type SettlementRecorder,
  sumSpendingSince,
} from './holds.ts'
import { type AccountId, holds, type Share } from './tables.ts'
import { endUnit, openUnit, transferUnit, type Unit, type UnitResult } from './units.ts'

/** Runs a unit inside the caller's transaction. Throws its error. */
async function run(ctx: LedgerContext, db: Db, unit: Unit): Promise<UnitResult> {
  const [result] = await runUnits(ctx, db, [unit])
  if (result?.status === 'fulfilled') return result.value
  throw result?.reason
}

/** Opens an owner's account unless it exists, inside the caller's transaction. */
export async function openOwnerAccount(
  ctx: LedgerContext,
  db: Db,
  owner: Owner,
): Promise<AccountId> {
  const id = accountOf(owner)
  await openAccounts(db, [{ id, kind: owner.kind, at: ctx.clock.now() }])
  return id
}

/** Returns an owner's account with `available` = balance - held. Throws when there is none. */
export async function balanceOf(
  ctx: { db: Engine },
  owner: Owner,
): Promise<Balance & { available: NanoUsd }> {
  const found = await findBalance(ctx.db.read, accountOf(owner))
  if (!found) throw new Error(`The account ${accountOf(owner)} does not exist.`)
  return { ...found, available: availableOf(found, 'any') }
}

/** Returns what a key has spent today (UTC): settled and held. */
export const spentToday = (ctx: LedgerContext & { db: Engine }, key: string): Promise<NanoUsd> =>
  sumSpendingSince(ctx.db.read, key, utcDay(ctx.clock.now()))

/** An immediate movement between accounts. Amounts are nano-USD above zero. */
export interface TransferRequest {
  from: AccountId
  to: { account: AccountId; amount: NanoUsd }[]
  /** The unique name of the purchase. */
  ref: string
  kind: string
  item?: string
  /** From a service account: whether it gives free credits, which are never paid out. */
  free?: boolean
}

/** The result of a transfer: `isNew` if this call did it, and its time. */
export interface TransferResult {
  isNew: boolean
  at: number
}

/**
 * Moves credits inside the caller's transaction; receivers do not earn them. The same transfer
 * again returns the first result. Throws `not_enough_credits`, `ref_conflict`.
 */
export async function transfer(
  ctx: LedgerContext,
  db: Db,
  request: TransferRequest,
): Promise<TransferResult> {
  const { from, to, ref, kind, item, free = false } = request
  const at = ctx.clock.now()
  const amount = nano(to.reduce((sum, part) => sum + part.amount, 0n))
  invariant(to.length > 0 && to.every((part) => part.amount > 0n), 'a transfer moves something')
  const parts: Share[] = to.map((part) => ({ ...part, amount: String(part.amount) }))
  const open = createHold(at, { account: from, amount, ref, kind, item, ms: 0 })
  const hold: Hold = { ...open, state: 'settled', charged: amount, parts }
  const freeMax = isServiceAccount(from) && !free ? zero : amount
  const { hold: stored, isChanged } = await run(ctx, db, transferUnit(hold, freeMax))
  return { isNew: isChanged, at: stored.at }
}

/** Credits from the service. `free` (the default) credits can be spent and never paid out. */
export type GrantRequest = Omit<TransferRequest, 'from' | 'to'> & TransferRequest['to'][number]

/** Grants credits from the issue account, once for each ref, as `transfer` does. */
export function grant(ctx: LedgerContext, db: Db, request: GrantRequest): Promise<TransferResult> {
  const { account, amount, free = true, ...rest } = request
  const to = [{ account, amount }]
  return transfer(ctx, db, { ...rest, from: serviceAccounts.issue, to, free })
}

/** Opens an owner's account if needed and grants to it, in a transaction of its own. */
export const grantTo = (
  ctx: LedgerContext & { db: Engine },
  owner: Owner,
  request: Omit<GrantRequest, 'account'>,
): Promise<TransferResult> =>
  ctx.db.tx(async (db) =>
    grant(ctx, db, { ...request, account: await openOwnerAccount(ctx, db, owner) }),
  )

/**
 * Holds the maximum cost of work, inside the caller's transaction. The same request again returns
 * the first hold. Throws `ref_conflict`, `not_enough_credits`, `holds_limit`, `daily_cap`,
 * `budget_exceeded`, in this order; the caller lets the error roll back its transaction.
 */
export async function openHold(
  ctx: LedgerContext,
  db: Db,
  request: HoldRequest,
): Promise<{ hold: Hold; isNew: boolean }> {
  const hold = createHold(ctx.clock.now(), request)
  const opened = await run(ctx, db, openUnit(hold, request))
  return { hold: opened.hold, isNew: opened.isChanged }
}

/**
 * Charges an open hold inside the caller's transaction, clamped to 0 <= charge <= hold. A hold that
 * has ended is returned as stored and moves nothing, so read its `state` and `charged`. Only the
 * call that ends the hold runs `record`.
 */
export async function settleHold(
  ctx: LedgerContext,
  db: Db,
  hold: Hold,
  charge: NanoUsd,
  record?: SettlementRecorder,
): Promise<Hold> {
  const { hold: ended, isChanged } = await run(ctx, db, endUnit(hold, 'settled', charge))
  if (isChanged) await record?.(db, ended)
  return ended
}

/** Releases an open hold inside the caller's transaction. An ended hold is returned as stored. */
export async function releaseHold(db: Db, hold: Hold): Promise<Hold> {
  // A release has no entry, and needs no time.
  const { hold: ended } = await run(
    { clock: { now: () => hold.at } },
    db,
    endUnit(hold, 'released', zero),
  )
  return ended
}

export const listOpenHolds = (db: Db, job: string): Promise<Hold[]> =>
  db
    .select()
    .from(holds)
    .where(and(eq(holds.job, job), eq(holds.state, 'held')))
    .orderBy(asc(holds.ref))

/** Releases the open holds of a job in the transaction that ends it. Returns its total charge. */
export async function closeJobHolds(db: Db, job: string): Promise<NanoUsd> {
  for (const hold of await listOpenHolds(db, job)) await releaseHold(db, hold)
  const ended = await db.select({ charged: holds.charged }).from(holds).where(eq(holds.job, job))
  return nano(ended.reduce((sum, { charged }) => sum + charged, 0n))
}
