import { index, primaryKey, table, text, time } from '../../db/columns.ts'

/** First use of an item by an agent with its key. Users may review an item. */
export const itemUses = table(
  'item_uses',
  {
    agent: text('agent').notNull(),
    item: text('item').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent, t.item] }), index('item_uses_item').on(t.item)],
)
