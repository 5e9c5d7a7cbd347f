import { and, desc, eq, inArray, isNull, lt, sql } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { PagePosition } from '../kernel/cursor.ts'
import { afterCommit, type Db } from '../kernel/db/engine.ts'
import {
  contentReferences,
  countRows,
  forUpdate,
  listNewest,
  lookup,
  prepared,
} from '../kernel/db/query.ts'
import { ApiError } from '../kernel/errors.ts'
import { idPattern } from '../kernel/ids.ts'
import { listPageMax } from '../kernel/limits.ts'
import type { Agent } from '../people/agents/agents.ts'
import { lockAgent, reserveBytes } from '../people/agents/storage-quota.ts'
import { appKinds, type Kind } from './kinds.ts'
import { recordUses } from './libraries/store.ts'
import { checkNotBlocked, type StoredPage } from './page-content.ts'
import { checkPublishes } from './publish-quota.ts'
import { searchText } from './search.ts'
import { apps, versions } from './tables.ts'

export type App = typeof apps.$inferSelect
export type Version = typeof versions.$inferSelect

/** Fields that a maker sets when it creates an item. */
export type NewApp = Pick<
  App,
  'kind' | 'title' | 'description' | 'shelf' | 'listed' | 'remix' | 'priceRemix'
> &
  Partial<Pick<App, 'name' | 'comments' | 'live' | 'embeds' | 'audience' | 'aiMargin'>>

/**
 * Adds the next version and returns the app. Throws `publishes_limit`, `storage_full`,
 * `blocked_by_scan`, and what `requireAvailable` and `lockAgent` throw.
 */
