import { and, desc, eq, lt, or } from 'drizzle-orm'

import { newId } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Db, Engine } from '../../db/engine.ts'
import { audit } from './tables.ts'

export type Entry = typeof audit.$inferSelect

/** Writes down what was decided, in the transaction that does it. */
export async function note(
  { clock }: { clock: Clock },
  db: Db,
  entry: Omit<Entry, 'id' | 'at'>,
): Promise<void> {
  await db.insert(audit).values({ ...entry, id: newId(), at: clock.now() })
}

/** What was decided, newest first: all, or about one item, before that entry where it is given. */
export const listAudit = (
  { db }: { db: Engine },
  limit: number,
  item?: string,
  before?: Pick<Entry, 'at' | 'id'>,
): Promise<Entry[]> =>
  db.read
    .select()
    .from(audit)
    .where(
      and(
        item === undefined ? undefined : eq(audit.item, item),
        before &&
          or(lt(audit.at, before.at), and(eq(audit.at, before.at), lt(audit.id, before.id))),
      ),
    )
    .orderBy(desc(audit.at), desc(audit.id))
    .limit(limit)

/** Forgets what was decided before a moment. */
export async function forgetAudit(db: Db, before: number): Promise<void> {
  await db.delete(audit).where(lt(audit.at, before))
}
