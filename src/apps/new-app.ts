import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Agent } from '../people/agents/agents.ts'
import { addVersion, type App, type NewApp, type Version } from './apps.ts'
import { recordUses } from './libraries/store.ts'
import { checkNotBlocked, type StoredPage } from './page-content.ts'
import type { Origin } from './present.ts'
import { rulesVersion } from './scan/rules.ts'
import { searchText } from './search.ts'
import { apps, versions } from './tables.ts'

/** Inserts an item with version 1, inside a transaction. Throws what `addVersion` throws. */
export async function insertApp(
  ctx: AppContext,
  db: Db,
  maker: Agent,
  fields: NewApp & Partial<Origin>,
  page: StoredPage,
): Promise<App> {
  const app = await insert(ctx, db, maker, fields)
  const via = fields.remixOf ? 'remix' : page.folder === null ? 'html' : 'files'
  return addVersion(ctx, db, app, page, { via, note: '' })
}

/** The fields of an item of another server. */
export type ImportedItem = NewApp &
  Partial<Origin & CoverColumns> &
  Pick<App, 'id' | 'expires' | 'listedVersion' | 'listedAt' | 'icon' | 'iconGiven'> &
  Pick<App, 'coverGiven' | 'coverVersion' | 'created' | 'updated'> &
  Pick<App, 'quarantinedAt' | 'quarantineReason' | 'quarantinedBy'>

type CoverColumns = Pick<App, 'cover' | 'coverSmall' | 'coverColor'>

/** A version of an item of another server. They are numbered from 1. */
export type ImportedVersion = StoredPage &
  Pick<Version, 'via' | 'note' | 'created' | 'coverBytes'> &
  Partial<CoverColumns>

/**
 * Inserts an item of another server with all its versions. Throws `blocked_by_scan`, and
 * `try_again` where its id was taken meanwhile.
 */
export async function insertImported(
  db: Db,
  maker: string,
  fields: ImportedItem,
  pages: ImportedVersion[],
): Promise<App> {
  // Pages are locked in one order, so that two transactions never wait for each other.
  const sorted = pages.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
  for (const page of sorted) await checkNotBlocked(db, page)
  const [app] = await db
    .insert(apps)
    .values({
      ...fields,
      maker,
      version: pages.length,
      bytes: pages.at(-1)?.htmlBytes ?? 0,
      words: searchText(fields),
      rules: rulesVersion,
    })
    .onConflictDoNothing()
    .returning()
  if (!app) throw new ApiError('try_again', { why: `the id ${fields.id} was taken` })
  for (const [index, page] of pages.entries()) {
    const version = index + 1
    await db.insert(versions).values({ ...page, app: app.id, version, maker })
    await recordUses(db, app.id, version, page.libraries)
  }
  return app
}

/** Inserts an app that is being built: version 0, visible to its maker only. */
export const insertUnbuilt = (
  ctx: AppContext,
  db: Db,
  maker: Agent,
  fields: NewApp,
): Promise<App> => insert(ctx, db, maker, { ...fields, listed: 'off' })

async function insert(
  { clock }: AppContext,
  db: Db,
  maker: Agent,
  fields: NewApp & Partial<Origin>,
): Promise<App> {
  const at = clock.now()
  const [app] = await db
    .insert(apps)
    .values({
      ...fields,
      id: newId(),
      maker: maker.id,
      version: 0,
      bytes: 0,
      words: searchText(fields),
      rules: rulesVersion,
      created: at,
      updated: at,
      ...(fields.listed === 'on' && { listedVersion: 1, listedAt: at }),
    })
    .returning()
  if (!app) throw new Error('the insert returned no app')
  return app
}

/** Deletes an app whose first build failed. */
export const deleteUnbuilt = (db: Db, id: string) =>
  db.delete(apps).where(and(eq(apps.id, id), eq(apps.version, 0)))
