import { and, eq, lt, sql } from 'drizzle-orm'

import { enqueue } from '../../../jobs/jobs.ts'
import type { AppContext } from '../../../kernel/context.ts'
import type { PagePosition } from '../../../kernel/cursor.ts'
import type { Db } from '../../../kernel/db/engine.ts'
import { countRows, listNewest } from '../../../kernel/db/query.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { idPattern, newId } from '../../../kernel/ids.ts'
import { deliveriesWaitingMax, listPageMax } from '../../../kernel/limits.ts'
import { zero } from '../../../kernel/money.ts'
import { day, hour, iso } from '../../../kernel/time.ts'
import { listNotesAfter, type Note } from '../../../people/notifications/notifications.ts'
import { presentNote } from '../notes/present.ts'
import { advance, type Hook, listHooksBehind } from './hooks.ts'
import { deliveries, hooks } from './tables.ts'

export type Delivery = typeof deliveries.$inferSelect

const hooksPerRun = 100

/** Enqueues the notes written since the last run for their hooks. */
export async function enqueueDeliveries(ctx: AppContext): Promise<void> {
  for (const { hook, latest } of await listHooksBehind(ctx, hooksPerRun)) {
    const notes = await listNotesAfter(ctx, hook.agent, hook.seen, listPageMax)
    // The newest notes may have been deleted meanwhile.
    const last = notes.at(-1)?.number ?? latest
    await ctx.db.tx((db) => enqueueForHook(ctx, db, hook, notes, last))
  }
  ctx.jobs.wake()
}

async function enqueueForHook(ctx: AppContext, db: Db, hook: Hook, notes: Note[], last: number) {
  if (!(await advance(db, hook, last))) return
  const selected = notes.filter(({ kind }) => hook.kinds === null || hook.kinds.includes(kind))
  let quota = deliveriesWaitingMax - (await countWaiting(db, hook.id))
  for (const note of selected) {
    const delivery = await insertDelivery(ctx, db, hook, note, quota > 0)
    if (quota > 0) await enqueueDelivery(ctx, db, delivery)
    quota -= 1
  }
}

const countWaiting = (db: Db, hook: string): Promise<number> =>
  // A literal, as in the partial index.
  countRows(db, deliveries, and(eq(deliveries.hook, hook), sql`${deliveries.state} = 'waiting'`))

/** Inserts a delivery. Past the quota it has failed already and can be redelivered by hand. */
async function insertDelivery(ctx: AppContext, db: Db, hook: Hook, note: Note, hasQuota: boolean) {
  const at = ctx.clock.now()
  const message = { type: note.kind, timestamp: iso(note.at), data: presentNote(note) }
  const [delivery] = await db
    .insert(deliveries)
    .values({
      id: newId(),
      hook: hook.id,
      note: note.id,
      kind: note.kind,
      body: JSON.stringify(message),
      created: at,
      ...(hasQuota
        ? { state: 'waiting', next: at }
        : { state: 'failed', problem: 'too_many_waiting', ended: at }),
    })
    .returning()
  if (!delivery) throw new Error('inserting the delivery returned no row')
  return delivery
}

const enqueueDelivery = (ctx: AppContext, db: Db, { id, hook }: Delivery) =>
  enqueue(ctx, db, {
    kind: 'hook',
    queue: 'hooks',
    owner: `hook:${hook}`,
    slot: `hook:${id}`,
    input: { delivery: id },
    price: zero,
    // The last attempt starts within 25 hours.
    ms: 30 * hour,
  })

/** Lists the deliveries of a hook, newest first. */
export const list = (
  { db }: AppContext,
  hook: string,
  limit: number,
  after?: PagePosition,
): Promise<Delivery[]> => listNewest(db.read, deliveries, eq(deliveries.hook, hook), limit, after)

/** Restarts the attempts of a delivery. Throws `not_found`, and `busy` while it is waiting. */
export async function redeliver(ctx: AppContext, hook: Hook, id: string): Promise<Delivery> {
  const isOwn = and(eq(deliveries.id, id), eq(deliveries.hook, hook.id))
  const restart = { state: 'waiting', tries: 0, next: ctx.clock.now(), ended: null } as const
  const delivery = await ctx.db.tx(async (db) => {
    const [row] = idPattern.test(id)
      ? await db.update(deliveries).set(restart).where(isOwn).returning()
      : []
    const see = `GET /me/hooks/${hook.id}/deliveries lists its deliveries.`
    if (!row) throw new ApiError('not_found', { what: 'delivery', see })
    await enqueueDelivery(ctx, db, row)
    return row
  })
  ctx.jobs.wake()
  return delivery
}

/** Returns a delivery with its hook; undefined if either was deleted. */
export async function findDelivery(
  { db }: AppContext,
  id: string,
): Promise<{ delivery: Delivery; hook: Hook } | undefined> {
  const [found] = await db.read
    .select({ delivery: deliveries, hook: hooks })
    .from(deliveries)
    .innerJoin(hooks, eq(hooks.id, deliveries.hook))
    .where(eq(deliveries.id, id))
  return found
}

export async function recordAttempt(
  db: Db,
  id: string,
  outcome: Pick<Delivery, 'state' | 'tries' | 'status' | 'problem' | 'next' | 'ended'>,
): Promise<void> {
  await db.update(deliveries).set(outcome).where(eq(deliveries.id, id))
}

/** Fails a waiting delivery whose job ended without an attempt. */
export async function recordFailure({ clock }: AppContext, db: Db, id: string, problem: string) {
  await db
    .update(deliveries)
    .set({ state: 'failed', problem, next: null, ended: clock.now() })
    .where(and(eq(deliveries.id, id), eq(deliveries.state, 'waiting')))
}

const retentionMs = 30 * day

/** Deletes deliveries that ended more than 30 days ago. */
export async function deleteOldDeliveries({ db, clock }: AppContext): Promise<void> {
  await db.tx((tx) => tx.delete(deliveries).where(lt(deliveries.ended, clock.now() - retentionMs)))
}
