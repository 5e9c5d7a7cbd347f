import { and, asc, desc, eq, isNotNull } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import type { App, Version } from './apps.ts'
import type { Folder } from './folders/folder.ts'
import { packKinds } from './kinds.ts'
import { apps, isListed, versions } from './tables.ts'

/** A pack on Explore with the version that it shows there. */
export interface ListedPack {
  item: App
  row: Version
  folder: Folder
}

const isShown = and(eq(versions.app, apps.id), eq(versions.version, apps.listedVersion))

/** Returns the packs on Explore with the best record of each kind; then the newest. */
export async function listBestPacks({ db }: AppContext, limit: number): Promise<ListedPack[]> {
  // Each kind has an index in this order.
  const lists = await Promise.all(
    packKinds.map((kind) =>
      selectShown(db.read)
        .where(and(isListed(apps), eq(apps.kind, kind)))
        .orderBy(desc(apps.successLow), desc(apps.listedAt), desc(apps.id))
        .limit(limit),
    ),
  )
  return lists.flat().flatMap(withFolder)
}

/** Returns the packs of a maker on Explore, newest first: an order by record would read all. */
export async function listPacksOfMaker(
  { db }: AppContext,
  maker: string,
  limit: number,
): Promise<ListedPack[]> {
  const rows = await selectShown(db.read)
    .where(and(isListed(apps), eq(apps.maker, maker), isNotNull(apps.name)))
    .orderBy(desc(apps.listedAt), desc(apps.id))
    .limit(limit)
  return rows.flatMap(withFolder)
}

const selectShown = (db: Db) =>
  db.select({ item: apps, row: versions }).from(apps).innerJoin(versions, isShown)

/** Finds the pack of a name: of a maker, or the one with the best record, then the oldest. */
export async function findListedPack(
  { db }: AppContext,
  name: string,
  maker: string | undefined,
): Promise<ListedPack | undefined> {
  const rows = await selectShown(db.read)
    .where(
      and(
        isListed(apps),
        isNotNull(apps.name),
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
