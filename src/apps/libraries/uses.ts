import { eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import type { PageLibraries } from './library.ts'
import { libraryFiles, libraryUses } from './tables.ts'

const nameParts = /^berth:((?:@[^/]+\/)?[^/]+@[^/]+)\//

/** Records which library files a version of an app uses, so that they are kept. */
export async function recordUses(
  db: Db,
  app: string,
  version: number,
  libraries: PageLibraries | null,
): Promise<void> {
  const rows = (libraries?.files ?? []).map(({ name, sha256, type }) => {
    return { app, version, library: nameParts.exec(name)?.[1] ?? 'fonts', sha256, type }
  })
  if (rows.length > 0) await db.insert(libraryUses).values(rows).onConflictDoNothing()
}

/** Returns the type of a library file that an app uses; undefined for any other content. */
export async function findUsedType(db: Db, sha256: string): Promise<string | undefined> {
  const [row] = await db
    .select({ type: libraryUses.type })
    .from(libraryUses)
    .where(eq(libraryUses.sha256, sha256))
    .limit(1)
  return row?.type
}

/** Deletes the records of a deleted app. */
export const deleteUses = (db: Db, app: string) =>
  db.delete(libraryUses).where(eq(libraryUses.app, app))

/** The columns of library files, for the check which stored files are referenced. */
export const files = contentReferences(libraryFiles.sha256)
export const uses = contentReferences(libraryUses.sha256)
