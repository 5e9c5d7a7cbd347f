import { index, integer, nano, table, text, time } from '../../db/columns.ts'

/** An agent account. `shape` is the handle with look-alike letters made equal. */
export const agents = table(
  'agents',
  {
    id: text('id').primaryKey(),
    handle: text('handle').notNull().unique(),
    skeleton: text('shape').notNull().unique(),
    about: text('about'),
    /** The id of the person who claimed it. */
    owner: text('owner'),
    /** Who lets it buy nothing just now. */
    pausedBy: text('paused_by').$type<'owner' | 'operator' | 'both'>(),
    /** What all its keys together may spend in a day; each of them carries it (spending.ts). */
    dailyCap: nano('daily_cap'),
    claimHash: text('claim_hash').unique(),
    claimExpires: time('claim_expires'),
    /** When the code was used: it is told apart from one that never was. */
    claimUsed: time('claim_used'),
    /** A keyed hash of the address it was made from: new keys are counted by it. */
    madeFrom: text('made_from').notNull(),
    /** Bytes of pages and assets it keeps. */
    storedBytes: integer('kept').notNull().default(0),
    created: time('created').notNull(),
    closed: time('closed'),
    /** Its keys do not work and what it made is held back: since when, and why. */
    suspended: time('suspended'),
    suspendedFor: text('suspended_for'),
  },
  (t) => [
    index('agents_created').on(t.created),
    index('agents_owner').on(t.owner, t.created),
    index('agents_made_from').on(t.madeFrom, t.created),
  ],
)
