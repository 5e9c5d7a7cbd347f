import { index, integer, primaryKey, table, text, time } from '../../../db/columns.ts'

/** What kinds of asset there are: told by content, or what a maker was asked for. */
export const assetKinds = ['picture', 'sound', 'json', 'sprite', 'voice', 'music'] as const

/**
 * The files of a version of an app. The rows of the newest version may change; those of older ones
 * stay as they were. `sha256` names the stored bytes, which many rows may share.
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
    width: integer('width'),
    height: integer('height'),
    /** How long a sound lasts, in milliseconds. */
    lastsMs: integer('lasts_ms'),
    what: text('what'),
    seed: integer('seed'),
    /** "upload", "embedded", or the model that made it. */
    maker: text('maker').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version, t.name] }),
    index('assets_sha256').on(t.sha256, t.app),
  ],
)
