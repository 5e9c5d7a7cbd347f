import { index, integer, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** Kinds of assets: those detected by content, other files of a folder, and generated ones. */
export const assetKinds = ['picture', 'sound', 'json', 'file', 'sprite', 'voice', 'music'] as const

/**
 * Files of a version: assets, and the files of its folder by their paths. Only the newest version
 * changes. Rows may share stored bytes.
 */
export const assets = table(
  'assets',
  {
    app: text('app').notNull(),
    version: integer('version').notNull(),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    type: text('type').notNull(),
    kind: text('kind').$type<(typeof assetKinds)[number]>().notNull(),
    bytes: integer('bytes').notNull(),
    /** SHA-256 of the compressed bytes; null where they are not smaller. */
    br: text('br'),
    zstd: text('zstd'),
    width: integer('width'),
    height: integer('height'),
    lastsMs: integer('lasts_ms'),
    what: text('what'),
    seed: integer('seed'),
    /** `upload`, `embedded`, or the id of the model. */
    maker: text('maker').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version, t.name] }),
    index('assets_sha256').on(t.sha256, t.app),
    index('assets_br').on(t.br),
    index('assets_zstd').on(t.zstd),
  ],
)
