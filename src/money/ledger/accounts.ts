import { eq, inArray } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate } from '../../kernel/db/query.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type AccountId, accounts, type OwnerKind, serviceKind } from './tables.ts'

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
  'balance' | 'free' | 'earned' | 'held' | 'paidHeld' | 'lastFree'
>

/** Returns the amounts of an account; undefined for an unknown one. */
export async function findBalance(db: Db, id: AccountId): Promise<Balance | undefined> {
  const [found] = await db.select().from(accounts).where(eq(accounts.id, id))
  return found
}

/** Opens accounts that do not exist. */
export const openAccounts = async (
  db: Db,
  rows: Pick<typeof accounts.$inferSelect, 'id' | 'kind' | 'at'>[],
): Promise<unknown> => db.insert(accounts).values(rows).onConflictDoNothing()

/** Locks accounts in the order of their ids, before several of them change. */
export async function lockAccounts(db: Db, ids: AccountId[]): Promise<void> {
  const rows = db.select({ id: accounts.id }).from(accounts).where(inArray(accounts.id, ids))
  await forUpdate(rows.$dynamic(), accounts.id)
}

/** Returns what may be spent or held; `paid` leaves free credits out. */
export function availableOf(account: Balance | undefined, funds: 'any' | 'paid'): NanoUsd {
  if (!account) return zero
  const { balance, held, free, paidHeld } = account
  const all = balance - held
  const paid = balance - free - paidHeld
  return nano(funds === 'paid' && paid < all ? paid : all)
}
