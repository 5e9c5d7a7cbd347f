import { and, eq, isNull } from 'drizzle-orm'

import type { Db, Engine } from '../db/engine.ts'
import { changedRowCount } from '../db/query.ts'
import type { Clock } from '../time.ts'
import { alerts } from './tables.ts'

export type StoredAlert = typeof alerts.$inferSelect
type Timed = { clock: Clock }

export const listAlerts = ({ db }: { db: Engine }): Promise<StoredAlert[]> =>
  db.read.select().from(alerts).orderBy(alerts.name)

/** Records that a condition holds: a new alert, or another sight of the one that is open. */
export async function raise({ clock }: Timed, db: Db, name: string, text: string): Promise<void> {
  const at = clock.now()
  await db
    .insert(alerts)
    .values({ name, text, since: at, seen: at, resolved: null, isSent: false, tries: 0 })
    .onConflictDoUpdate({ target: alerts.name, set: { seen: at } })
}

/** Reopens an alert whose end was not sent yet. */
export async function reopen({ clock }: Timed, db: Db, name: string): Promise<void> {
  const change = { resolved: null, seen: clock.now(), isSent: true, tries: 0, problem: null }
  await db.update(alerts).set(change).where(eq(alerts.name, name))
}

/** Records that a condition no longer holds. */
export async function resolve({ clock }: Timed, db: Db, name: string): Promise<void> {
  const change = { resolved: clock.now(), isSent: false, tries: 0, problem: null }
  await db.update(alerts).set(change).where(eq(alerts.name, name))
}

/** Takes the next attempt to send an alert; false where another process took it. */
export async function takeAttempt(db: Db, alert: StoredAlert): Promise<boolean> {
  const isSame = and(
    eq(alerts.name, alert.name),
    eq(alerts.isSent, false),
    eq(alerts.tries, alert.tries),
  )
  const taken = await db
    .update(alerts)
    .set({ tries: alert.tries + 1 })
    .where(isSame)
  return changedRowCount(taken) === 1
}

/**
 * Records the result of an attempt, unless another process has ended or reopened the alert since.
 * An alert whose end was sent is deleted.
 */
export async function recordAttempt(
  db: Db,
  { name, resolved }: StoredAlert,
  { isSent, problem }: { isSent: boolean; problem: string | null },
): Promise<void> {
  if (isSent && resolved !== null) await forget(db, name)
  else {
    const isSame = resolved === null ? isNull(alerts.resolved) : eq(alerts.resolved, resolved)
    await db
      .update(alerts)
      .set({ isSent, problem })
      .where(and(eq(alerts.name, name), isSame))
  }
}

export async function forget(db: Db, name: string): Promise<void> {
  await db.delete(alerts).where(eq(alerts.name, name))
}
