import { eq } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { apps } from './tables.ts'

const millionths = 1_000_000

/** Sets the lower bound of the success rate of a pack, by which Explore ranks records. */
export async function setSuccessLow(db: Db, id: string, low: number): Promise<void> {
  await db
    .update(apps)
    .set({ successLow: Math.round(low * millionths) })
    .where(eq(apps.id, id))
}
