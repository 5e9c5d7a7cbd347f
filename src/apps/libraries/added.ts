import { and, asc, countDistinct, eq, notExists, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { countRows, lock } from '../../kernel/db/query.ts'
import type { Clock } from '../../kernel/time.ts'
import { embeddedLibraries } from './embedded.ts'
import { addedLibrariesMax, fetchedLibrariesMax, labelOf, usedLibrariesMax } from './library.ts'
import { libraries, libraryFiles, libraryUses } from './tables.ts'
import { TarballError, type UnpackedLibrary } from './tarball.ts'

interface Stores {
  db: Engine
  clock: Clock
  storage: { put(bytes: Uint8Array): Promise<{ sha256: string; bytes: number }> }
}

const rowsPerInsert = 200

/** Adds an unpacked package. Throws TarballError when it is there, or the store is full. */
export async function addLibrary(
  stores: Stores,
  library: UnpackedLibrary,
  source: 'added' | 'fetched' = 'added',
): Promise<void> {
  const { name, version, license, files } = library
  const label = labelOf(library)
  // Pages may load files of a fetched one that the program leaves out.
  const isKept =
    source === 'added' && (await embeddedLibraries()).some((one) => labelOf(one) === label)
  if (isKept) throw new TarballError(`${label} is part of this program already.`)
  const rows: (typeof libraryFiles.$inferInsert)[] = []
  for (const [path, bytes] of files) {
    const { sha256 } = await stores.storage.put(bytes)
    rows.push({ name, version, path, sha256, bytes: bytes.byteLength })
  }
  await stores.db.tx(async (db) => {
    await lock(db, 'libraries')
    await ensurePlace(db, source)
    const row = { name, version, license, source, added: stores.clock.now() } as const
    const inserted = await db.insert(libraries).values(row).onConflictDoNothing().returning()
    if (inserted.length === 0) throw new TarballError(`${label} is in the store already.`)
    for (let at = 0; at < rows.length; at += rowsPerInsert) {
      await db.insert(libraryFiles).values(rows.slice(at, at + rowsPerInsert))
    }
  })
}

const countOf = (db: Db, source: 'added' | 'fetched'): Promise<number> =>
  countRows(db, libraries, eq(libraries.source, source))

/** Ensures a place for one more package. Throws TarballError when every place is in use. */
async function ensurePlace(db: Db, source: 'added' | 'fetched'): Promise<void> {
  if (source === 'added') {
    if ((await countOf(db, source)) < addedLibrariesMax) return
    throw new TarballError(`The store has ${addedLibrariesMax} added libraries. Remove one first.`)
  }
  const excess = (await countOf(db, source)) + 1 - fetchedLibrariesMax
  if (excess <= 0) return
  const label = sql`${libraries.name} || '@' || ${libraries.version}`
  const uses = db.select().from(libraryUses).where(eq(libraryUses.library, label))
  const unused = await db
    .select()
    .from(libraries)
    .where(and(eq(libraries.source, source), notExists(uses)))
    .orderBy(asc(libraries.added), asc(libraries.name), asc(libraries.version))
    .limit(excess)
  if (unused.length < excess) {
    throw new TarballError(`Apps use all ${fetchedLibrariesMax} fetched libraries.`)
  }
  for (const one of unused) await deleteRows(db, one)
}

type Label = Pick<typeof libraries.$inferSelect, 'name' | 'version'>

/** Deletes a library and the list of its files. Returns the deleted rows. */
async function deleteRows(db: Db, { name, version }: Label): Promise<Label[]> {
  const isFile = and(eq(libraryFiles.name, name), eq(libraryFiles.version, version))
  await db.delete(libraryFiles).where(isFile)
  const isRow = and(eq(libraries.name, name), eq(libraries.version, version))
  return db.delete(libraries).where(isRow).returning()
}

/** Returns whether a package version is in the store, but not in this program. */
export async function isStored({ db }: Pick<Stores, 'db'>, one: Label): Promise<boolean> {
  const isRow = and(eq(libraries.name, one.name), eq(libraries.version, one.version))
  return (await countRows(db.read, libraries, isRow)) > 0
}

/** Counts the apps that use a library, such as "three@0.180.0". */
async function countApps({ db }: Pick<Stores, 'db'>, label: string): Promise<number> {
  const [row] = await db.read
    .select({ apps: countDistinct(libraryUses.app) })
    .from(libraryUses)
    .where(eq(libraryUses.library, label))
  return row?.apps ?? 0
}

/** Counts the apps that use each library, by name and version. Unused libraries are left out. */
export async function countAllApps({ db }: Pick<Stores, 'db'>): Promise<Map<string, number>> {
  const rows = await db.read
    .select({ label: libraryUses.library, apps: countDistinct(libraryUses.app) })
    .from(libraryUses)
    .groupBy(libraryUses.library)
    .limit(usedLibrariesMax)
  return new Map(rows.map(({ label, apps }) => [label, apps]))
}

/**
 * Removes an added library that no app uses, and records that in the same transaction. Throws
 * TarballError with the reason.
 */
export async function removeLibrary(
  { db }: Pick<Stores, 'db'>,
  label: string,
  record: (db: Db) => Promise<void>,
): Promise<void> {
  const at = label.lastIndexOf('@')
  const [name, version] = [label.slice(0, at), label.slice(at + 1)]
  if ((await embeddedLibraries()).some((one) => labelOf(one) === label)) {
    throw new TarballError(`${label} is part of this program and cannot be removed.`)
  }
  const apps = await countApps({ db }, label)
  if (apps > 0) {
    throw new TarballError(
      `${label} was not removed: ${apps} ${apps === 1 ? 'app uses' : 'apps use'} it.`,
    )
  }
  const removed = await db.tx(async (tx) => {
    const rows = await deleteRows(tx, { name, version })
    if (rows.length > 0) await record(tx)
    return rows
  })
  if (removed.length === 0) throw new TarballError(`${label} is not in the library store.`)
}
