import { and, eq, gte, inArray, or, sql } from 'drizzle-orm'

import { nano, type NanoUsd, zero } from '../core/money.ts'
import type { Db } from '../db/engine.ts'
import { changedBy, forUpdate, prepared } from '../db/query.ts'
import { type AccountId, accounts, type OwnerKind } from './tables.ts'

/** Whose account is meant: an agent, a person, a gateway balance, or the house's own. */
export interface Owner {
  kind: OwnerKind
  owner: string
}

/** The account of an owner; it follows from the owner, so no row is read to know it. */
export const accountOf = ({ kind, owner }: Owner): AccountId => `${kind}:${owner}`

/** An agent as an owner, by its id. */
export const agentOwner = (id: string) => ({ kind: 'agent', owner: id }) as const

/** The account of an agent, by its id. */
export const agentAccount = (id: string): AccountId => accountOf(agentOwner(id))

/** The id of the agent whose account this is; undefined for any other's. */
export const agentOf = (account: string): string | undefined =>
  account.startsWith('agent:') ? account.slice('agent:'.length) : undefined

/** Where credits come from, and where what the house earns goes. */
export const houseAccounts = { issue: 'house:issue', income: 'house:income' } as const

export const isHouse = (account: AccountId): boolean => account.startsWith('house:')

/** An account as it stands. All amounts are Nano. */
export interface Balance {
  balance: NanoUsd
  free: NanoUsd
  earned: NanoUsd
  held: NanoUsd
  paidHeld: NanoUsd
}

/** An account right after its newest entry: what the entry is written from. */
export interface Mark {
  number: number
  balance: NanoUsd
  free: NanoUsd
  earned: NanoUsd
  lastFree: NanoUsd
}

const value = (name: string) => sql<NanoUsd>`${sql.placeholder(name)}`
const byId = eq(accounts.id, sql.placeholder('id'))
const isOfHouse = eq(accounts.kind, 'house')
const mark = {
  number: accounts.entries,
  balance: accounts.balance,
  free: accounts.free,
  earned: accounts.earned,
  lastFree: accounts.lastFree,
}

const balanceQuery = prepared((db) =>
  db
    .select({
      balance: accounts.balance,
      free: accounts.free,
      earned: accounts.earned,
      held: accounts.held,
      paidHeld: accounts.paidHeld,
    })
    .from(accounts)
    .where(byId)
    .prepare(),
)

/** The account as it stands; undefined when it was never opened. */
export async function findBalance(db: Db, id: AccountId): Promise<Balance | undefined> {
  const [found] = await balanceQuery(db).execute({ id })
  return found
}

const openQuery = prepared((db) =>
  db
    .insert(accounts)
    .values({
      id: sql.placeholder('id'),
      kind: sql.placeholder('kind'),
      at: sql.placeholder('at'),
    })
    .onConflictDoNothing()
    .prepare(),
)

/** Makes the account when it is not there. */
export async function openAccount(db: Db, owner: Owner, at: number): Promise<AccountId> {
  const id = accountOf(owner)
  await openQuery(db).execute({ id, kind: owner.kind, at })
  return id
}

/** Locks accounts in the order of their ids, before several of them change. */
export async function lockAccounts(db: Db, ids: AccountId[]): Promise<void> {
  const rows = db.select({ id: accounts.id }).from(accounts).where(inArray(accounts.id, ids))
  await forUpdate(rows.$dynamic(), accounts.id)
}

const keepQuery = prepared((db) =>
  db
    .update(accounts)
    .set({
      held: sql`${accounts.held} + ${value('amount')}`,
      paidHeld: sql`${accounts.paidHeld} + ${value('paid')}`,
    })
    .where(
      and(
        byId,
        gte(sql`${accounts.balance} - ${accounts.held}`, value('amount')),
        gte(sql`${accounts.balance} - ${accounts.free} - ${accounts.paidHeld}`, value('paid')),
      ),
    )
    .prepare(),
)

