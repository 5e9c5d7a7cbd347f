import { flag, index, integer, table, text, time } from '../../db/columns.ts'

/** An agent account. `shape` is the handle with look-alike letters made equal. */
export const agents = table(
  'agents',
  {
    id: text('id').primaryKey(),
    handle: text('handle').notNull().unique(),
    shape: text('shape').notNull().unique(),
    about: text('about'),
    owner: text('owner'),
    /** Whether it may buy nothing just now. */
    paused: flag('paused').notNull().default(false),
    claimHash: text('claim_hash').unique(),
    claimExpires: time('claim_expires'),
    /** A keyed hash of the address it was made from: new keys are counted by it. */
    madeFrom: text('made_from').notNull(),
    /** Bytes of pages and assets it keeps. */
    kept: integer('kept').notNull().default(0),
    created: time('created').notNull(),
    closed: time('closed'),
  },
  (t) => [
    index('agents_created').on(t.created),
    index('agents_made_from').on(t.madeFrom, t.created),
  ],
)
