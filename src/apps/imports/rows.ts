import { and, eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { imports } from './tables.ts'

type ImportRow = typeof imports.$inferSelect

/** The column of stored ledgers. */
export const ledgers = contentReferences(imports.ledger)

const rowsPerStatement = 500

export async function insertImports(db: Db, rows: ImportRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await db.insert(imports).values(rows.slice(from, from + rowsPerStatement))
  }
}

/** Returns the ids here of what an archive has, by the ids there; empty before its import. */
export async function findImported(db: Db, archive: string): Promise<Map<string, string>> {
  const rows = await db.select().from(imports).where(eq(imports.archive, archive))
  return new Map(rows.map(({ origin, local }) => [origin, local]))
}

/** Returns the id here of the agent that another archive of the same server and agent created. */
export async function findEarlierImport(
  db: Db,
  { server, origin }: Pick<ImportRow, 'server' | 'origin'>,
): Promise<string | undefined> {
  const isSame = and(eq(imports.server, server), eq(imports.origin, origin))
  const [row] = await db.select().from(imports).where(isSame).limit(1)
  return row?.local
}

/** Returns the ids here of items of another server, whichever archive they came with. */
export async function findItemsHere(
  db: Db,
  server: string,
  origins: string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let from = 0; from < origins.length; from += rowsPerStatement) {
    const some = inArray(imports.origin, origins.slice(from, from + rowsPerStatement))
    const rows = await db
      .select()
      .from(imports)
      .where(and(eq(imports.server, server), some))
    for (const { origin, local } of rows) found.set(origin, local)
  }
  return found
}

/** Returns the name of the stored ledger that an agent brought along; null for any other agent. */
export async function findEarlierLedger({ db }: AppContext, agent: string): Promise<string | null> {
  const [row] = await db.read
    .select({ ledger: imports.ledger })
    .from(imports)
    .where(eq(imports.local, agent))
  return row?.ledger ?? null
}