/** What a hold keeps back: `paid` is the part that free credits may not pay, all of it or none. */
export interface Kept {
  amount: NanoUsd
  paid: NanoUsd
}

/** Keeps an amount back. False when not so much is available; then nothing has changed. */
export async function keepBack(db: Db, id: AccountId, kept: Kept): Promise<boolean> {
  return changedBy(await keepQuery(db).execute({ id, ...kept })) === 1
}

const giveQuery = prepared((db) =>
  db
    .update(accounts)
    .set({
      held: sql`${accounts.held} - ${value('amount')}`,
      paidHeld: sql`${accounts.paidHeld} - ${value('paid')}`,
    })
    .where(and(byId, gte(accounts.held, sql.placeholder('amount'))))
    .prepare(),
)

/** Gives back what was kept. False when so much was not held. */
export async function giveBack(db: Db, id: AccountId, kept: Kept): Promise<boolean> {
  return changedBy(await giveQuery(db).execute({ id, ...kept })) === 1
}

/** Free credits go first; of the house's own accounts exactly `freeMax` is free. */
const freeTaken = sql`case
  when ${accounts.kind} = 'house' or ${value('freeMax')} < ${accounts.free} then ${value('freeMax')}
  else ${accounts.free} end`
const paidLeft = sql`(${accounts.balance} - ${value('amount')} - ${accounts.free} + ${freeTaken})`

const debitQuery = prepared((db) =>
  db
    .update(accounts)
    .set({
      balance: sql`${accounts.balance} - ${value('amount')}`,
      held: sql`${accounts.held} - ${value('kept')}`,
      paidHeld: sql`${accounts.paidHeld} - ${value('keptPaid')}`,
      free: sql`${accounts.free} - ${freeTaken}`,
      lastFree: freeTaken,
      earned: sql`case
        when ${accounts.kind} = 'house' or ${accounts.earned} <= ${paidLeft} then ${accounts.earned}
        else ${paidLeft} end`,
      entries: sql`${accounts.entries} + 1`,
    })
    .where(
      and(
        byId,
        gte(accounts.held, sql.placeholder('kept')),
        or(
          isOfHouse,
          gte(
            sql`${accounts.balance} - ${value('amount')}`,
            sql`${accounts.held} - ${value('kept')}`,
          ),
        ),
      ),
    )
    .returning(mark)
    .prepare(),
)

/**
 * Takes `amount`, and ends the hold `kept` that stood for it. Free credits go first, at most
 * `freeMax`; then bought ones, then earned ones. Undefined when not so much is available.
 */
export async function debit(
  db: Db,
  id: AccountId,
  change: { amount: NanoUsd; freeMax: NanoUsd; kept: Kept },
): Promise<Mark | undefined> {
  const { amount, freeMax, kept } = change
  const values = { id, amount, freeMax, kept: kept.amount, keptPaid: kept.paid }
  const [after] = await debitQuery(db).execute(values)
  return after
}

const creditQuery = prepared((db) =>
  db
    .update(accounts)
    .set({
      balance: sql`${accounts.balance} + ${value('amount')}`,
      free: sql`${accounts.free} + ${value('free')}`,
      earned: sql`${accounts.earned} + ${value('earned')}`,
      entries: sql`${accounts.entries} + 1`,
    })
    .where(byId)
    .returning(mark)
    .prepare(),
)

/** Adds `amount`, `free` and `earned` being parts of it. Undefined: there is no such account. */
export async function credit(
  db: Db,
  id: AccountId,
  change: { amount: NanoUsd; free: NanoUsd; earned: NanoUsd },
): Promise<Mark | undefined> {
  const earned = isHouse(id) ? zero : change.earned
  const [after] = await creditQuery(db).execute({ id, ...change, earned })
  return after
}

/** What may still be spent or held. */
export function availableOf(account: Balance | undefined, funds: 'any' | 'paid'): NanoUsd {
  if (!account) return zero
  const { balance, held, free, paidHeld } = account
  const all = balance - held
  const paid = balance - free - paidHeld
  return nano(funds === 'paid' && paid < all ? paid : all)
}
