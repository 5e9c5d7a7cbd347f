/**
 * Writes that depend on each other. PostgreSQL runs those of a function as one statement, a WITH
 * that writes; SQLite, which has none and no network, runs them in turn (docs/decisions/0093).
 */
import { getTableColumns, sql, type SQLWrapper, type WithSubquery } from 'drizzle-orm'

import { dialect } from '../../kernel/db/dialect.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount, placeholders, prepared } from '../../kernel/db/query.ts'
import type { Json } from '../../kernel/schema.ts'
import {
  type AccountSnapshot,
  credit,
  debit,
  reserve,
  snapshotColumns,
  unreserve,
} from './accounts.ts'
import { uncountSpending } from './caps.ts'
import { claim, end } from './holds.ts'
import { accounts, entries, holds } from './tables.ts'

const isPostgres = dialect === 'postgres'

const claimQuery = prepared((db) => claim(db).prepare())
const reserveQuery = prepared((db) => reserve(db).prepare())
const endQuery = prepared((db) => end(db).prepare())
const unreserveQuery = prepared((db) => unreserve(db).prepare())
const uncountQuery = prepared((db) => uncountSpending(db).prepare())
const appendQuery = prepared((db) => db.insert(entries).values(placeholders(entries)).prepare())

/** Tests that a write before changed a row. PostgreSQL runs that write first. */
const isDone = (write: WithSubquery) => sql`exists (select 1 from ${write})`
const always = sql`true`
const holdRef = { ref: holds.ref }
const accountId = { id: accounts.id }

const ended = (db: Db) => db.$with('ended', holdRef).as(end(db).returning(holdRef).getSQL())
const changed = (db: Db, change: SQLWrapper) =>
  db.$with('account', snapshotColumns).as(change.getSQL())
const uncounted = (db: Db, before: WithSubquery) =>
  db.$with('uncounted', {}).as(uncountSpending(db, isDone(before)).getSQL())

/** Appends the entry of an account that the write before changed. */
function appended(db: Db, account: ReturnType<typeof changed>) {
  const { number, balance, free, earned } = account
  const after: Json = { number, balance, free, earned }
  const row = Object.keys(getTableColumns(entries)).map(
    (name) => sql`${after[name] ?? sql.placeholder(name)}`,
  )
  const insert = db.insert(entries).select(sql`select ${sql.join(row, sql`, `)} from ${account}`)
  return db.$with('appended', {}).as(insert.getSQL())
}

/** Returns the write of an account and its entry. It returns the account, if it changed. */
function withEntry(change: typeof debit | typeof credit) {
  const changeQuery = prepared((db) => change(db).prepare())
  const atOnce = prepared((db) => {
    const account = changed(db, change(db))
    return db.with(account, appended(db, account)).select().from(account).prepare()
  })
  return async (db: Db, values: Json): Promise<AccountSnapshot | undefined> => {
    const [account] = await (isPostgres ? atOnce : changeQuery)(db).execute(values)
    if (account && !isPostgres) await appendQuery(db).execute({ ...values, ...account })
    return account
  }
}

export const debitAndAppend = withEntry(debit)
export const creditAndAppend = withEntry(credit)

const claimAndReserveAtOnce = prepared((db) => {
  const claimed = db.$with('claimed', holdRef).as(claim(db).returning(holdRef).getSQL())
  const reserving = reserve(db, isDone(claimed)).returning(accountId)
  const reserved = db.$with('reserved', accountId).as(reserving.getSQL())
  return db.with(claimed, reserved).select().from(claimed).leftJoin(reserved, always).prepare()
})

/** Writes a hold and reserves its amount. */
export async function claimAndReserve(db: Db, values: Json) {
  if (isPostgres) {
    const [found] = await claimAndReserveAtOnce(db).execute(values)
    return { isClaimed: found !== undefined, isReserved: !!found?.reserved }
  }
  const isClaimed = changedRowCount(await claimQuery(db).execute(values)) > 0
  const isReserved = isClaimed && changedRowCount(await reserveQuery(db).execute(values)) > 0
  return { isClaimed, isReserved }
}

const endAndUnreserveAtOnce = prepared((db) => {
  const hold = ended(db)
  const unreserving = unreserve(db, isDone(hold)).returning(accountId)
  const unreserved = db.$with('unreserved', accountId).as(unreserving.getSQL())
  return db
    .with(hold, unreserved, uncounted(db, unreserved))
    .select()
    .from(hold)
    .leftJoin(unreserved, always)
    .prepare()
})

/** Ends a hold that charges nothing, its reservation and its part of the counter of its key. */
export async function endAndUnreserve(db: Db, values: Json) {
  if (isPostgres) {
    const [found] = await endAndUnreserveAtOnce(db).execute(values)
    return { isEnded: found !== undefined, isUnreserved: !!found?.unreserved }
  }
  const isEnded = changedRowCount(await endQuery(db).execute(values)) > 0
  const isUnreserved = isEnded && changedRowCount(await unreserveQuery(db).execute(values)) > 0
  if (isUnreserved) await uncountQuery(db).execute(values)
  return { isEnded, isUnreserved }
}

const endAndDebitAtOnce = prepared((db) => {
  const hold = ended(db)
  const account = changed(db, debit(db, isDone(hold)))
  return db
    .with(hold, account, appended(db, account), uncounted(db, account))
    .select()
    .from(hold)
    .leftJoin(account, always)
    .prepare()
})

interface EndedHold {
  isEnded: boolean
  payer?: AccountSnapshot | undefined
}

/** Ends a hold, debits its charge, and subtracts the rest from the counter of its key. */
export async function endAndDebit(db: Db, values: Json): Promise<EndedHold> {
  if (isPostgres) {
    const [found] = await endAndDebitAtOnce(db).execute(values)
    return { isEnded: found !== undefined, payer: found?.account ?? undefined }
  }
  if (changedRowCount(await endQuery(db).execute(values)) === 0) return { isEnded: false }
  const payer = await debitAndAppend(db, values)
  if (payer) await uncountQuery(db).execute(values)
  return { isEnded: true, payer }
}
