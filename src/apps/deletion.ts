import { and, eq, isNull, lt } from 'drizzle-orm'

import { listOpen } from '../jobs/jobs.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { deletedAppKeptMs } from '../kernel/limits.ts'
import { agentAccount } from '../money/ledger/accounts.ts'
import type { Agent } from '../people/agents/agents.ts'
import { lockAgent, releaseBytes } from '../people/agents/storage-quota.ts'
import { type App, canBeListed, findOwnItem, getOwnApp, requireAvailable } from './apps.ts'
import { appKinds, type Kind } from './kinds.ts'
import { deleteUses } from './libraries/store.ts'
import { reserveName } from './names.ts'
import { quarantineIfBlocked } from './quarantine.ts'
import { forgetOrigin } from './remix/lineage.ts'
import { apps, versions } from './tables.ts'

/** Cancels the open jobs of an agent's apps, or of one app. They are not charged. */
export async function cancelAppJobs(ctx: AppContext, maker: string, app?: string): Promise<void> {
  const owner = agentAccount(maker)
  for (const { id } of await listOpen(ctx, owner, app)) await ctx.jobs.cancel(id)
}

/** Deletes an app: its link stops working at once, its content is deleted after 30 days. */
export async function deleteApp(ctx: AppContext, app: App): Promise<void> {
  await ctx.db.tx((db) =>
    db
      .update(apps)
      .set({ closed: ctx.clock.now(), listed: 'off' })
      .where(and(eq(apps.id, app.id), isNull(apps.closed))),
  )
  await cancelAppJobs(ctx, app.maker, app.id)
}

/** Throws `not_found` after 30 days, `taken_down` and `account_closed`. */
export async function restoreDeletedApp(
  ctx: AppContext,
  maker: Agent,
  id: string,
  of: readonly Kind[] = appKinds,
): Promise<App> {
  const app = await findOwnItem(ctx, maker, id, of)
  if (app) requireAvailable({ ...app, closed: null })
  const since = ctx.clock.now() - deletedAppKeptMs
  if (!app || app.closed === null || app.closed < since) {
    throw new ApiError('not_found', { what: `deleted ${of[0]}` })
  }
  await ctx.db.tx(async (db) => {
    // The account of the maker may be closing, with all its apps.
    await lockAgent(ctx, db, maker.id)
    await reserveName(ctx, db, maker.id, app.name)
    await db.update(apps).set({ closed: null }).where(eq(apps.id, id))
    await quarantineIfBlocked(ctx, db, id)
  })
  return getOwnApp(ctx, maker, id, of)
}

const purgeBatch = 100

type DeletedApp = Pick<App, 'id' | 'maker'>
type DeleteDependents = (db: Db, app: DeletedApp) => Promise<void>

/** Deletes the rows of apps that were deleted more than 30 days ago, in batches. */
export async function purgeDeleted(
  ctx: AppContext,
  deleteDependents: DeleteDependents,
): Promise<number> {
  const before = ctx.clock.now() - deletedAppKeptMs
  const old = await ctx.db.read
    .select({ id: apps.id, maker: apps.maker })
    .from(apps)
    .where(lt(apps.closed, before))
    .limit(purgeBatch)
  for (const app of old) {
    await ctx.db.tx(async (db) => {
      // The maker may have restored it in the meantime.
      const isOld = and(eq(apps.id, app.id), lt(apps.closed, before))
      const [deleted] = await db.delete(apps).where(isOld).returning()
      if (!deleted) return
      if (!canBeListed(deleted)) await forgetOrigin(db, app.id)
      await deleteDependents(db, app)
      await removeVersions(db, app)
    })
  }
  return old.length
}

async function removeVersions(db: Db, { id, maker }: DeletedApp): Promise<void> {
  await deleteUses(db, id)
  const deleted = await db
    .delete(versions)
    .where(eq(versions.app, id))
    .returning({ page: versions.htmlBytes, cover: versions.coverBytes })
  const bytes = deleted.reduce((sum, { page, cover }) => sum + page + cover, 0)
  await releaseBytes(db, maker, bytes)
}
