import { expect } from 'bun:test'

import { openLog } from '../core/log.ts'
import { fromCredits, type NanoUsd } from '../core/money.ts'
import type { Engine } from '../db/engine.ts'
import { ApiError } from '../errors.ts'
import { accountOf, type Owner } from '../ledger/accounts.ts'
import type { Hold } from '../ledger/holds.ts'
import type { HoldRequest } from '../ledger/holds.ts'
import { grantTo, openHold, releaseHold, settleHold } from '../ledger/ledger.ts'
import type { PaymentContext } from '../ledger/paid-work.ts'
import type { AccountId } from '../ledger/tables.ts'
import { caught } from './caught.ts'
import { freshEngine } from './engine.ts'

/** The ledger's own house for tests: a database of its own, a clock to turn, a log to read. */
export interface TestBooks extends PaymentContext {
  clock: { now(): number; turn(ms: number): void }
  lines: string[]
}

export const ann: Owner = { kind: 'agent', owner: 'ann' }
export const ben: Owner = { kind: 'agent', owner: 'ben' }
export const cy: Owner = { kind: 'agent', owner: 'cy' }

/** Ten seconds before midnight, UTC. */
const start = Date.parse('2026-11-21T23:59:50Z')

export async function openBooks(db?: Engine): Promise<TestBooks> {
  let now = start
  const clock = { now: () => now, turn: (ms: number) => void (now += ms) }
  const lines: string[] = []
  const log = openLog(clock, (line) => void lines.push(line))
  return { db: db ?? (await freshEngine()), clock, log, lines }
}

/** Gives an owner an account with so many credits, start credits unless `free` is false. */
export async function fund(
  books: PaymentContext,
  owner: Owner,
  credits: number,
  free = true,
): Promise<AccountId> {
  const ref = `fund:${owner.owner}:${free}`
  await grantTo(books, owner, { amount: fromCredits(credits), kind: 'grant', ref, free })
  return accountOf(owner)
}

/** An ask for so many credits of ann's, and what differs from it. */
export const ask = (ref: string, credits: number, more: Partial<HoldRequest> = {}): HoldRequest => ({
  account: accountOf(ann),
  amount: fromCredits(credits),
  ref,
  kind: 'build',
  ms: 60_000,
  ...more,
})

/** Holds in a transaction of its own. */
export const holdNow = (books: PaymentContext, wanted: HoldRequest) => books.db.tx((db) => openHold(books, db, wanted))

/** Settles in a transaction of its own. */
export const settleNow = (books: PaymentContext, made: Hold, charge: NanoUsd) =>
  books.db.tx((db) => settleHold(books, db, made, charge))

/** Releases in a transaction of its own. */
export const releaseNow = (books: PaymentContext, made: Hold) => books.db.tx((db) => releaseHold(db, made))

/** Checks a refusal by its name and some of its facts. */
export async function refused(
  work: Promise<unknown>,
  name: string,
  facts: Record<string, unknown>,
): Promise<void> {
  const error = await caught(work)
  if (!(error instanceof ApiError)) throw error
  expect({ refusal: error.errorName, ...error.details[0] }).toMatchObject({
    refusal: name,
    ...facts,
  })
}
