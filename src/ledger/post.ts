import { nano, type NanoUsd, percentOf, zero } from '../core/money.ts'
import type { Db } from '../db/engine.ts'
import {
  type AccountSnapshot,
  credit,
  debit,
  type HeldAmount,
  isServiceAccount,
  lockAccounts,
  openServiceAccount,
  serviceAccounts,
} from './accounts.ts'
import { appendEntry } from './entries.ts'
import type { Hold } from './holds.ts'
import { invariant } from './invariant.ts'
import type { AccountId } from './tables.ts'

interface PostingTerms {
  /** The largest part of the charge that free credits may pay. */
  freeMax: NanoUsd
  held: HeldAmount
  /** True if receivers earn their part and may have it paid out. */
  isEarned: boolean
  at: number
}

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

/**
 * Posts the charge of a hold: one entry of its account and one of each receiver. They sum to zero,
 * and receivers get free credits in proportion. Returns the payer's balance; undefined, with
 * nothing changed, when the account cannot pay. `alongside` writes the caller's rows before the
 * receivers get their part: all charges share the income account, so its row is locked last.
 */
export async function postCharge(
  db: Db,
  hold: Hold,
  { freeMax, held, isEarned, at }: PostingTerms,
  alongside?: () => Promise<unknown>,
): Promise<NanoUsd | undefined> {
  const receipts = receiptsOf(hold)
  const others = receipts
    .map(({ account }) => account)
    .filter((account) => !isServiceAccount(account))
  invariant(!others.includes(hold.account), 'an account does not pay itself')
  if (others.length > 0) await lockAccounts(db, [hold.account, ...others])
  const { ref, kind, item, charged } = hold
  const payer = await debitAny(db, hold, { amount: charged, freeMax, held }, at)
  if (!payer) return undefined
  invariant(payer.lastFree >= 0n && payer.lastFree <= charged, 'free is a part of the charge')
  const entry = { ref, kind, item, at }
  await Promise.all([
    appendEntry(db, hold.account, { ...entry, line: 0, amount: nano(-charged) }, payer),
    alongside?.(),
  ])
  let received = 0n
  let freeReceived = 0n
  let line = 0
  for (const { account, amount } of receipts) {
    received += amount
    line += 1
    const free = nano((payer.lastFree * received) / charged - freeReceived)
    freeReceived += free
    invariant(free <= amount, 'free is a part of every receipt')
    const earned = isEarned ? nano(amount - free) : zero
    const after = await creditAny(db, account, { amount, free, earned }, at)
    await appendEntry(db, account, { ...entry, line, amount }, after)
  }
  invariant(received === charged && freeReceived === payer.lastFree, 'all entries sum to zero')
  return payer.balance
}

/** Debits an account; a service account is opened with its first debit. */
async function debitAny(
  db: Db,
  { account }: Hold,
  change: Parameters<typeof debit>[2],
  at: number,
): Promise<AccountSnapshot | undefined> {
  const after = await debit(db, account, change)
  if (after || !isServiceAccount(account)) return after
  await openServiceAccount(db, account, at)
  return debit(db, account, change)
}

/** Credits an account; a service account is opened with its first credit. */
async function creditAny(
  db: Db,
  id: AccountId,
  change: Parameters<typeof credit>[2],
  at: number,
): Promise<AccountSnapshot> {
  let after = await credit(db, id, change)
  if (!after && isServiceAccount(id)) {
    await openServiceAccount(db, id, at)
    after = await credit(db, id, change)
  }
  if (!after) throw new Error(`The account ${id} does not exist.`)
  return after
}
