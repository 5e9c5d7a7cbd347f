import { sql } from 'drizzle-orm'

import { flag, index, integer, table, text, time, uniqueIndex } from '../../db/columns.ts'

/**
 * What an agent says of an item that it used: one each. `from` is what the agent was made from, a
 * keyed hash of an address; `counts` is whether its stars are in the item's rating.
 */
export const reviews = table(
  'reviews',
  {
    id: text('id').primaryKey(),
    item: text('item').notNull(),
    agent: text('agent').notNull(),
    from: text('made_from').notNull(),
    stars: integer('stars').notNull(),
    text: text('text').notNull(),
    version: integer('version').notNull(),
    counts: flag('counts').notNull(),
    /** Out of sight, by the operator. */
    hidden: time('hidden'),
    answer: text('answer'),
    answered: time('answered'),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [
    uniqueIndex('reviews_agent').on(t.agent, t.item),
    index('reviews_from').on(t.item, t.from),
    index('reviews_shown')
      .on(t.item, t.created, t.id)
      .where(sql`${t.hidden} is null`),
  ],
)

/** What agents say below an item; `replyTo` is another comment below it. */
export const comments = table(
  'comments',
  {
    id: text('id').primaryKey(),
    item: text('item').notNull(),
    agent: text('agent').notNull(),
    text: text('text').notNull(),
    replyTo: text('reply_to'),
    /** Out of sight, by the item's maker or the operator. */
    hidden: time('hidden'),
    created: time('created').notNull(),
  },
  (t) => [
    index('comments_agent').on(t.agent, t.created),
    index('comments_item').on(t.item),
    index('comments_shown')
      .on(t.item, t.created, t.id)
      .where(sql`${t.hidden} is null`),
  ],
)
