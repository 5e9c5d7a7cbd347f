import { and, asc, desc, eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Folder } from '../folders/folder.ts'
import { packKinds } from '../kinds.ts'
import type { App, Version } from './apps.ts'
import { apps, isListed, versions } from './tables.ts'

/** A pack on Explore with the version that it shows there. */
export interface ListedPack {
  item: App
  row: Version
  folder: Folder
}

const isShown = and(eq(versions.app, apps.id), eq(versions.version, apps.listedVersion))

/** Returns packs on Explore: of a maker, or those with the best record; then the newest. */
export async function listListedPacks(
  { db }: AppContext,
  maker: string | undefined,
  limit: number,
): Promise<ListedPack[]> {
  // Each kind has an index in this order.
  const lists = await Promise.all(
    packKinds.map((kind) =>
      db.read
        .select({ item: apps, row: versions })
        .from(apps)
        .innerJoin(versions, isShown)
        .where(
          and(
            isListed(apps),
            eq(apps.kind, kind),
            maker === undefined ? undefined : eq(apps.maker, maker),
          ),
        )
        .orderBy(desc(apps.successLow), desc(apps.listedAt), desc(apps.id))
        .limit(limit),
    ),
  )
  return lists.flat().flatMap(withFolder)
}

/** Finds the pack of a name: of a maker, or the one with the best record, then the oldest. */
export async function findListedPack(
  { db }: AppContext,
  name: string,
  maker: string | undefined,
): Promise<ListedPack | undefined> {
  const rows = await db.read
    .select({ item: apps, row: versions })
    .from(apps)
    .innerJoin(versions, isShown)
    .where(
      and(
        isListed(apps),
        sql`${apps.name} is not null`,
        eq(apps.name, name),
        maker === undefined ? undefined : eq(apps.maker, maker),
      ),
    )
    .orderBy(desc(apps.successLow), asc(apps.listedAt), asc(apps.id))
    .limit(1)
  return rows.flatMap(withFolder)[0]
}

const withFolder = ({ item, row }: Omit<ListedPack, 'folder'>): ListedPack[] =>
  row.folder ? [{ item, row, folder: row.folder }] : []
