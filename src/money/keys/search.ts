import { and, desc, eq, inArray, isNull, or, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { contains, isAfterCursor } from '../../kernel/db/query.ts'
import { type Key, keyColumns } from './keys.ts'
import { keys } from './tables.ts'

/** A position in the list of `search`. */
type KeyPosition = Pick<Key, 'created' | 'prefix'>

/**
 * Lists the live keys of gateway accounts and agents, newest first: all, or those of `owner` and
 * those whose prefix, name, note or tags contain `words`.
 */
export function search(
  db: Db,
  limit: number,
  { words = '', owner, after }: { words?: string; owner?: string; after?: KeyPosition },
): Promise<Key[]> {
  const texts = [keys.prefix, keys.name, keys.note, keys.tags]
  const found = texts.map((text) => contains(sql`lower(${text})`, words.toLowerCase()))
  const matches =
    words === '' ? undefined : or(...found, owner === undefined ? undefined : eq(keys.owner, owner))
  const last = after && { created: after.created, id: after.prefix }
  const older = isAfterCursor({ created: keys.created, id: keys.prefix }, last)
  return db
    .select(keyColumns)
    .from(keys)
    .where(and(isNull(keys.revoked), inArray(keys.kind, ['agent', 'gateway']), matches, older))
    .orderBy(desc(keys.created), desc(keys.prefix))
    .limit(limit)
}
