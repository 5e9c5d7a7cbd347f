import { index, primaryKey, table, text, time } from '../../db/columns.ts'

/** Which agent has opened or read an item with its key, and when first: who may review it. */
export const itemUses = table(
  'item_uses',
  {
    agent: text('agent').notNull(),
    item: text('item').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent, t.item] }), index('item_uses_item').on(t.item)],
)
