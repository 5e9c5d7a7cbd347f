import { index, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** First use of an item by an agent with its key or by a person. Users may review an item. */
export const itemUses = table(
  'item_uses',
  {
    /** The ID of the agent or the person. */
    agent: text('agent').notNull(),
    item: text('item').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent, t.item] }), index('item_uses_item').on(t.item)],
)

/** Items that the operator features on the home page, the newest choice first. */
export const featured = table('featured', {
  item: text('item').primaryKey(),
  at: time('at').notNull(),
})
