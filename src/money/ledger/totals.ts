import { and, eq, inArray, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, day, nextUtcDay, utcDay } from '../../kernel/time.ts'
import { serviceAccounts } from './accounts.ts'
import type { DailyAmount } from './spending.ts'
import { accounts, entries, holds } from './tables.ts'

/** Sums over the whole ledger in nano-USD. */
export interface Totals {
  /** The operator's revenue since the start. */
  income: NanoUsd
  /** The balances of all owners' accounts. */
  balance: NanoUsd
  /** The part of `balance` that open holds reserve. */
  held: NanoUsd
}

/** Reads the service accounts and the open holds, so the cost does not grow with accounts. */
export async function readTotals({ db }: { db: Engine }): Promise<Totals> {
  const [own, [open]] = await Promise.all([
    db.read
      .select({ id: accounts.id, balance: accounts.balance })
      .from(accounts)
      .where(inArray(accounts.id, Object.values(serviceAccounts))),
    db.read
      .select({ held: sumOf(holds.amount) })
      .from(holds)
      .where(sql`${holds.state} = 'held'`),
  ])
  const income = own.find(({ id }) => id === serviceAccounts.income)?.balance ?? zero
  // All entries sum to zero, so the owners have what the service accounts lack.
  const serviceBalance = own.reduce((sum, { balance }) => sum + balance, 0n)
  return { income, balance: nano(-serviceBalance), held: open?.held ?? zero }
}

/** Returns the total income before a time, by binary search over the numbered entries. */
async function incomeBefore(db: Db, newest: number, at: number): Promise<NanoUsd> {
  let [low, high] = [0, newest]
  let income = zero
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [entry] = await db
      .select({ at: entries.at, balance: entries.balance })
      .from(entries)
      .where(and(eq(entries.account, serviceAccounts.income), eq(entries.number, middle)))
    if (entry && entry.at < at) [low, income] = [middle, entry.balance]
    else high = middle - 1
  }
  return income
}

/** Returns the operator's revenue on each of the last `days` UTC days, oldest first. */
export async function listDailyIncome(
  { db, clock }: { db: Engine; clock: Clock },
  days: number,
): Promise<DailyAmount[]> {
  const end = nextUtcDay(clock.now())
  const [account] = await db.read
    .select({ number: accounts.entries })
    .from(accounts)
    .where(eq(accounts.id, serviceAccounts.income))
  const ends = Array.from({ length: days + 1 }, (_, at) => end - (days - at) * day)
  const incomes: NanoUsd[] = []
  for (const at of ends) incomes.push(await incomeBefore(db.read, account?.number ?? 0, at))
  return ends.slice(0, -1).map((from, at) => ({
    day: utcDay(from),
    amount: nano((incomes[at + 1] ?? zero) - (incomes[at] ?? zero)),
  }))
}
