import { and, count, desc, eq, gte, isNull, lt, min, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { After } from '../../core/cursor.ts'
import { idPattern } from '../../core/ids.ts'
import { hour, secondsUntil } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { countRows, forUpdate, isAfterCursor, lookup, prepared } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import { listPageMax } from '../../limits.ts'
import type { Agent } from '../agents/agents.ts'
import { reserveBytes, lockAgent } from '../agents/storage-quota.ts'
import { checkStill, type KeptPage } from './page-content.ts'
import { apps, versions } from './tables.ts'
import { wordsOf } from './search-terms.ts'

export type App = typeof apps.$inferSelect
export type Version = typeof versions.$inferSelect

/** What a maker says of an app when it is made. */
export type NewApp = Pick<
  App,
  'kind' | 'title' | 'description' | 'shelf' | 'listed' | 'remix' | 'priceRemix'
> &
  Partial<Pick<App, 'comments'>>

/** What searches find an app by. */
export const findable = ({ title, description }: Pick<App, 'title' | 'description'>): string =>
  [...new Set(wordsOf(`${title} ${description}`))].join(' ')

/**
 * Adds the next version to an app, inside a transaction, and answers the app as it then is.
 * Refuses publishes_limit past the maker's hourly publishes, storage_full past its bytes, and what
 * `checkStill`, `there` and a closed account refuse.
 */
export async function addVersion(
  ctx: AppContext,
  db: Db,
  app: App,
  page: KeptPage,
  how: Pick<Version, 'via' | 'note'>,
): Promise<App> {
  // Counting the bytes locks the maker's row, so that two publishes at once count each other.
  await reserveBytes(ctx, db, app.maker, page.htmlBytes)
  await checkPublishes(ctx, db, app.maker)
  await checkStill(db, page)
  const at = ctx.clock.now()
  const [row] = await db
    .update(apps)
    .set({ version: sql`${apps.version} + 1`, bytes: page.htmlBytes, updated: at })
    .where(eq(apps.id, app.id))
    .returning()
  // It may have been deleted or taken down while its page was looked at.
  const changed = there(row)
  await db.insert(versions).values({
    ...page,
    ...how,
    app: app.id,
    version: changed.version,
    maker: app.maker,
    created: at,
  })
  return changed
}

/**
 * Refuses what `addVersion` would refuse, before any byte is kept: who is past a bound fills no
 * disk. What counts is the look inside the transaction.
 */
export async function checkRoom(ctx: AppContext, maker: Agent, bytes: number): Promise<void> {
  await checkPublishes(ctx, ctx.db.read, maker.id)
  const { bytesPerAgent } = ctx.config
  if (bytesPerAgent > 0 && maker.storedBytes + bytes > bytesPerAgent) {
    throw new ApiError('storage_full', { max: bytesPerAgent })
  }
}

async function checkPublishes(ctx: AppContext, db: Db, maker: string): Promise<void> {
  const { used, max, retryAfter } = await publishesOf(ctx, db, maker)
  if (max > 0 && used >= max) throw new ApiError('publishes_limit', { max, retryAfter })
}

/** Publishes of the last hour, the bound (0: none), and the seconds until one is free again. */
export async function publishesOf(
  ctx: AppContext,
  db: Db,
  maker: string,
): Promise<{ used: number; max: number; retryAfter: number }> {
  const now = ctx.clock.now()
  const [row] = await db
    .select({ used: count(), oldest: min(versions.created).mapWith(Number) })
    .from(versions)
    .where(and(eq(versions.maker, maker), gte(versions.created, now - hour)))
  const retryAfter = secondsUntil((row?.oldest ?? now) + hour, now)
  return { used: row?.used ?? 0, max: ctx.config.publishesPerHour, retryAfter }
}

const byId = lookup(
  prepared((db) =>
    db
      .select()
      .from(apps)
      .where(eq(apps.id, sql.placeholder('id')))
      .prepare(),
  ),
)

/** The app with this id, closed and taken-down ones too. An id of the wrong form finds nothing. */
export async function find(ctx: AppContext, id: string): Promise<App | undefined> {
  if (!idPattern.test(id)) return undefined
  return byId(ctx.db, id)
}

/** The agent's own app. Refuses not_found (also for another's), and taken_down. */
export async function theOwn(ctx: AppContext, maker: Agent, id: string): Promise<App> {
  const app = await find(ctx, id)
  return there(app?.maker === maker.id ? app : undefined)
}

/**
 * An app as it is now, inside a transaction that locks it from here on: its maker's row first and
 * its own second, in the order in which publishing takes them. Refuses what `there` refuses, and
 * what a closed or suspended account does.
 */
export async function locked(
  ctx: AppContext,
  db: Db,
  app: Pick<App, 'id' | 'maker'>,
): Promise<App> {
  await lockAgent(ctx, db, app.maker)
  const one = db.select().from(apps).where(eq(apps.id, app.id)).$dynamic()
  const [now] = await forUpdate(one, apps.id)
  return there(now)
}

/** An app that is there. Refuses not_found, for a deleted one too, and taken_down. */
export function there(app: App | undefined): App {
  if (!app || app.closed !== null) throw new ApiError('not_found', { what: 'app' })
  if (app.takenDown === null) return app
  throw new ApiError('taken_down', {
    reason: app.takenDownFor ?? '',
    at: app.takenDown,
    appeal: `/apps/${app.id}/appeal`,
  })
}

/** Refuses busy for an app that has no version yet. */
export function checkBuilt({ version }: App): void {
  if (version === 0) throw new ApiError('busy', { what: 'The first build of this app' })
}

/** How many apps an agent has. */
export const countOf = ({ db }: AppContext, maker: string): Promise<number> =>
  countRows(db.read, apps, and(eq(apps.maker, maker), isNull(apps.closed)))

/** An agent's apps, newest first, at most `limit` of them, going on after `after`. */
export async function listOf(
  ctx: AppContext,
  maker: string,
  limit: number,
  after?: After,
): Promise<App[]> {
  return ctx.db.read
    .select()
    .from(apps)
    .where(and(eq(apps.maker, maker), isNull(apps.closed), isAfterCursor(apps, after)))
    .orderBy(desc(apps.created), desc(apps.id))
    .limit(Math.min(limit, listPageMax + 1))
}

/** What is held back goes on Explore once it is released. */
const onceReleased = sql`case when ${apps.heldAt} is null then 'on' else 'pending' end`

/**
 * Changes the row of an app as it is in this transaction (`locked`). With `listed` on, its newest
 * version is the one on Explore.
 */
export async function update(
  ctx: AppContext,
  db: Db,
  app: App,
  { listed, ...changes }: Partial<NewApp & Pick<App, 'icon' | 'iconGiven'>>,
): Promise<App> {
  const at = ctx.clock.now()
  const isListed = listed === 'on'
  const isRenamed = changes.title !== undefined || changes.description !== undefined
  const [changed] = await db
    .update(apps)
    .set({
      ...changes,
      ...(listed && { listed: isListed ? onceReleased : listed }),
      ...(isListed && { listedVersion: app.version, listedAt: app.listedAt ?? at }),
      ...(isRenamed && { words: findable({ ...app, ...changes }) }),
      updated: at,
    })
    .where(eq(apps.id, app.id))
    .returning()
  return changed ?? app
}

/** The version that visitors are shown: the newest, or the newest that may be on Explore. */
export const shownVersion = ({ listed, listedVersion, version }: App): number =>
  listed === 'off' ? version : (listedVersion ?? version)

/** A version of an app. Refuses not_found. */
export async function theVersion(ctx: AppContext, app: string, version: number): Promise<Version> {
  const [found] = await ctx.db.read
    .select()
    .from(versions)
    .where(and(eq(versions.app, app), eq(versions.version, version)))
  const see = `GET /apps/${app}/versions lists them.`
  if (!found) throw new ApiError('not_found', { what: 'version', see })
  return found
}

const ofApp = prepared((db) =>
  db
    .select()
    .from(versions)
    .where(
      and(
        eq(versions.app, sql.placeholder('app')),
        lt(versions.version, sql.placeholder('before')),
      ),
    )
    .orderBy(desc(versions.version))
    .limit(sql.placeholder('limit'))
    .prepare(),
)

/** An app's versions, newest first, at most `limit`, all older than `before`. */
export const versionsOf = (
  ctx: AppContext,
  { id: app }: App,
  limit: number,
  before = 2 ** 31 - 1,
): Promise<Version[]> =>
  ofApp(ctx.db.read).execute({ app, before, limit: Math.min(limit, listPageMax + 1) })

/** Closes every app of an agent whose account closes, inside a transaction. */
export async function closeAllOf(ctx: AppContext, db: Db, maker: string): Promise<void> {
  await db
    .update(apps)
    .set({ closed: ctx.clock.now(), listed: 'off' })
    .where(and(eq(apps.maker, maker), isNull(apps.closed)))
}
