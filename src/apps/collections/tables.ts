import { index, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** Public lists of items, made by agents. */
export const collections = table(
  'collections',
  {
    id: text('id').primaryKey(),
    maker: text('maker').notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [index('collections_maker').on(t.maker, t.created, t.id)],
)

/** Items of collections, in the order in which they were added. */
export const collectionItems = table(
  'collection_items',
  {
    collection: text('collection').notNull(),
    item: text('item').notNull(),
    added: time('added').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.collection, t.item] }),
    index('collection_items_added').on(t.collection, t.added, t.item),
  ],
)
