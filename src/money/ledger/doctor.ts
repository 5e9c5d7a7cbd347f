import { and, asc, eq, getTableColumns, gt, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { zero } from '../../kernel/money.ts'
import { isServiceAccount } from './accounts.ts'
import type { Entry } from './reports.ts'
import { accounts, caps, entries, holds } from './tables.ts'

/** The result of a ledger check. `text` is for people. */
export interface LedgerReport {
  ok: boolean
  text: string
  accounts: number
  entries: number
  problems: string[]
}

type Account = Awaited<ReturnType<typeof accountsAfter>>[number]

const accountsPage = 200
const entriesPage = 5_000
const groupsPage = 20_000
/** Limits the report of a badly broken ledger. */
const problemsMax = 100

/**
 * Rebuilds every balance from its entries and every held sum from its open holds, and checks that
 * the entries of every commit group sum to zero. It reads in pages and may run beside a working
 * server, because each account is compared with the entries that it had when it was read.
 */
export async function doctor(ctx: { db: Engine }): Promise<LedgerReport> {
  const db = ctx.db.read
  const problems = [...(await checkTotal(db)), ...(await checkCaps(db))]
  const size = { accounts: 0, entries: 0 }
  for (let after = ''; ;) {
    const page = await accountsAfter(db, after)
    size.accounts += page.length
    for (const account of page) size.entries += account.entries
    for await (const problem of accountProblems(db, page, after)) {
      if (problems.length < problemsMax) problems.push(problem)
    }
    const last = page.at(-1)
    if (!last || page.length < accountsPage) break
    after = last.id
  }
  for await (const name of unbalancedGroups(db)) {
    if (problems.length < problemsMax) problems.push(`${name}: its entries do not sum to zero`)
  }
  const summary = `${size.accounts} accounts, ${size.entries} entries`
  const ok = problems.length === 0
  const text = ok
    ? `The ledger is sound: ${summary}.`
    : [`The ledger is broken (${summary}):`, ...problems].join('\n')
  return { ok, text, ...size, problems }
}

async function checkTotal(db: Db): Promise<string[]> {
  const [sum] = await db.select({ total: sumOf(accounts.balance) }).from(accounts)
  return sum && sum.total !== 0n ? [`all balances sum to ${sum.total} instead of 0`] : []
}

/** Returns a page of accounts ordered by id, each with the sums of its open holds. */
function accountsAfter(db: Db, id: string) {
  const paid = sql`case when ${holds.funds} = 'paid' then ${holds.amount} else 0 end`
  const open = db
    .select({
      account: holds.account,
      held: sumOf(holds.amount).as('held_sum'),
      paidHeld: sumOf(paid).as('paid_held_sum'),
    })
    .from(holds)
    .where(sql`${holds.state} = 'held'`)
    .groupBy(holds.account)
    .as('open')
  return db
    .select({
      ...getTableColumns(accounts),
      heldByHolds: sql`coalesce(${open.held}, 0)`.mapWith(BigInt),
      paidHeldByHolds: sql`coalesce(${open.paidHeld}, 0)`.mapWith(BigInt),
    })
    .from(accounts)
    .leftJoin(open, eq(open.account, accounts.id))
    .where(gt(sql`${accounts.id}`, id))
    .orderBy(asc(accounts.id))
    .limit(accountsPage)
}

/** Yields the problems of a page of accounts, which follows the account `after`. */
async function* accountProblems(db: Db, page: Account[], after: string): AsyncGenerator<string> {
  for (const account of page) yield* holdProblems(account)
  const steps = new Map(page.map((account) => [account.id, { account, before: noEntry }]))
  for await (const entry of entriesBetween(db, after, page.at(-1)?.id ?? after)) {
    const step = steps.get(entry.account)
    // Written since the account was read.
    if (!step || entry.number > step.account.entries) continue
    const wrong = checkStep(step.account, step.before, entry)
    if (wrong) yield `${entry.account}: entry ${entry.number}: ${wrong}`
    step.before = entry
  }
  for (const { account, before } of steps.values()) yield* sumProblems(account, before)
}

function* holdProblems(account: Account): Generator<string> {
  const { id, held, heldByHolds, paidHeld, paidHeldByHolds } = account
  if (held !== heldByHolds) yield `${id}: holds ${held}, but its open holds sum to ${heldByHolds}`
  if (paidHeld !== paidHeldByHolds) {
    yield `${id}: holds ${paidHeld} of paid credits, but its holds sum to ${paidHeldByHolds}`
  }
}

function* sumProblems(account: Account, last: Step): Generator<string> {
  const stored = { ...account, number: account.entries }
  for (const name of ['number', 'balance', 'free', 'earned'] as const) {
    if (last[name] === stored[name]) continue
    yield `${account.id}: ${name} is ${stored[name]}, but its entries sum to ${last[name]}`
  }
}

type Step = Pick<Entry, 'number' | 'balance' | 'free' | 'earned'>

/** The numbers of an account before its first entry. */
const noEntry: Step = { number: 0, balance: zero, free: zero, earned: zero }

/** Yields the entries of the accounts behind `after` up to `last`, in pages that follow the key. */
async function* entriesBetween(db: Db, after: string, last: string): AsyncGenerator<Entry> {
  const { account, number } = entries
  // No account has so many entries: what follows is the next account.
  for (let [from, above] = [after, Number.MAX_SAFE_INTEGER]; ;) {
    const page: Entry[] = await db
      .select()
      .from(entries)
      .where(and(sql`(${account}, ${number}) > (${from}, ${above})`, lte(sql`${account}`, last)))
      .orderBy(asc(account), asc(number))
      .limit(entriesPage)
    yield* page
    const end = page.at(-1)
    if (!end || page.length < entriesPage) return
    ;[from, above] = [end.account, end.number]
  }
}

/** Returns what is wrong between two consecutive entries. */
function checkStep({ id }: Account, before: Step, entry: Entry): string | undefined {
  if (entry.number !== before.number + 1) return `follows ${before.number}`
  if (entry.balance !== before.balance + entry.amount) {
    return `${before.balance} and ${entry.amount} do not sum to ${entry.balance}`
  }
  if (isServiceAccount(id)) return undefined
  const low = entry.amount < 0n ? entry.amount : 0n
  const high = entry.amount > 0n ? entry.amount : 0n
  for (const part of ['free', 'earned'] as const) {
    const step = entry[part] - before[part]
    if (step < low || step > high)
      return `${part} changes by ${step}, the balance by ${entry.amount}`
  }
  return undefined
}

/** Yields commit groups, and refs of older entries, whose entries do not sum to zero. */
async function* unbalancedGroups(db: Db): AsyncGenerator<string> {
  yield* unbalanced(db, entries.group, sql`${entries.group} is not null`)
  yield* unbalanced(db, entries.ref, sql`${entries.group} is null`)
}

/** Yields names in a column whose entries do not sum to zero. Its index has those of `where`. */
async function* unbalanced(
  db: Db,
  column: typeof entries.group | typeof entries.ref,
  where: SQL,
): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const page: { name: string | null; total: bigint }[] = await db
      .select({ name: column, total: sumOf(entries.amount) })
      .from(entries)
      .where(and(where, gt(column, after)))
      .groupBy(column)
      .orderBy(asc(column))
      .limit(groupsPage)
    for (const { name, total } of page) if (name && total !== 0n) yield name
    const last = page.at(-1)?.name
    if (!last || page.length < groupsPage) return
    after = last
  }
}

