import { index, table, text, time } from '../../kernel/db/columns.ts'

/**
 * Generated media that is stored temporarily: images behind signed URLs, and speech for repeated
 * requests. `sha256` names the stored bytes, which many rows may share.
 */
export const mediaFiles = table(
  'gateway_made',
  {
    id: text('id').primaryKey(),
    /** Media type, detected from the content or sent by the upstream. */
    type: text('type').notNull(),
    sha256: text('sha256').notNull(),
    expires: time('expires').notNull(),
  },
  (t) => [
    index('gateway_made_sha256').on(t.sha256),
    index('gateway_made_expires').on(t.expires, t.id),
  ],
)
