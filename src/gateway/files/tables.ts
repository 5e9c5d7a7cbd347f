import { index, integer, table, text, time } from '../../db/columns.ts'
import type { AccountId } from '../../ledger/tables.ts'

/** What a file is, told by its content. */
export const fileKinds = ['pdf', 'text', 'image', 'audio', 'video'] as const

/**
 * Files of gateway accounts (document 2, POST /v1/files). `sha256` names the stored bytes and
 * `wordsSha256` the words that were read out of them, UTF-8, both of which many rows may share.
 */
export const gatewayFiles = table(
  'gateway_files',
  {
    id: text('id').primaryKey(),
    account: text('account').$type<AccountId>().notNull(),
    filename: text('filename').notNull(),
    purpose: text('purpose').notNull(),
    kind: text('kind').$type<(typeof fileKinds)[number]>().notNull(),
    /** Media type. */
    type: text('type').notNull(),
    bytes: integer('bytes').notNull(),
    sha256: text('sha256').notNull(),
    wordsSha256: text('words_sha256'),
    /** How many words were read out of it; null where none were looked for yet. */
    words: integer('words'),
    /** Of a PDF; null where it is encrypted. */
    pages: integer('pages'),
    /** How long a sound or a film lasts, in milliseconds. */
    lastsMs: integer('lasts_ms'),
    created: time('created').notNull(),
    /** When it is no more; null where it stays until it is deleted. */
    expires: time('expires'),
  },
  (t) => [
    index('gateway_files_account').on(t.account, t.created, t.id),
    index('gateway_files_expires').on(t.expires),
    index('gateway_files_sha256').on(t.sha256),
    index('gateway_files_words_sha256').on(t.wordsSha256),
  ],
)
