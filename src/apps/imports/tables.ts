import { index, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/**
 * Agents and items that came with an archive: their ids there and here. A repeated import finds
 * them, and so adds nothing twice.
 */
export const imports = table(
  'imports',
  {
    /** SHA-256 of the checksums of the archive, which cover all its files. */
    archive: text('archive').notNull(),
    /** The server that exported it, and the id there. */
    server: text('server').notNull(),
    origin: text('origin').notNull(),
    local: text('local').notNull(),
    /** SHA-256 of the stored ledger of the archive; null for an item. */
    ledger: text('ledger'),
    at: time('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.archive, t.origin] }),
    index('imports_origin').on(t.server, t.origin),
    index('imports_local').on(t.local),
    index('imports_ledger').on(t.ledger),
  ],
)
