import { and, asc, countDistinct, eq, inArray, notExists, or, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { countRows, lock } from '../../kernel/db/query.ts'
import type { Clock } from '../../kernel/time.ts'
import { embeddedLibraries } from './embedded.ts'
import {
  addedLibrariesMax,
  fetchedLibrariesMax,
  labelOf,
  type Library,
  usedLibrariesMax,
} from './library.ts'
import { libraries, libraryFiles, libraryUses } from './tables.ts'
import { TarballError, type UnpackedLibrary } from './tarball.ts'

interface Stores {
  db: Engine
  clock: Clock
  storage: { put(bytes: Uint8Array): Promise<{ sha256: string; bytes: number }> }
}

const rowsPerInsert = 200

const embeddedLabels = async (): Promise<Set<string>> =>
  new Set((await embeddedLibraries()).map(labelOf))

/**
 * Adds an unpacked package, and records that in the same transaction. Throws TarballError when it
 * is there, or the store is full.
 */
export async function addLibrary(
  stores: Stores,
  library: UnpackedLibrary,
  source: 'added' | 'fetched' = 'added',
  record?: (db: Db) => Promise<void>,
): Promise<void> {
  const { name, version, license, files } = library
  const label = labelOf(library)
  // Pages may load files of a fetched one that the program leaves out.
  const isKept = source === 'added' && (await embeddedLabels()).has(label)
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
    await record?.(db)
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
  // Uses of a copy are not told from those of the program's files.
  const isCopy = inArray(label, [...(await embeddedLabels())])
  const unused = await db
    .select()
    .from(libraries)
    .where(and(eq(libraries.source, source), or(notExists(uses), isCopy)))
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

/**
 * Counts the apps that use each library. Those of a package that the program has in part count for
 * the part of the program.
 */
export async function countAllApps(
  { db }: Pick<Stores, 'db'>,
  all: readonly Library[],
): Promise<Map<Library, number>> {
  const rows = await db.read
    .select({ label: libraryUses.library, apps: countDistinct(libraryUses.app) })
    .from(libraryUses)
    .groupBy(libraryUses.library)
    .limit(usedLibrariesMax)
  const apps = new Map(rows.map((row) => [row.label, row.apps]))
  const embedded = await embeddedLabels()
  const isCopy = (one: Library): boolean => one.source === 'fetched' && embedded.has(labelOf(one))
  return new Map(all.map((one) => [one, isCopy(one) ? 0 : (apps.get(labelOf(one)) ?? 0)]))
}

/**
 * Removes an added library that no app uses, or the copy of one that the program has in part, and
 * records that in the same transaction. Apps keep their files. Throws TarballError with the reason.
 */
export async function removeLibrary(
  { db }: Pick<Stores, 'db'>,
  label: string,
  record: (db: Db) => Promise<void>,
): Promise<void> {
  const at = label.lastIndexOf('@')
  const [name, version] = [label.slice(0, at), label.slice(at + 1)]
  const isCopy = (await embeddedLabels()).has(label)
  const apps = isCopy ? 0 : await countApps({ db }, label)
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
  if (removed.length > 0) return
  const why = isCopy
    ? 'is part of this program and cannot be removed'
    : 'is not in the library store'
  throw new TarballError(`${label} ${why}.`)
}
