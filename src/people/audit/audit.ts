import { and, desc, eq, lt } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { isAfterCursor } from '../../kernel/db/query.ts'
import { newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import { audit } from './tables.ts'

export type AuditEntry = typeof audit.$inferSelect

/** Author of what the operator does at the command line of the machine. */
export const commandLine = 'command line'

/** Records a decision in the transaction that applies it. */
export async function recordAudit(
  { clock }: { clock: Clock },
  db: Db,
  entry: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> {
  await db.insert(audit).values({ ...entry, id: newId(), at: clock.now() })
}

/** Records a decision of an operator; nothing where the owner of the item made it. */
export async function recordBy(
  ctx: { clock: Clock },
  db: Db,
  by: string | undefined,
  entry: Omit<AuditEntry, 'id' | 'at' | 'by'>,
): Promise<void> {
  if (by !== undefined) await recordAudit(ctx, db, { ...entry, by })
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
