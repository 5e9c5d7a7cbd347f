import { eq, sql } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import type { App } from './apps.ts'
import { apps } from './tables.ts'

const isGood = (stars: number | undefined): number => ((stars ?? 0) >= 4 ? 1 : 0)
const isOne = (stars: number | undefined): number => (stars === undefined ? 0 : 1)

/** Replaces one review's stars in the rating of an app, inside a transaction. */
export async function adjustRating(
  db: Db,
  id: string,
  { take, add }: { take?: number | undefined; add?: number | undefined },
): Promise<App> {
  const [app] = await db
    .update(apps)
    .set({
      stars: sql`${apps.stars} + ${(add ?? 0) - (take ?? 0)}`,
      reviews: sql`${apps.reviews} + ${isOne(add) - isOne(take)}`,
      good: sql`${apps.good} + ${isGood(add) - isGood(take)}`,
    })
    .where(eq(apps.id, id))
    .returning()
  if (!app) throw new Error('the reviewed app does not exist')
  return app
}
