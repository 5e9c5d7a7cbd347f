import { and, desc, eq, lt, sql } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import type { After } from '../../../core/cursor.ts'
import { idPattern, newId } from '../../../core/ids.ts'
import { zero } from '../../../core/money.ts'
import { day, hour, iso } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import { countRows, isAfterCursor } from '../../../db/query.ts'
import { ApiError } from '../../../errors.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { deliveriesWaitingMax, listPageMax } from '../../../limits.ts'
import { listNotesAfter, type Note } from '../../notifications/notifications.ts'
import { presentNote } from '../notes/present.ts'
import { type Hook, listHooksBehind, advance } from './hooks.ts'
import { deliveries, hooks } from './tables.ts'

export type Delivery = typeof deliveries.$inferSelect

const hooksAtOnce = 100

/** Puts what agents were told since the last look on its way to their hooks. */
export async function enqueueDeliveries(ctx: AppContext): Promise<void> {
  for (const { hook, told } of await listHooksBehind(ctx, hooksAtOnce)) {
    const news = await listNotesAfter(ctx, hook.agent, hook.seen, listPageMax)
    // What it was told may be forgotten by now.
    const last = news.at(-1)?.number ?? told
    await ctx.db.tx((db) => enqueueForHook(ctx, db, hook, news, last))
  }
  ctx.jobs.wake()
}

async function enqueueForHook(ctx: AppContext, db: Db, hook: Hook, news: Note[], last: number) {
  if (!(await advance(db, hook, last))) return
  const wanted = news.filter(({ kind }) => hook.kinds === null || hook.kinds.includes(kind))
  let room = deliveriesWaitingMax - (await countWaiting(db, hook.id))
  for (const note of wanted) {
    const delivery = await insertDelivery(ctx, db, hook, note, room > 0)
    if (room > 0) await enqueueDelivery(ctx, db, delivery)
    room -= 1
  }
}

const countWaiting = (db: Db, hook: string): Promise<number> =>
  countRows(db, deliveries, and(eq(deliveries.hook, hook), sql`${deliveries.state} = 'waiting'`))

/** What has no room among those that wait is kept as failed: it can be sent again by hand. */
async function insertDelivery(ctx: AppContext, db: Db, hook: Hook, note: Note, hasRoom: boolean) {
  const at = ctx.clock.now()
  const data = presentNote(note)
  const message = { type: note.kind, timestamp: iso(note.at), data }
  const [made] = await db
    .insert(deliveries)
    .values({
      id: newId(),
      hook: hook.id,
      note: note.id,
      kind: note.kind,
      body: JSON.stringify(message),
      created: at,
      ...(hasRoom
        ? { state: 'waiting', next: at }
        : { state: 'failed', problem: 'too_many_waiting', ended: at }),
    })
    .returning()
  if (!made) throw new Error('the delivery was not kept')
  return made
}

/** Longer than all tries take: the last comes after a day. */
const allMs = 30 * hour

const enqueueDelivery = (ctx: AppContext, db: Db, { id, hook }: Delivery) =>
  enqueue(ctx, db, {
    kind: 'hook',
    queue: 'hooks',
    owner: `hook:${hook}`,
    slot: `hook:${id}`,
    input: { delivery: id },
    price: zero,
    ms: allMs,
  })

/** A hook's deliveries, newest first, going on after `after`. */
export const list = (
  { db }: AppContext,
  hook: string,
  limit: number,
  after?: After,
): Promise<Delivery[]> =>
  db.read
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.hook, hook), isAfterCursor(deliveries, after)))
    .orderBy(desc(deliveries.created), desc(deliveries.id))
    .limit(limit)

/**
 * Sends a delivery again, with all its tries, under the id it had. Refuses not_found, and busy
 * while it is still on its way.
 */
export async function redeliver(ctx: AppContext, hook: Hook, id: string): Promise<Delivery> {
  const mine = and(eq(deliveries.id, id), eq(deliveries.hook, hook.id))
  const again = { state: 'waiting', tries: 0, next: ctx.clock.now(), ended: null } as const
  const sent = await ctx.db.tx(async (db) => {
    const [row] = idPattern.test(id)
      ? await db.update(deliveries).set(again).where(mine).returning()
      : []
    const see = `GET /me/hooks/${hook.id}/deliveries lists them.`
    if (!row) throw new ApiError('not_found', { what: 'delivery', see })
    await enqueueDelivery(ctx, db, row)
    return row
  })
  ctx.jobs.wake()
  return sent
}

/** A delivery with where it goes; undefined once either is gone. */
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

/** How a try ended, inside a transaction. */
export async function recordAttempt(
  db: Db,
  id: string,
  tried: Pick<Delivery, 'state' | 'tries' | 'status' | 'problem' | 'next' | 'ended'>,
): Promise<void> {
  await db.update(deliveries).set(tried).where(eq(deliveries.id, id))
}

/** A delivery whose job ended without it, inside a transaction. */
export async function recordFailure({ clock }: AppContext, db: Db, id: string, problem: string) {
  await db
    .update(deliveries)
    .set({ state: 'failed', problem, next: null, ended: clock.now() })
    .where(and(eq(deliveries.id, id), eq(deliveries.state, 'waiting')))
}

const keptMs = 30 * day

/** Forgets deliveries that ended more than 30 days ago. */
export async function deleteOldDeliveries({ db, clock }: AppContext): Promise<void> {
  await db.tx((tx) => tx.delete(deliveries).where(lt(deliveries.ended, clock.now() - keptMs)))
}
