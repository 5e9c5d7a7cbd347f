import { and, eq, gte, sql } from 'drizzle-orm'

import type { KeyedTable } from '../../kernel/db/damage.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { LostRace } from '../../kernel/db/error.ts'
import { excluded } from '../../kernel/db/query.ts'
import { countBy, insertRows, selectRows, updateRows } from '../../kernel/db/rows.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { isServiceAccount, openAccounts, serviceAccounts } from './accounts.ts'
import { type Counter, type Hold, invariant } from './holds.ts'
import type { Entry } from './reports.ts'
import { type AccountId, accounts, caps, entries, holds, serviceKind } from './tables.ts'

/** The tables of the ledger, for the check for damage. */
export const ledgerTables: KeyedTable[] = [
  { table: accounts, key: [accounts.id] },
  { table: entries, key: [entries.account, entries.number] },
  { table: holds, key: [holds.ref] },
  { table: caps, key: [caps.key, caps.day] },
]

export type Account = typeof accounts.$inferSelect

/** The rows that a unit of work reads and changes. */
export interface Needs {
  accounts: AccountId[]
  /** The refs of new holds. */
  refs: string[]
  /** Holds that end. */
  ends: Hold[]
  /** Counters of spending, with their rows since a UTC day. */
  counters: { key: string; since: string }[]
  /** Callers whose open holds are limited. */
  callers: string[]
}

/** Rows in memory. A change replaces a row, and can be undone. */
class Rows<Row> {
  readonly #stored = new Map<string, Row>()
  readonly #current = new Map<string, Row>()

  constructor(
    readonly nameOf: (row: Row) => string,
    readonly changes: (() => void)[],
  ) {}

  load(rows: Row[]): void {
    for (const row of rows) {
      this.#stored.set(this.nameOf(row), row)
      this.#current.set(this.nameOf(row), row)
    }
  }

  get = (name: string): Row | undefined => this.#current.get(name)

