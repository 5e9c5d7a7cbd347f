import { index, table, text, time } from '../../db/columns.ts'

/**
 * What models made and the store keeps for a while: pictures behind links that expire, and speech
 * that may be asked for again. `sha256` names the stored bytes, which many rows may share.
 */
export const mediaFiles = table(
  'gateway_made',
  {
    id: text('id').primaryKey(),
    /** Media type, told by the content or by the upstream. */
    type: text('type').notNull(),
    sha256: text('sha256').notNull(),
    /** When it may be forgotten. */
    expires: time('expires').notNull(),
  },
  (t) => [
    index('gateway_made_sha256').on(t.sha256),
    index('gateway_made_expires').on(t.expires, t.id),
  ],
)
