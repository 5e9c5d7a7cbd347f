import { and, eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { thisProcess } from '../../kernel/db/replicas/presence.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import type { Budget, Cap } from './caps.ts'
import { invariant } from './invariant.ts'
import { type AccountId, holds, type PercentShare, type Price } from './tables.ts'

export type Hold = typeof holds.$inferSelect

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Observes every charge. server/http/background-work.ts registers it. */
    onCharge?: ChargeObserver
  }
}

/** Runs in the transaction of every charge, with the ended hold and the balance that is left. */
export type ChargeObserver = (db: Db, charged: Hold, left: NanoUsd) => Promise<unknown> | undefined

/** Writes further rows of a settlement, in its transaction. */
export type SettlementRecorder = (db: Db, ended: Hold) => Promise<unknown>

export interface HoldRequest {
  account: AccountId
  amount: NanoUsd
  /** The unique name of the purchase. A released ref may be held again. */
  ref: string
  /** The kind of work: build, chat, remix and so on. */
  kind: string
  item?: string | undefined
  /** `paid`: free credits cannot pay for it. The default, `any`, spends free credits first. */
  funds?: 'any' | 'paid' | undefined
  /** Receivers of a share, in percent of the charge. The operator's income gets the remainder. */
  shares?: PercentShare[] | undefined
  /** The price row that the maximum cost was computed with. */
  price?: Price | undefined
  cap?: Cap | undefined
  /** A counter that the key shares with others. It needs a `cap`. */
  group?: string | undefined
  /** The counter of an agent that pays for others. It needs a `cap`. */
  payer?: string | undefined
  /** Limits over several days, and limits of the group. */
  budgets?: Budget[] | undefined
  /** The deadline releases an open hold (the default), or settles all of it. */
  onExpiry?: 'release' | 'settle' | undefined
  /** The API key or balance whose running calls PostgreSQL limits among all processes. */
  caller?: { id: string; max: number } | undefined
  /** The job that does the work. This hold survives its process (`closeJobHolds`). */
  job?: string | undefined
  /** The longest time that the work may take, in milliseconds. */
  ms: number
}

/** Creates a hold from its terms, without writing it. */
export function createHold(at: number, request: HoldRequest): Hold {
  const { amount, shares = [], cap } = request
  const percent = shares.reduce((sum, part) => sum + part.percent, 0)
  invariant(amount >= 0n, 'a hold is not negative')
  invariant(percent <= 100 && shares.every((part) => part.percent >= 0), 'shares are 0 to 100 %')
  return {
    ref: request.ref,
    id: newOrderedId(at),
    account: request.account,
    kind: request.kind,
    item: request.item ?? null,
    amount,
    charged: zero,
    state: 'held',
    funds: request.funds ?? 'any',
    parts: shares,
    price: request.price ?? null,
    capKey: cap ? cap.key : null,
    capDay: cap ? utcDay(at) : null,
    capGroup: (cap && request.group) ?? null,
    capPayer: (cap && request.payer) ?? null,
    onExpiry: request.onExpiry ?? 'release',
    deadline: at + request.ms,
    process: thisProcess,
    job: request.job ?? null,
    at,
    caller: request.caller?.id ?? null,
  }
}

/** The terms that two requests with one ref must agree on. */
export const termsOf = ({ account, amount, kind, item, parts }: Hold): string =>
  JSON.stringify([account, String(amount), kind, item, parts])

/** Returns a charge within 0 <= charge <= hold. */
export const clampCharge = ({ amount }: Hold, charge: NanoUsd): NanoUsd =>
  charge < 0n ? zero : charge > amount ? amount : charge

/** Makes the deadline charge an open hold: its work has begun, and the upstream bills it. */
export async function settleOnExpiry(db: Db, { ref, id }: Hold): Promise<void> {
  await db
    .update(holds)
    .set({ onExpiry: 'settle' })
    .where(and(eq(holds.ref, ref), eq(holds.id, id), eq(holds.state, 'held')))
}

/** Returns a hold as stored; undefined for one that was never committed. */
export async function findHold(
  db: Db,
  { ref, id }: Pick<Hold, 'ref' | 'id'>,
): Promise<Hold | undefined> {
  const [hold] = await db
    .select()
    .from(holds)
    .where(and(eq(holds.ref, ref), eq(holds.id, id)))
  return hold
}
