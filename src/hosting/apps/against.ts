import { and, eq, isNull } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { forUpdate } from '../../db/query.ts'
import type { App } from './apps.ts'
import { apps } from './tables.ts'

/** When an app was taken down or held back, as it was read; null where it is neither. */
export const sanctionedAt = ({ takenDown, heldAt }: Pick<App, 'takenDown' | 'heldAt'>): number | null =>
  takenDown ?? heldAt

/** The same inside a transaction that keeps it so. */
export async function lockSanctionedAt(db: Db, id: string): Promise<number | null> {
  const columns = { takenDown: apps.takenDown, heldAt: apps.heldAt }
  const one = db
    .select(columns)
    .from(apps)
    .where(and(eq(apps.id, id), isNull(apps.closed)))
  const [app] = await forUpdate(one.$dynamic(), apps.id)
  return app ? sanctionedAt(app) : null
}
