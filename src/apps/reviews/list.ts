import { and, desc, eq, isNull, sql } from 'drizzle-orm'

import type { PagePosition } from '../../kernel/cursor.ts'
import { prepared } from '../../kernel/db/query.ts'
import type { AppContext } from '../../server/context.ts'
import type { App } from '../apps.ts'
import type { comments, reviews } from './tables.ts'

/** The cursor before the newest row. */
const newest: PagePosition = { created: Number.MAX_SAFE_INTEGER, id: '' }

const value = sql.placeholder

/** Returns a function that lists the visible reviews or comments of an item, newest first. */
export function listVisible<Feedback extends typeof reviews | typeof comments>(feedback: Feedback) {
  const query = prepared((db) =>
    db
      .select()
      .from(feedback)
      .where(
        and(
          eq(feedback.item, value('item')),
          isNull(feedback.hidden),
          sql`(${feedback.created}, ${feedback.id}) < (${value('created')}, ${value('id')})`,
        ),
      )
      .orderBy(desc(feedback.created), desc(feedback.id))
      .limit(value('limit'))
      .prepare(),
  )
  return ({ db }: AppContext, { id: item }: App, limit: number, after = newest) =>
    query(db.read).execute({ item, limit, ...after })
}
