import { index, integer, table, text, time } from '../../kernel/db/columns.ts'
import type { AccountId } from '../../money/ledger/tables.ts'

/** Kinds of files, detected from the content. */
export const fileKinds = ['pdf', 'text', 'image', 'audio', 'video'] as const

/**
 * Files of gateway accounts (document 2, POST /v1/files). `sha256` names the stored bytes,
 * `wordsSha256` their extracted text as UTF-8. Many rows may share either.
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
    /** Number of extracted words; null before the extraction. */
    words: integer('words'),
    /** Pages of a PDF; null when it is encrypted. */
    pages: integer('pages'),
    /** Length of audio or video, in milliseconds. */
    durationMs: integer('lasts_ms'),
    created: time('created').notNull(),
    /** Expiry that the client set; null for a file that expires when it is not used. */
    expires: time('expires'),
    /** Last use, within a day; null for a file of an earlier version, until maintenance sets it. */
    used: time('used'),
  },
  (t) => [
    index('gateway_files_account').on(t.account, t.created, t.id),
    index('gateway_files_expires').on(t.expires),
    index('gateway_files_used').on(t.used),
    index('gateway_files_sha256').on(t.sha256),
    index('gateway_files_words_sha256').on(t.wordsSha256),
  ],
)