export async function addVersion(
  ctx: AppContext,
  db: Db,
  app: App,
  page: StoredPage,
  how: Pick<Version, 'via' | 'note'>,
): Promise<App> {
  // Reserving bytes locks the maker row, so concurrent publishes count each other.
  await reserveBytes(ctx, db, app.maker, page.htmlBytes)
  await checkPublishes(ctx, db, app.maker)
  await checkNotBlocked(db, page)
  const at = ctx.clock.now()
  const [row] = await db
    .update(apps)
    .set({ version: sql`${apps.version} + 1`, bytes: page.htmlBytes, updated: at })
    .where(eq(apps.id, app.id))
    .returning()
  // The app may have been deleted or taken down during the scan.
  const changed = requireAvailable(row)
  await db.insert(versions).values({
    ...page,
    ...how,
    app: app.id,
    version: changed.version,
    maker: app.maker,
    shown: isShown(changed) ? at : null,
    created: at,
  })
  await recordUses(db, app.id, changed.version, page.libraries)
  return changed
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

/** Finds an item by id, also a deleted one or one that was taken down. */
export async function findApp(ctx: AppContext, id: string): Promise<App | undefined> {
  if (!idPattern.test(id)) return undefined
  return byId(ctx.db, id)
}

/** Returns those of the ids that an item has, also a deleted one. */
export async function findTakenIds(db: Db, ids: string[]): Promise<Set<string>> {
  const taken = new Set<string>()
  for (let from = 0; from < ids.length; from += listPageMax) {
    const some = inArray(apps.id, ids.slice(from, from + listPageMax))
    for (const { id } of await db.select({ id: apps.id }).from(apps).where(some)) taken.add(id)
  }
  return taken
}

/**
 * Returns an own item of these kinds; by default an app or game. Throws `not_found`, also for
 * another agent's item, and `taken_down`.
 */
export async function getOwnApp(
  ctx: AppContext,
  maker: Agent,
  id: string,
  of: readonly Kind[] = appKinds,
): Promise<App> {
  return requireAvailable(await findOwnItem(ctx, maker, id, of), of)
}

/** Finds an own item of these kinds, in any state. */
export async function findOwnItem(
  ctx: AppContext,
  maker: Agent,
  id: string,
  of: readonly Kind[],
): Promise<App | undefined> {
  const item = await findApp(ctx, id)
  return item?.maker === maker.id && of.includes(item.kind) ? item : undefined
}

/** Locks the maker row and then the app. Throws what `requireAvailable` and `lockAgent` throw. */
export async function lockApp(
  ctx: AppContext,
  db: Db,
  app: Pick<App, 'id' | 'maker'>,
): Promise<App> {
  await lockAgent(ctx, db, app.maker)
  const one = db.select().from(apps).where(eq(apps.id, app.id)).$dynamic()
  const [now] = await forUpdate(one, apps.id)
  return requireAvailable(now)
}

/** Returns an item that is neither deleted nor taken down. Throws `not_found` and `taken_down`. */
export function requireAvailable(app: App | undefined, of: readonly Kind[] = appKinds): App {
  if (!app || app.closed !== null) throw new ApiError('not_found', { what: of[0] ?? 'app' })
  if (app.takenDown === null) return app
  throw new ApiError('taken_down', {
    reason: app.takedownReason ?? '',
    at: app.takenDown,
    appeal: `/apps/${app.id}/appeal`,
  })
}

/** Throws `busy` while an app has no version yet. */
export function checkBuilt({ version }: App): void {
  if (version === 0) throw new ApiError('busy', { what: 'The first build of this app' })
}

export const countByMaker = ({ db }: AppContext, maker: string): Promise<number> =>
  countRows(db.read, apps, and(eq(apps.maker, maker), isNull(apps.closed)))

/** Returns items of these kinds by a maker, newest first; by default apps and games. */
export async function listByMaker(
  ctx: AppContext,
  maker: string | string[],
  limit: number,
  after?: PagePosition,
  of: readonly Kind[] = appKinds,
): Promise<App[]> {
  const isOfKind = inArray(apps.kind, [...of])
  const isOfMaker = typeof maker === 'string' ? eq(apps.maker, maker) : inArray(apps.maker, maker)
  const matches = and(isOfMaker, isNull(apps.closed), isOfKind)
  return listNewest(ctx.db.read, apps, matches, Math.min(limit, listPageMax + 1), after)
}

/** A quarantined app goes on Explore when it is released. */
const listedOnRelease = sql`case when ${apps.quarantinedAt} is null then 'on' else 'pending' end`

/** Fields that are no part of a publish request. */
type ImageFields = Pick<
  App,
  'icon' | 'iconGiven' | 'cover' | 'coverSmall' | 'coverColor' | 'coverGiven' | 'coverVersion'
>

/**
 * Updates a locked app. With `listed` on, Explore shows the newest version of one that is public.
 */
export async function updateApp(
  ctx: AppContext,
  db: Db,
  app: App,
  { listed, ...changes }: Partial<NewApp & ImageFields>,
): Promise<App> {
  const at = ctx.clock.now()
  const isListed = listed === 'on' && canBeListed(app)
  const isRenamed = changes.title !== undefined || changes.description !== undefined
  const [changed] = await db
    .update(apps)
    .set({
      ...changes,
      ...(listed && { listed: isListed ? listedOnRelease : 'off' }),
      ...(isListed && { listedVersion: app.version, listedAt: app.listedAt ?? at }),
      ...(isRenamed && { words: searchText({ ...app, ...changes }) }),
      updated: at,
    })
    .where(eq(apps.id, app.id))
    .returning()
  if (listed && changed) await recordShown(db, [app, changed], at)
  return changed ?? app
}

/** Returns whether Explore shows the newest version of an app. */
const isShown = ({ listed, listedVersion, version }: App): boolean =>
  listed === 'on' && listedVersion === version

/** Records the versions that Explore showed before and after a change of a listing. */
async function recordShown(db: Db, states: App[], at: number): Promise<void> {
  const shown = states.flatMap(({ listed, listedVersion }) =>
    listed === 'on' && listedVersion !== null ? [listedVersion] : [],
  )
  const [id = ''] = states.map((state) => state.id)
  if (shown.length === 0) return
  await db
    .update(versions)
    .set({ shown: at })
    .where(and(eq(versions.app, id), inArray(versions.version, shown), isNull(versions.shown)))
}

/** Explore lists what is public and does not end. */
export const canBeListed = ({ audience, expires }: Pick<App, 'audience' | 'expires'>): boolean =>
  audience === 'public' && expires === null

/**
 * Changes who may open a locked item. One that is not public, or ends, leaves Explore. `access`
 * counts the changes: the addresses of files contain it, so that old ones end.
 */
export async function setAccess(
  ctx: AppContext,
  db: Db,
  app: App,
  changes: Partial<Pick<App, 'audience' | 'expires' | 'password'>>,
): Promise<App> {
  afterCommit(db, () => ctx.state.accessChanges.announce(app.id))
  const [changed] = await db
    .update(apps)
    .set({
      ...changes,
      ...(!canBeListed({ ...app, ...changes }) && { listed: 'off' }),
      access: sql`${apps.access} + 1`,
      updated: ctx.clock.now(),
    })
    .where(eq(apps.id, app.id))
    .returning()
  return changed ?? app
}

/** Returns the version that visitors see: the newest, or the newest allowed on Explore. */
export const visibleVersion = ({ listed, listedVersion, version }: App): number =>
  listed === 'off' ? version : (listedVersion ?? version)

export async function getVersion(ctx: AppContext, app: string, version: number): Promise<Version> {
  const [found] = await ctx.db.read
    .select()
    .from(versions)
    .where(and(eq(versions.app, app), eq(versions.version, version)))
  const see = `GET /apps/${app}/versions lists them.`
  if (!found) throw new ApiError('not_found', { what: 'version', see })
  return found
}

/** Returns whether the newest version of an app came as a folder. */
export async function isFolder(db: Db, { id, version }: Pick<App, 'id' | 'version'>) {
  const [found] = await db
    .select({ page: versions.page })
    .from(versions)
    .where(and(eq(versions.app, id), eq(versions.version, version)))
  return found !== undefined && found.page !== null
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

/** Returns an app's versions older than `before`, newest first. */
export const listVersions = (
  ctx: AppContext,
  { id: app }: App,
  limit: number,
  before = 2 ** 31 - 1,
): Promise<Version[]> =>
  ofApp(ctx.db.read).execute({ app, before, limit: Math.min(limit, listPageMax + 1) })

export async function deleteAppsOfMaker(ctx: AppContext, db: Db, maker: string): Promise<void> {
  await db
    .update(apps)
    .set({ closed: ctx.clock.now(), listed: 'off' })
    .where(and(eq(apps.maker, maker), isNull(apps.closed)))
}

/** The files of pages, icons and covers. */
export const appFiles = [
  versions.pack,
  apps.icon,
  apps.cover,
  apps.coverSmall,
  versions.cover,
  versions.coverSmall,
].map(contentReferences)
