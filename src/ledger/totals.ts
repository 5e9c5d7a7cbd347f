import { and, eq, inArray, sql } from 'drizzle-orm'

import { nano, type NanoUsd, zero } from '../core/money.ts'
import { type Clock, day, nextUtcDay, utcDay } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { prepared, sumOf } from '../db/query.ts'
import { houseAccounts } from './accounts.ts'
import type { Spent } from './spending.ts'
import { accounts, entries, holds } from './tables.ts'

/** What stands in the ledger as a whole, in Nano. */
export interface Totals {
  /** What the house was paid in all. */
  income: NanoUsd
  /** What everybody's accounts hold. */
  balance: NanoUsd
  /** What open holds keep back of that. */
  held: NanoUsd
}

/** Reads two accounts and the open holds, whatever number of accounts there is. */
export async function totals({ db }: { db: Engine }): Promise<Totals> {
  const [own, [open]] = await Promise.all([
    db.read
      .select({ id: accounts.id, balance: accounts.balance })
      .from(accounts)
      .where(inArray(accounts.id, Object.values(houseAccounts))),
    db.read
      .select({ held: sumOf(holds.amount) })
      .from(holds)
      .where(sql`${holds.state} = 'held'`),
  ])
  const income = own.find(({ id }) => id === houseAccounts.income)?.balance ?? zero
  // All lines sum to zero: what the house is short of is what everybody has.
  const ofHouse = own.reduce((sum, { balance }) => sum + balance, 0n)
  return { income, balance: nano(-ofHouse), held: open?.held ?? zero }
}

const value = sql.placeholder
const isIncome = eq(entries.account, houseAccounts.income)
const newestQuery = prepared((db) =>
  db
    .select({ number: accounts.entries })
    .from(accounts)
    .where(eq(accounts.id, houseAccounts.income))
    .prepare(),
)
const entryQuery = prepared((db) =>
  db
    .select({ at: entries.at, balance: entries.balance })
    .from(entries)
    .where(and(isIncome, eq(entries.number, value('number'))))
    .prepare(),
)

/** The income in all before a moment: entries are numbered in time, so halving finds it. */
async function incomeBefore(db: Db, newest: number, at: number): Promise<NanoUsd> {
  let [low, high] = [0, newest]
  let income = zero
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [entry] = await entryQuery(db).execute({ number: middle })
    if (entry && entry.at < at) [low, income] = [middle, entry.balance]
    else high = middle - 1
  }
  return income
}

/** What the house was paid on each of the last `days` UTC days, oldest first. */
export async function incomeByDay(
  { db, clock }: { db: Engine; clock: Clock },
  days: number,
): Promise<Spent[]> {
  const end = nextUtcDay(clock.now())
  const [account] = await newestQuery(db.read).execute()
  const ends = Array.from({ length: days + 1 }, (_, at) => end - (days - at) * day)
  const incomes: NanoUsd[] = []
  for (const at of ends) incomes.push(await incomeBefore(db.read, account?.number ?? 0, at))
  return ends.slice(0, -1).map((from, at) => ({
    day: utcDay(from),
    amount: nano((incomes[at + 1] ?? zero) - (incomes[at] ?? zero)),
  }))
}
