import { eq } from 'drizzle-orm'

import type { Spender } from '../../gateway/authentication.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate } from '../../kernel/db/query.ts'
import { nano, type NanoUsd } from '../../kernel/money.ts'
import { appTurns } from './tables.ts'

/** Calls after which an average is shown, and whose weight it keeps: newer ones count more. */
const turnsMin = 5
const turnsMax = 100

/** Returns a function that measures what a call of a chat model by an app costs, without margin. */
export const measureTurn =
  ({ state }: AppContext, app: string, { margin }: Spender) =>
  (charge: NanoUsd): void =>
    state.pendingTurns.add(app, (charge * 100n) / BigInt(100 + (margin?.percent ?? 0)))

/** Returns the average cost of a turn of an app; undefined before enough of them. */
export async function findTurnCost({ db }: AppContext, app: string): Promise<NanoUsd | undefined> {
  const [row] = await db.read.select().from(appTurns).where(eq(appTurns.app, app))
  return row && row.turns >= turnsMin ? row.cost : undefined
}

/** Adds the measured turns of this process to the averages. */
export async function flushTurns(ctx: AppContext): Promise<void> {
  const pending = ctx.state.pendingTurns.takeAll()
  // In one order everywhere, so that two processes cannot deadlock.
  for (const [app, { turns, sum }] of [...pending].sort()) {
    await ctx.db.tx((db) => addTurns(db, app, turns, sum))
  }
}

async function addTurns(db: Db, app: string, turns: number, sum: bigint): Promise<void> {
  const ofApp = db.select().from(appTurns).where(eq(appTurns.app, app)).$dynamic()
  const [known] = await forUpdate(ofApp, appTurns.app)
  const before = known ? known.cost * BigInt(known.turns) : 0n
  const count = (known?.turns ?? 0) + turns
  const row = { cost: nano((before + sum) / BigInt(count)), turns: Math.min(count, turnsMax) }
  await db
    .insert(appTurns)
    .values({ app, ...row })
    .onConflictDoUpdate({ target: appTurns.app, set: row })
}

/** Forgets the turns of an app that is removed. */
export const removeTurns = async (db: Db, app: string): Promise<unknown> =>
  db.delete(appTurns).where(eq(appTurns.app, app))
