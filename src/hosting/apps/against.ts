import { and, eq, isNull } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { forUpdate } from '../../db/query.ts'
import { apps } from './tables.ts'

/**
 * When an app was taken down or held back, inside a transaction that keeps it so; null where it is
 * neither.
 */
export async function againstOf(db: Db, id: string): Promise<number | null> {
  const columns = { takenDown: apps.takenDown, heldAt: apps.heldAt }
  const one = db
    .select(columns)
    .from(apps)
    .where(and(eq(apps.id, id), isNull(apps.closed)))
  const [app] = await forUpdate(one.$dynamic(), apps.id)
  return app?.takenDown ?? app?.heldAt ?? null
}
