import { index, integer, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** Screenshots that makers upload, in positions 1 to 5. */
export const screenshots = table(
  'screenshots',
  {
    app: text('app').notNull(),
    position: integer('position').notNull(),
    large: text('large').notNull(),
    small: text('small').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.position] }),
    index('screenshots_large').on(t.large),
    index('screenshots_small').on(t.small),
  ],
)
