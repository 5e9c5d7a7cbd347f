import { and, count, eq, gte, lt, sql } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { forUpdate } from '../kernel/db/query.ts'
import { sign } from '../kernel/ids.ts'
import { day, lastDays, utcDay } from '../kernel/time.ts'
import { sentence } from '../kernel/words/message.ts'
import { notify } from '../people/notifications/notifications.ts'
import { apps, opens } from './tables.ts'

/** The weight of an open halves after this time. */
const halfLifeMs = 3 * day
/** Resolution of the stored `heat`, an integer. */
const heatUnitsPerHalving = 1_000_000

const notifiedOpens = 100

const retentionDays = 40

/** Counts one open per app, UTC day and address. Only a keyed hash of the address is stored. */
export const recordOpen = (ctx: AppContext, app: string, address: string): void =>
  ctx.state.pendingOpens.add({ app, at: ctx.clock.now(), address })

/** Stores the recorded opens and adds the new ones to the apps' counts, in one transaction. */
export async function flushOpens(ctx: AppContext): Promise<void> {
  const pending = ctx.state.pendingOpens.takeAll()
  if (pending.length === 0) return
  await ctx.db.tx(async (db) => {
    const fresh = new Map<string, number>()
    for (const { app, at, address } of pending) {
      const visitor = sign(ctx.secret, `open ${address}`).slice(0, 16)
      const open = { app, day: utcDay(at), visitor }
      const isFresh = await db.insert(opens).values(open).onConflictDoNothing().returning()
      if (isFresh.length > 0) fresh.set(app, (fresh.get(app) ?? 0) + 1)
    }
    // Apps are updated in one order everywhere, so that two processes cannot deadlock.
    for (const [app, count] of [...fresh].sort()) await countOpens(ctx, db, app, count)
  })
}

async function countOpens(ctx: AppContext, db: Db, id: string, count: number): Promise<void> {
  const ofApp = db.select({ heat: apps.heat }).from(apps).where(eq(apps.id, id)).$dynamic()
  const [row] = await forUpdate(ofApp, apps.id)
  const heat = addHeat(row?.heat ?? 0, count, ctx.clock.now())
  const [app] = await db
    .update(apps)
    .set({ opens: sql`${apps.opens} + ${count}`, heat })
    .where(eq(apps.id, id))
    .returning()
  if (app && app.opens >= notifiedOpens && app.opens - count < notifiedOpens) {
    const text = sentence('“{title}” was opened {count} times.', {
      title: app.title,
      count: notifiedOpens,
    })
    await notify(ctx, db, { to: app.maker, kind: 'app.opened_100', item: id, text })
  }
}

/**
 * Heat is the logarithm of the sum of 2^(time / half-life) over all opens. All heats decay at the
 * same rate, so their order stays correct without updates.
 */
function addHeat(heat: number, count: number, at: number): number {
  const now = at / halfLifeMs
  const before = heat / heatUnitsPerHalving
  const base = Math.max(before, now)
  const sum = (heat === 0 ? 0 : 2 ** (before - base)) + count * 2 ** (now - base)
  return Math.round((base + Math.log2(sum)) * heatUnitsPerHalving)
}

/** Returns the opens of an app on each of the last days, oldest first. */
export async function listOpensByDay(
  { db, clock }: AppContext,
  app: string,
  days: number,
): Promise<{ day: string; opens: number }[]> {
  const all = lastDays(clock, days)
  const rows = await db.read
    .select({ day: opens.day, opens: count() })
    .from(opens)
    .where(and(eq(opens.app, app), gte(opens.day, all[0] ?? '')))
    .groupBy(opens.day)
  const counted = new Map(rows.map((row) => [row.day, row.opens]))
  return all.map((on) => ({ day: on, opens: counted.get(on) ?? 0 }))
}

/** Deletes open records older than 40 days. The counts stay. */
export async function deleteOldOpens(ctx: AppContext): Promise<void> {
  const before = utcDay(ctx.clock.now() - retentionDays * day)
  await ctx.db.tx((db) => db.delete(opens).where(lt(opens.day, before)))
}
