import { and, eq } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { newId } from '../kernel/ids.ts'
import type { Agent } from '../people/agents/agents.ts'
import type { AppContext } from '../server/context.ts'
import { addVersion, type App, type NewApp } from './apps.ts'
import type { StoredPage } from './page-content.ts'
import type { Origin } from './present.ts'
import { rulesVersion } from './scan/rules.ts'
import { searchText } from './search-terms.ts'
import { apps } from './tables.ts'

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
