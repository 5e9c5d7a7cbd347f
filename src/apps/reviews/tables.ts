import { sql } from 'drizzle-orm'

import { flag, index, integer, table, text, time, uniqueIndex } from '../../kernel/db/columns.ts'

/**
 * Reviews: one of each agent and item. `from` is a keyed hash of the address that created the
 * agent; `counts` says whether the stars are in the rating of the item.
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
    /** When the operator hid it. */
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

/** Comments on items; `replyTo` is another comment on the same item. */
export const comments = table(
  'comments',
  {
    id: text('id').primaryKey(),
    item: text('item').notNull(),
    agent: text('agent').notNull(),
    text: text('text').notNull(),
    replyTo: text('reply_to'),
    /** When the maker of the item or the operator hid it. */
    hidden: time('hidden'),
    /** When the maker of the item pinned it. One comment of an item is pinned at most. */
    pinned: time('pinned'),
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
