import { and, eq, gte, inArray, or, type SQL, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate, prepared } from '../../kernel/db/query.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type AccountId, accounts, isService, type OwnerKind, serviceKind } from './tables.ts'

/** The owner of an account: an agent, a person, a gateway balance, or the service. */
export interface Owner {
  kind: OwnerKind
  owner: string
}

export const accountOf = ({ kind, owner }: Owner): AccountId => `${kind}:${owner}`

export const agentOwner = (id: string) => ({ kind: 'agent', owner: id }) as const

export const agentAccount = (id: string): AccountId => accountOf(agentOwner(id))

/** Returns the agent id of an account; undefined for other owners. */
export const agentOf = (account: string): string | undefined =>
  account.startsWith('agent:') ? account.slice('agent:'.length) : undefined

/** The service's accounts: `issue` creates credits, `income` receives the operator's revenue. */
export const serviceAccounts = {
  issue: `${serviceKind}:issue`,
  income: `${serviceKind}:income`,
} as const

const servicePrefix = `${serviceKind}:`
export const isServiceAccount = (account: AccountId): boolean => account.startsWith(servicePrefix)

export type Balance = Pick<
  typeof accounts.$inferSelect,
  'balance' | 'free' | 'earned' | 'held' | 'paidHeld'
>

/** An account after a debit or credit, as the entry of that records it. */
export interface AccountSnapshot {
  number: number
  balance: NanoUsd
  free: NanoUsd
  earned: NanoUsd
  lastFree: NanoUsd
}

const value = (name: string) => sql<NanoUsd>`${sql.placeholder(name)}`
const isAccount = eq(accounts.id, sql.placeholder('account'))
const isServiceRow = isService(accounts.kind)
export const snapshotColumns = {
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
    .where(isAccount)
    .prepare(),
)

/** Returns the amounts of an account; undefined for an unknown one. */
export async function findBalance(db: Db, id: AccountId): Promise<Balance | undefined> {
  const [found] = await balanceQuery(db).execute({ account: id })
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

export async function openAccount(db: Db, owner: Owner, at: number): Promise<AccountId> {
  const id = accountOf(owner)
  await openQuery(db).execute({ id, kind: owner.kind, at })
  return id
}

export const openServiceAccount = (db: Db, id: AccountId, at: number): Promise<AccountId> =>
  openAccount(db, { kind: serviceKind, owner: id.slice(servicePrefix.length) }, at)

/** Locks accounts in the order of their ids, before several of them change. */
export async function lockAccounts(db: Db, ids: AccountId[]): Promise<void> {
  const rows = db.select({ id: accounts.id }).from(accounts).where(inArray(accounts.id, ids))
  await forUpdate(rows.$dynamic(), accounts.id)
}

/** A reservation. `heldPaid` is the part that free credits cannot pay: all of it or nothing. */
export interface HeldAmount {
  held: NanoUsd
  heldPaid: NanoUsd
}

/** Reserves `held` of an account. Changes nothing when less is available. */
export const reserve = (db: Db, condition?: SQL) =>
  db
    .update(accounts)
    .set({
      held: sql`${accounts.held} + ${value('held')}`,
      paidHeld: sql`${accounts.paidHeld} + ${value('heldPaid')}`,
    })
    .where(
      and(
        isAccount,
        gte(sql`${accounts.balance} - ${accounts.held}`, value('held')),
        gte(sql`${accounts.balance} - ${accounts.free} - ${accounts.paidHeld}`, value('heldPaid')),
        condition,
      ),
    )

/** Ends a reservation. Changes nothing when the account holds less. */
export const unreserve = (db: Db, condition?: SQL) =>
  db
    .update(accounts)
    .set({
      held: sql`${accounts.held} - ${value('held')}`,
      paidHeld: sql`${accounts.paidHeld} - ${value('heldPaid')}`,
    })
    .where(and(isAccount, gte(accounts.held, sql.placeholder('held')), condition))

/** Free credits are spent first. A debit of a service account has exactly `freeMax` of them. */
const freeTaken = sql`case
  when ${isServiceRow} or ${value('freeMax')} < ${accounts.free} then ${value('freeMax')}
  else ${accounts.free} end`
const paidLeft = sql`(${accounts.balance} - ${value('charged')} - ${accounts.free} + ${freeTaken})`

/**
 * Debits `charged` and ends its reservation `held`. Spends free credits first, at most `freeMax`,
 * then bought ones, then earned ones. Changes nothing when less is available.
 */
export const debit = (db: Db, condition?: SQL) =>
  db
    .update(accounts)
    .set({
      balance: sql`${accounts.balance} - ${value('charged')}`,
      held: sql`${accounts.held} - ${value('held')}`,
      paidHeld: sql`${accounts.paidHeld} - ${value('heldPaid')}`,
      free: sql`${accounts.free} - ${freeTaken}`,
      lastFree: freeTaken,
      earned: sql`case
        when ${isServiceRow} or ${accounts.earned} <= ${paidLeft} then ${accounts.earned}
        else ${paidLeft} end`,
      entries: sql`${accounts.entries} + 1`,
    })
    .where(
      and(
        isAccount,
        gte(accounts.held, sql.placeholder('held')),
        or(
          isServiceRow,
          gte(
            sql`${accounts.balance} - ${value('charged')}`,
            sql`${accounts.held} - ${value('held')}`,
          ),
        ),
        condition,
      ),
    )
    .returning(snapshotColumns)

/** Credits `amount` to an account; `free` and `earned` are parts of it. */
export const credit = (db: Db) =>
  db
    .update(accounts)
    .set({
      balance: sql`${accounts.balance} + ${value('amount')}`,
      free: sql`${accounts.free} + ${value('free')}`,
      earned: sql`${accounts.earned} + ${value('earned')}`,
      entries: sql`${accounts.entries} + 1`,
    })
    .where(isAccount)
    .returning(snapshotColumns)

/** Returns what may be spent or held; `paid` leaves free credits out. */
export function availableOf(account: Balance | undefined, funds: 'any' | 'paid'): NanoUsd {
  if (!account) return zero
  const { balance, held, free, paidHeld } = account
  const all = balance - held
  const paid = balance - free - paidHeld
  return nano(funds === 'paid' && paid < all ? paid : all)
}