/** Returns the keys whose counted day differs from the sum of their holds. */
async function checkCaps(db: Db): Promise<string[]> {
  const spent = sql`case ${holds.state} when 'held' then ${holds.amount} else ${holds.charged} end`
  const counters = [holds.capKey, holds.capGroup, holds.capPayer] as const
  const countsOf = (counter: (typeof counters)[number]) =>
    db
      .select({ key: sql`${counter}`.as('counter'), day: holds.capDay, spent: spent.as('spent') })
      .from(holds)
      .where(isNotNull(counter))
  // A hold counts for its key, for the group of its key, and for an agent that pays for others.
  const [ofKey, ofGroup, ofPayer] = counters
  const all = countsOf(ofKey)
    .unionAll(countsOf(ofGroup))
    .unionAll(countsOf(ofPayer))
    .as('all_counts')
  const counted = db
    .select({ key: all.key, day: all.day, total: sumOf(sql`${all.spent}`).as('spent_sum') })
    .from(all)
    .groupBy(sql`${all.key}`, all.day)
    .as('counted')
  const total = sql`coalesce(${counted.total}, 0)`.mapWith(BigInt)
  const broken = await db
    .select({ key: caps.key, day: caps.day, used: caps.used, total })
    .from(caps)
    .leftJoin(counted, and(eq(counted.key, caps.key), eq(counted.day, caps.day)))
    .where(ne(caps.used, total))
    .limit(problemsMax)
  return broken.map(
    ({ key, day, used, total }) =>
      `key ${key} counts ${used} on ${day}, but its holds sum to ${total}`,
  )
}
