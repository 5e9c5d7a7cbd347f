import { nano, type NanoUsd, share, zero } from '../core/money.ts'
import type { Db } from '../db/engine.ts'
import {
  credit,
  debit,
  houseAccounts,
  isHouse,
  type Kept,
  lockAccounts,
  type Mark,
  openAccount,
} from './accounts.ts'
import { append } from './entries.ts'
import type { Hold } from './holds.ts'
import { invariant } from './invariant.ts'
import type { AccountId } from './tables.ts'

/** How a charge is taken and given. */
interface Terms {
  /** The most of it that free credits may pay. */
  freeMax: NanoUsd
  /** What was kept back for it, and is kept no more. */
  kept: Kept
  /** Whether who receives it has earned it, and not only got it. */
  earns: boolean
  at: number
}

interface Gift {
  account: AccountId
  amount: NanoUsd
}

/** Who gets how much: parts rounded down, the remainder for the house. They sum to the charge. */
function giftsOf(hold: Hold): Gift[] {
  const gifts = hold.parts.map((part) => ({
    account: part.account,
    amount: 'percent' in part ? share(hold.charged, part.percent) : nano(BigInt(part.amount)),
  }))
  const left = gifts.reduce((sum, { amount }) => sum - amount, BigInt(hold.charged))
  invariant(left >= 0n, 'no more is given than was charged')
  const rest = { account: houseAccounts.income, amount: nano(left) }
  return [...gifts, rest].filter(({ amount }) => amount > 0n)
}

/**
 * Moves what a hold was charged: one entry of its account, one of each receiver, summing to zero,
 * and free credits stay free in proportion. Answers what the account has left; undefined when it
 * cannot pay: nothing changed.
 */
export async function post(db: Db, hold: Hold, terms: Terms): Promise<NanoUsd | undefined> {
  const gifts = giftsOf(hold)
  const others = gifts.map(({ account }) => account).filter((account) => !isHouse(account))
  invariant(!others.includes(hold.account), 'nobody pays themselves')
  if (others.length > 0) await lockAccounts(db, [hold.account, ...others])
  const { freeMax, kept, at } = terms
  const taken = await debitAny(db, hold, { amount: hold.charged, freeMax, kept }, at)
  if (!taken) return undefined
  invariant(taken.lastFree >= 0n && taken.lastFree <= hold.charged, 'free is a part of the charge')
  const { ref, kind, item } = hold
  const line = { ref, kind, item, at }
  await append(db, hold.account, { ...line, line: 0, amount: nano(-hold.charged) }, taken)
  let given = 0n
  let freeGiven = 0n
  for (const [index, { account, amount }] of gifts.entries()) {
    given += amount
    const free = nano((taken.lastFree * given) / hold.charged - freeGiven)
    freeGiven += free
    invariant(free <= amount, 'free is a part of every gift')
    const earned = terms.earns ? nano(amount - free) : zero
    const after = await creditAny(db, account, { amount, free, earned }, at)
    await append(db, account, { ...line, line: index + 1, amount }, after)
  }
  invariant(given === hold.charged && freeGiven === taken.lastFree, 'all lines sum to zero')
  return taken.balance
}

/** The house's own accounts are opened when they are first used. */
const openHouseAccount = (db: Db, id: AccountId, at: number): Promise<AccountId> =>
  openAccount(db, { kind: 'house', owner: id.slice('house:'.length) }, at)

async function debitAny(
  db: Db,
  { account }: Hold,
  change: Parameters<typeof debit>[2],
  at: number,
): Promise<Mark | undefined> {
  const after = await debit(db, account, change)
  if (after || !isHouse(account)) return after
  await openHouseAccount(db, account, at)
  return debit(db, account, change)
}

async function creditAny(
  db: Db,
  id: AccountId,
  change: Parameters<typeof credit>[2],
  at: number,
): Promise<Mark> {
  let after = await credit(db, id, change)
  if (!after && isHouse(id)) {
    await openHouseAccount(db, id, at)
    after = await credit(db, id, change)
  }
  if (!after) throw new Error(`There is no account ${id}.`)
  return after
}
