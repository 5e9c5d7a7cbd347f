import type { Db } from '../../kernel/db/engine.ts'
import { nano, type NanoUsd, percentOf, zero } from '../../kernel/money.ts'
import {
  type AccountSnapshot,
  type HeldAmount,
  isServiceAccount,
  lockAccounts,
  openServiceAccount,
  serviceAccounts,
} from './accounts.ts'
import type { Hold } from './holds.ts'
import { invariant } from './invariant.ts'
import type { AccountId } from './tables.ts'
import { creditAndAppend, debitAndAppend } from './writes.ts'

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
  const payer = await debitAndAppend(db, values)
  if (payer || !isServiceAccount(account)) return payer
  await openServiceAccount(db, account, at)
  return debitAndAppend(db, values)
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
  let receiver = await creditAndAppend(db, values)
  if (!receiver && isServiceAccount(account)) {
    await openServiceAccount(db, account, at)
    receiver = await creditAndAppend(db, values)
  }
  if (!receiver) throw new Error(`The account ${account} does not exist.`)
}
