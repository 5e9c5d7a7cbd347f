import { and, desc, eq, lt } from 'drizzle-orm'

import { newId } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Db, Engine } from '../../db/engine.ts'
import { isAfterCursor } from '../../db/query.ts'
import { audit } from './tables.ts'

export type AuditEntry = typeof audit.$inferSelect

/** Records a decision in the transaction that applies it. */
export async function recordAudit(
  { clock }: { clock: Clock },
  db: Db,
  entry: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> {
  await db.insert(audit).values({ ...entry, id: newId(), at: clock.now() })
}

const place = { created: audit.at, id: audit.id }

/** Returns decisions, newest first: all, or those about one item, older than `before`. */
export const listAudit = (
  { db }: { db: Engine },
  limit: number,
  item?: string,
  before?: Pick<AuditEntry, 'at' | 'id'>,
): Promise<AuditEntry[]> =>
  db.read
    .select()
    .from(audit)
    .where(
      and(
        item === undefined ? undefined : eq(audit.item, item),
        isAfterCursor(place, before && { created: before.at, id: before.id }),
      ),
    )
    .orderBy(desc(audit.at), desc(audit.id))
    .limit(limit)

export async function deleteAuditBefore(db: Db, before: number): Promise<void> {
  await db.delete(audit).where(lt(audit.at, before))
}
