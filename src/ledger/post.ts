import { nano, type NanoUsd, percentOf, zero } from '../core/money.ts'
import { chained } from '../db/chain.ts'
import type { Db } from '../db/engine.ts'
import {
  type AccountSnapshot,
  credit,
  debit,
  type HeldAmount,
  isServiceAccount,
  lockAccounts,
  openServiceAccount,
  reserve,
  serviceAccounts,
  unreserve,
} from './accounts.ts'
import { uncountSpending } from './caps.ts'
import { entryAfter } from './entries.ts'
import { claim, end, type Hold } from './holds.ts'
import { invariant } from './invariant.ts'
import { type AccountId, entries } from './tables.ts'

interface Receipt {
  account: AccountId
  amount: NanoUsd
}

/** Divides a charge: shares are rounded down, income gets the rest. They sum to the charge. */
function receiptsOf(hold: Hold): Receipt[] {
  const receipts = hold.parts.map((part) => ({
    account: part.account,
    amount: 'percent' in part ? percentOf(hold.charged, part.percent) : nano(BigInt(part.amount)),
  }))
  const rest = receipts.reduce((sum, { amount }) => sum - amount, BigInt(hold.charged))
  invariant(rest >= 0n, 'shares are at most the charge')
  receipts.push({ account: serviceAccounts.income, amount: nano(rest) })
  return receipts.filter(({ amount }) => amount > 0n)
}

/** Locks the payer and the receivers of a charge, unless only the service receives it. */
export async function lockParties(db: Db, hold: Hold): Promise<void> {
  const others = receiptsOf(hold)
    .map(({ account }) => account)
    .filter((account) => !isServiceAccount(account))
  invariant(!others.includes(hold.account), 'an account does not pay itself')
  if (others.length > 0) await lockAccounts(db, [hold.account, ...others])
}

/** Returns the values of a debit and its entry; `freeMax` is what free credits may pay of it. */
export const debitValues = (hold: Hold, freeMax: NanoUsd, held: HeldAmount, at: number) => ({
  ...entryValues(hold, at),
  account: hold.account,
  charged: hold.charged,
  freeMax,
  ...held,
  line: 0,
  amount: nano(-hold.charged),
})

const entryValues = ({ ref, kind, item }: Hold, at: number) => ({ ref, kind, item, at })

/**
 * Debits a charge that nothing was held for. Returns the payer after it; undefined, with nothing
 * changed, when the account cannot pay. A service account is opened with its first debit.
 */
export async function debitAccount(
  db: Db,
  hold: Hold,
  freeMax: NanoUsd,
  at: number,
): Promise<AccountSnapshot | undefined> {
  const { account } = hold
  const values = debitValues(hold, freeMax, { held: zero, heldPaid: zero }, at)
  const { payer } = await debitAndAppend(db).execute(values)
  if (payer || !isServiceAccount(account)) return payer
  await openServiceAccount(db, account, at)
  return (await debitAndAppend(db).execute(values)).payer
}

/**
 * Credits the receivers of a charge, with free credits in proportion: the entries of payer and
 * receivers sum to zero. `isEarned`: receivers earn their part and may have it paid out. Call it
 * last: all charges share the income account, and lock its row until their commit.
 */
export async function creditReceivers(
  db: Db,
  hold: Hold,
  payer: AccountSnapshot,
  { isEarned, at }: { isEarned: boolean; at: number },
): Promise<void> {
  const { charged } = hold
  invariant(payer.lastFree >= 0n && payer.lastFree <= charged, 'free is a part of the charge')
  let received = 0n
  let freeReceived = 0n
  let line = 0
  for (const { account, amount } of receiptsOf(hold)) {
    received += amount
    line += 1
    const free = nano((payer.lastFree * received) / charged - freeReceived)
    freeReceived += free
    invariant(free <= amount, 'free is a part of every receipt')
    const earned = isEarned && !isServiceAccount(account) ? nano(amount - free) : zero
    await creditAccount(db, { ...entryValues(hold, at), account, line, amount, free, earned })
  }
  invariant(received === charged && freeReceived === payer.lastFree, 'all entries sum to zero')
}

/** Credits an account; a service account is opened with its first credit. */
async function creditAccount(
  db: Db,
  values: ReturnType<typeof entryValues> & { account: AccountId; [name: string]: unknown },
): Promise<void> {
  const { account, at } = values
  let { receiver } = await creditAndAppend(db).execute(values)
  if (!receiver && isServiceAccount(account)) {
    await openServiceAccount(db, account, at)
    receiver = (await creditAndAppend(db).execute(values)).receiver
  }
  if (!receiver) throw new Error(`The account ${account} does not exist.`)
}

/** Writes a hold and reserves its amount. */
export const claimAndReserve = chained((db, { write }) => {
  const claimed = write('claimed', claim(db))
  return { claimed, reserved: write('reserved', reserve(db, claimed.isDone)) }
})

/** Ends a hold that charges nothing, its reservation and its part of the counters. */
export const endAndUnreserve = chained((db, { write }) => {
  const ended = write('ended', end(db))
  const unreserved = write('unreserved', unreserve(db, ended.isDone))
  write('uncounted', uncountSpending(db, unreserved.isDone))
  return { ended, unreserved }
})

/** Ends a hold, debits its charge, and subtracts the rest from its counters. */
export const endAndDebit = chained((db, { write, insertAfter }) => {
  const ended = write('ended', end(db))
  const payer = write('payer', debit(db, ended.isDone))
  insertAfter(payer, entries, entryAfter(payer))
  write('uncounted', uncountSpending(db, payer.isDone))
  return { ended, payer }
})

const debitAndAppend = chained((db, { write, insertAfter }) => {
  const payer = write('payer', debit(db))
  insertAfter(payer, entries, entryAfter(payer))
  return { payer }
})

const creditAndAppend = chained((db, { write, insertAfter }) => {
  const receiver = write('receiver', credit(db))
  insertAfter(receiver, entries, entryAfter(receiver))
  return { receiver }
})
