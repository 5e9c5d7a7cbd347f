import { and, eq, isNull, lt } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { openOf } from '../../jobs/jobs.ts'
import { agentAccount } from '../../ledger/accounts.ts'
import { deletedAppKeptMs } from '../../limits.ts'
import type { Agent } from '../agents/agents.ts'
import { releaseBytes, lockAgent } from '../agents/storage-quota.ts'
import { type App, find, theOwn, there } from './apps.ts'
import { apps, versions } from './tables.ts'

/** Ends what is being made for an agent's apps, or for one of them. Nothing of it is charged. */
export async function stopWork(ctx: AppContext, maker: string, app?: string): Promise<void> {
  const owner = agentAccount(maker)
  for (const { id } of await openOf(ctx, owner, app)) await ctx.jobs.cancel(id)
}

/** Deletes an app: its link is gone at once, its bytes 30 days later. */
export async function remove(ctx: AppContext, app: App): Promise<void> {
  await ctx.db.tx((db) =>
    db
      .update(apps)
      .set({ closed: ctx.clock.now(), listed: 'off' })
      .where(and(eq(apps.id, app.id), isNull(apps.closed))),
  )
  await stopWork(ctx, app.maker, app.id)
}

/**
 * Brings back an own app deleted less than 30 days ago; `also` is done in the same transaction.
 * Refuses not_found, taken_down, account_closed.
 */
export async function undelete(
  ctx: AppContext,
  maker: Agent,
  id: string,
  also: (db: Db) => Promise<unknown>,
): Promise<App> {
  const app = await find(ctx, id)
  const isOwn = app?.maker === maker.id
  if (isOwn) there({ ...app, closed: null })
  const since = ctx.clock.now() - deletedAppKeptMs
  if (!isOwn || app.closed === null || app.closed < since) {
    throw new ApiError('not_found', { what: 'deleted app' })
  }
  await ctx.db.tx(async (db) => {
    // Its maker's account may be closing, and all its apps with it.
    await lockAgent(ctx, db, maker.id)
    await db.update(apps).set({ closed: null }).where(eq(apps.id, id))
    await also(db)
  })
  return theOwn(ctx, maker, id)
}

const purgeBatch = 100

type Gone = Pick<App, 'id' | 'maker'>
/** The end of one app, inside the transaction: what stands on apps removes its own rows there. */
type End = (db: Db, app: Gone) => Promise<void>

/** Removes the rows of apps deleted more than 30 days ago, a bounded number at a time. */
export async function purge(ctx: AppContext, alsoEnd: End): Promise<number> {
  const before = ctx.clock.now() - deletedAppKeptMs
  const old = await ctx.db.read
    .select({ id: apps.id, maker: apps.maker })
    .from(apps)
    .where(lt(apps.closed, before))
    .limit(purgeBatch)
  for (const app of old) {
    await ctx.db.tx(async (db) => {
      // Its maker may have brought it back meanwhile.
      const isOld = and(eq(apps.id, app.id), lt(apps.closed, before))
      const gone = await db.delete(apps).where(isOld).returning({ id: apps.id })
      if (gone.length === 0) return
      await alsoEnd(db, app)
      await removeVersions(db, app)
    })
  }
  return old.length
}

async function removeVersions(db: Db, { id, maker }: Gone): Promise<void> {
  const gone = await db
    .delete(versions)
    .where(eq(versions.app, id))
    .returning({ bytes: versions.htmlBytes })
  const bytes = gone.reduce((sum, row) => sum + row.bytes, 0)
  await releaseBytes(db, maker, bytes)
}