  all = (): Row[] => [...this.#current.values()]

  put(row: Row): void {
    const name = this.nameOf(row)
    const before = this.#current.get(name)
    this.changes.push(() =>
      before === undefined ? this.#current.delete(name) : this.#current.set(name, before),
    )
    this.#current.set(name, row)
  }

  changed = (): Row[] => this.all().filter((row) => this.#stored.get(this.nameOf(row)) !== row)
}

const loadAccounts = selectRows(accounts, accounts.id, (value) => eq(accounts.id, value()))
const loadHolds = selectRows(holds, holds.ref, (value) => eq(holds.ref, value()))
/** Loads the holds of refs only where these are other holds, or have ended. */
const loadEnded = selectRows(
  holds,
  holds.ref,
  (value) =>
    sql`${holds.ref} = ${value()} and not (${holds.id} = ${value()} and ${holds.state} = 'held')`,
)
const loadCounters = selectRows(caps, caps.key, (value) =>
  and(eq(caps.key, value()), gte(caps.day, value())),
)
const writeAccounts = insertRows(accounts, (db, rows) =>
  db
    .insert(accounts)
    .values(rows)
    .onConflictDoUpdate({ target: accounts.id, set: excluded(accounts, ['id', 'kind', 'at']) }),
)
/** Leaves a hold of another process that has taken the ref meanwhile. */
const insertHolds = insertRows(holds, (db, rows) =>
  db
    .insert(holds)
    .values(rows)
    .onConflictDoUpdate({
      target: holds.ref,
      set: excluded(holds, ['ref']),
      setWhere: eq(holds.state, sql`'released'`),
    }),
)
const endHolds = updateRows(holds, ['ref', 'state', 'charged'], (db, changed) =>
  db
    .update(holds)
    .set({ state: sql`changed.column2`, charged: sql`changed.column3` })
    .from(changed)
    .where(sql`${holds.ref} = changed.column1 and ${holds.state} = 'held'`),
)
const writeCounters = insertRows(caps, (db, rows) =>
  db
    .insert(caps)
    .values(rows)
    .onConflictDoUpdate({ target: [caps.key, caps.day], set: excluded(caps, ['key', 'day']) }),
)
const writeEntries = insertRows(entries, (db, rows) => db.insert(entries).values(rows))

/** Counts the open holds of callers, those of other processes included. */
const countCalls = countBy(holds, holds.caller, eq(holds.state, sql`'held'`))

const counterName = ({ key, day }: Omit<Counter, 'used'>): string => `${day} ${key}`

/**
 * The rows of some units of work in memory. Units run on it one after another; what they changed is
 * written once. What the service earns is one entry of its account for all of them.
 */
export class LedgerView {
  readonly #changes: (() => void)[] = []
  readonly accounts = new Rows<Account>(({ id }) => id, this.#changes)
  readonly holds = new Rows<Hold>(({ ref }) => ref, this.#changes)
  readonly ended = new Rows<Hold>(({ ref }) => ref, this.#changes)
  readonly counters = new Rows<Counter>(counterName, this.#changes)
  /** The open holds of callers. */
  readonly calls = new Rows<{ caller: string; open: number }>(({ caller }) => caller, this.#changes)
  #income = { amount: zero, free: zero }
  readonly #entries: Entry[] = []
  readonly #group: string

  constructor(readonly at: number) {
    this.#group = newOrderedId(at)
  }

  /** Loads rows and locks them in one order; all charges share the account of the income. */
  async load(db: Db, needs: Needs[]): Promise<void> {
    const ids = new Set(needs.flatMap((one) => one.accounts))
    const refs = new Set(needs.flatMap((one) => one.refs))
    const counters = new Map<string, string>()
    for (const { key, since } of needs.flatMap((one) => one.counters)) {
      const known = counters.get(key)
      if (known === undefined || since < known) counters.set(key, since)
    }
    const sorted = [...ids].sort()
    const service = sorted.filter(isServiceAccount)
    const ends = needs.flatMap((one) => one.ends).map(({ ref, id }) => [ref, id])
    const callers = [...new Set(needs.flatMap((one) => one.callers))]
    // PostgreSQL gets all at once and runs them in this order: the accounts are locked before it
    // reads what their locks guard.
    const [own, ofService, spent, opened, ended, calls] = await Promise.all([
      loadAccounts(
        db,
        sorted.filter((id) => !isServiceAccount(id)),
      ),
      loadAccounts(db, service),
      loadCounters(db, [...counters]),
      loadHolds(db, [...refs]),
      loadEnded(db, ends),
      countCalls(db, callers),
    ])
    this.accounts.load(own)
    this.accounts.load(ofService)
    this.counters.load(spent)
    this.holds.load(opened)
    this.ended.load(ended)
    this.calls.load(callers.map((caller) => ({ caller, open: calls.get(caller) ?? 0 })))
    if (ofService.length < service.length) await this.#openService(db, service)
  }

  /** Runs a unit. One that throws changes nothing. */
  attempt<Result>(unit: (view: LedgerView) => Result): PromiseSettledResult<Result> {
    const [changes, written, income] = [this.#changes.length, this.#entries.length, this.#income]
    try {
      return { status: 'fulfilled', value: unit(this) }
    } catch (reason) {
      for (const undo of this.#changes.splice(changes).reverse()) undo()
      this.#entries.length = written
      this.#income = income
      return { status: 'rejected', reason }
    }
  }

  getAccount(id: AccountId): Account {
    const found = this.accounts.get(id)
    if (!found) throw new Error(`The account ${id} does not exist.`)
    return found
  }

  /** Changes an account. */
  putAccount(account: Account): void {
    checkAccount(account)
    this.accounts.put(account)
  }

  /** Changes an account by a movement, and appends its entry. */
  post(
    account: Account,
    { amount, ...movement }: Pick<Entry, 'ref' | 'line' | 'kind' | 'item' | 'amount'>,
  ): Account {
    const [balance, number] = [nano(account.balance + amount), account.entries + 1]
    const after = { ...account, balance, entries: number }
    this.putAccount(after)
    const { id, free, earned } = after
    const snapshot = { account: id, number, balance, free, earned }
    this.#entries.push({ ...movement, ...snapshot, amount, at: this.at, group: this.#group })
    return after
  }

  earn(amount: NanoUsd, free: NanoUsd): void {
    const { amount: before, free: freeBefore } = this.#income
    this.#income = { amount: nano(before + amount), free: nano(freeBefore + free) }
  }

  /** Returns what a counter has spent on a day, settled and held. */
  spentOn = (key: string, day: string): NanoUsd =>
    this.counters.get(counterName({ key, day }))?.used ?? zero

  /** Adds to a counter, which may be a new one. */
  count(key: string, day: string, amount: bigint): void {
    const used = nano(this.spentOn(key, day) + amount)
    invariant(used >= 0n, 'a counter has what a hold added')
    this.counters.put({ key, day, used })
  }

  /** Writes what changed. Throws LostRace where another process took a ref meanwhile. */
  async write(db: Db): Promise<void> {
    this.#postIncome()
    const total = this.#entries.reduce((sum, { amount }) => sum + amount, 0n)
    invariant(total === 0n, 'all entries sum to zero')
    const [opened, ended] = [this.holds.changed(), this.ended.changed()]
    const [written, ends] = await Promise.all([
      insertHolds(db, opened),
      endHolds(db, ended),
      writeAccounts(db, this.accounts.changed()),
      writeCounters(db, this.counters.changed()),
      writeEntries(db, this.#entries),
    ])
    if (written < opened.length) throw new LostRace('Another process took the ref of a hold.')
    invariant(ends === ended.length, 'a hold that ends exists')
  }

  #postIncome(): void {
    const { amount, free } = this.#income
    if (amount === 0n) return
    const account = this.getAccount(serviceAccounts.income)
    const sum = { ref: `income:${this.#group}`, line: 0, kind: 'income', item: null, amount }
    this.post({ ...account, free: nano(account.free + free) }, sum)
  }

  /** The accounts of the service are opened with their first movement. */
  async #openService(db: Db, ids: AccountId[]): Promise<void> {
    await openAccounts(
      db,
      ids.map((id) => ({ id, kind: serviceKind, at: this.at }) as const),
    )
    this.accounts.load(await loadAccounts(db, ids))
  }
}

function checkAccount(account: Account): void {
  const { id, balance, free, earned, held, paidHeld } = account
  invariant(earned >= 0n && paidHeld >= 0n && paidHeld <= held, 'no part of an account is negative')
  if (isServiceAccount(id)) return
  invariant(held <= balance && free >= 0n, 'an account has what it holds')
  invariant(free + earned <= balance && paidHeld <= balance - free, 'parts are within the balance')
}
