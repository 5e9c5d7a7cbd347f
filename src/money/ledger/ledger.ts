import type { Db, Engine } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { openHoldsPerKeyMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, utcDay } from '../../kernel/time.ts'
import {
  accountOf,
  availableOf,
  type Balance,
  findBalance,
  isServiceAccount,
  openAccount,
  type Owner,
  serviceAccounts,
} from './accounts.ts'
import {
  checkBudgets,
  countSpending,
  dailyCapError,
  type KeyDay,
  spentOn,
  uncountGroup,
} from './caps.ts'
import {
  type ChargeObserver,
  claimHold,
  clampCharge,
  countOpenCalls,
  createHold,
  deleteClaimedHold,
  findSameHold,
  getHold,
  heldAmountOf,
  type Hold,
  type HoldRequest,
  type SettlementRecorder,
  unspent,
} from './holds.ts'
import { invariant } from './invariant.ts'
import { creditReceivers, debitAccount, debitValues, lockParties } from './post.ts'
import type { AccountId, Share } from './tables.ts'
import { claimAndReserve, endAndDebit, endAndUnreserve } from './writes.ts'

/** The parts of AppContext that ledger writes use beside the caller's transaction. */
interface LedgerContext {
  clock: Clock
  onCharge?: ChargeObserver | undefined
}

/** Opens an owner's account unless it exists, inside the caller's transaction. */
export const openOwnerAccount = (ctx: LedgerContext, db: Db, owner: Owner): Promise<AccountId> =>
  openAccount(db, owner, ctx.clock.now())

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
  spentOn(ctx.db.read, { key, day: utcDay(ctx.clock.now()) })

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
  const existing = await claimHold(db, hold)
  if (existing) return { isNew: false, at: existing.at }
  const freeMax = isServiceAccount(from) && !free ? zero : amount
  await lockParties(db, hold)
  const payer = await debitAccount(db, hold, freeMax, at)
  if (payer) {
    await creditReceivers(db, hold, payer, { isEarned: false, at })
    await ctx.onCharge?.(db, hold, payer.balance)
    return { isNew: true, at }
  }
  await deleteClaimedHold(db, hold)
  throw await notEnoughCredits(db, hold)
}

/** Credits from the service. `free` (the default) credits can be spent and never paid out. */
export interface GrantRequest {
  account: AccountId
  amount: NanoUsd
  ref: string
  kind: string
  item?: string
  free?: boolean
}

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

export interface OpenHoldResult {
  hold: Hold
  isNew: boolean
}

/**
 * Holds the maximum cost of work, inside the caller's transaction. The same request again returns
 * the first hold. Throws `ref_conflict`, `not_enough_credits`, `holds_limit`, `daily_cap`,
 * `budget_exceeded`, in this order; the caller lets the error roll back its transaction.
 */
export async function openHold(
  ctx: LedgerContext,
  db: Db,
  request: HoldRequest,
): Promise<OpenHoldResult> {
  const hold = createHold(ctx.clock.now(), request)
  const values = { ...hold, ...heldAmountOf(hold) }
  const { isClaimed, isReserved } = await claimAndReserve(db, values)
  if (!isClaimed) return { hold: await findSameHold(db, hold), isNew: false }
  if (!isReserved) throw await notEnoughCredits(db, hold)
  const { key, group } = countersOf(hold)
  const max = request.cap?.max ?? null
  // The account is locked now. PostgreSQL gets these in one round trip, in any order.
  const [openCalls, isWithinCap] = await Promise.all([
    hold.caller === null ? 0 : countOpenCalls(db, hold.caller),
    key === undefined || countSpending(db, key, hold.amount, max),
    group && countSpending(db, group, hold.amount, null),
  ])
  if (openCalls > openHoldsPerKeyMax)
    throw new ApiError('holds_limit', { max: openHoldsPerKeyMax, retryAfter: 1 })
  if (key && !isWithinCap) throw await dailyCapError(db, key, max ?? zero, hold.at)
  await checkBudgets(db, request.budgets ?? [], hold.at)
  return { hold, isNew: true }
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
  const charged = clampCharge(hold, charge)
  invariant(charged >= 0n && charged <= hold.amount, '0 <= charge <= hold')
  const ended: Hold = { ...hold, state: 'settled', charged }
  if (charged === 0n) {
    if (!(await endWithoutCharge(db, ended))) return getHold(db, hold)
    await record?.(db, ended)
    return ended
  }
  const at = ctx.clock.now()
  await lockParties(db, ended)
  const debit = debitValues(ended, ended.funds === 'any' ? charged : zero, heldAmountOf(ended), at)
  const { isEnded, payer } = await endAndDebit(db, { ...endValues(ended), ...debit })
  if (!isEnded) return getHold(db, hold)
  if (!payer) throw new Error(`The account of hold ${hold.ref} cannot pay for it.`)
  await uncountOfGroup(db, ended)
  await record?.(db, ended)
  await creditReceivers(db, ended, payer, { isEarned: true, at })
  await ctx.onCharge?.(db, ended, payer.balance)
  return ended
}

/** Releases an open hold inside the caller's transaction. An ended hold is returned as stored. */
export async function releaseHold(db: Db, hold: Hold): Promise<Hold> {
  const released: Hold = { ...hold, state: 'released', charged: zero }
  return (await endWithoutCharge(db, released)) ? released : getHold(db, hold)
}

/** Ends an open hold that charges nothing. Returns false for one that has ended. */
async function endWithoutCharge(db: Db, ended: Hold): Promise<boolean> {
  const values = { ...endValues(ended), ...heldAmountOf(ended) }
  const { isEnded, isUnreserved } = await endAndUnreserve(db, values)
  invariant(!isEnded || isUnreserved, 'an account has what it holds')
  if (!isEnded) return false
  await uncountOfGroup(db, ended)
  return true
}

/** Subtracts from the group of a hold, which few keys have, what the hold did not spend. */
async function uncountOfGroup(db: Db, ended: Hold): Promise<void> {
  const { group } = countersOf(ended)
  if (group) await uncountGroup(db, group, unspent(ended))
}

/** Returns the values that end a hold, for the hold itself and the counter of its key. */
const endValues = (ended: Hold) => ({ ...ended, unspent: unspent(ended) })

/** Returns the counters of a hold: its key and its group on the day of the hold. */
function countersOf({ capKey, capGroup, capDay: day }: Hold): { key?: KeyDay; group?: KeyDay } {
  if (day === null) return {}
  return {
    ...(capKey !== null && { key: { key: capKey, day } }),
    ...(capGroup !== null && { group: { key: capGroup, day } }),
  }
}

async function notEnoughCredits(db: Db, { account, amount, funds }: Hold): Promise<ApiError> {
  const balance = await findBalance(db, account)
  const available = availableOf(balance, funds)
  const free = availableOf(balance, 'any') - available
  return new ApiError('not_enough_credits', { needed: amount, available, free })
}
