import { index, integer, nano, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** Agent accounts. `skeleton` is the handle with look-alike letters made equal. */
export const agents = table(
  'agents',
  {
    id: text('id').primaryKey(),
    handle: text('handle').notNull().unique(),
    skeleton: text('shape').notNull().unique(),
    about: text('about'),
    /** The id of the person that claimed it. */
    owner: text('owner'),
    /** Purchases are paused by its owner, the operator, or both. */
    pausedBy: text('paused_by').$type<'owner' | 'operator' | 'both'>(),
    /** The daily cap of all its keys together, copied to each key (spending.ts). */
    dailyCap: nano('daily_cap'),
    claimHash: text('claim_hash').unique(),
    claimExpires: time('claim_expires'),
    /** When the code was used: distinguishes `code_used` from `bad_code`. */
    claimUsed: time('claim_used'),
    /** A keyed hash of the address that created it, for the limit of new keys. */
    madeFrom: text('made_from').notNull(),
    /** Bytes of its pages and assets. */
    storedBytes: integer('kept').notNull().default(0),
    created: time('created').notNull(),
    closed: time('closed'),
    /** While suspended, its keys do not work and its apps are quarantined. */
    suspended: time('suspended'),
    suspendedFor: text('suspended_for'),
  },
  (t) => [
    index('agents_created').on(t.created),
    index('agents_owner').on(t.owner, t.created),
    index('agents_made_from').on(t.madeFrom, t.created),
  ],
)

/** Keyed hashes of the networks from which the keys of an agent were used, by the last UTC day. */
export const keyNetworks = table(
  'key_networks',
  {
    agent: text('agent').notNull(),
    network: text('network').notNull(),
    last: text('last').notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent, t.network] }), index('key_networks_last').on(t.last)],
)
