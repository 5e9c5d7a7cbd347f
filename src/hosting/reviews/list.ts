import { and, desc, eq, isNull, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { After } from '../../core/cursor.ts'
import { prepared } from '../../db/query.ts'
import type { App } from '../apps/apps.ts'
import type { comments, reviews } from './tables.ts'

/** The place of the newest: everything comes after it. */
const newest: After = { created: Number.MAX_SAFE_INTEGER, id: '' }

const value = sql.placeholder

/** A list of what is said of an item, its reviews or its comments, newest first. */
export function listVisible<Said extends typeof reviews | typeof comments>(said: Said) {
  const shown = prepared((db) =>
    db
      .select()
      .from(said)
      .where(
        and(
          eq(said.item, value('item')),
          isNull(said.hidden),
          sql`(${said.created}, ${said.id}) < (${value('created')}, ${value('id')})`,
        ),
      )
      .orderBy(desc(said.created), desc(said.id))
      .limit(value('limit'))
      .prepare(),
  )
  return ({ db }: AppContext, { id: item }: App, limit: number, after = newest) =>
    shown(db.read).execute({ item, limit, ...after })
}
