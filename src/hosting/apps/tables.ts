import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

import { index, integer, primaryKey, table, text, time } from '../../db/columns.ts'
import type { Shelf } from './shelves.ts'

/** With the word in it, not as a value: so both engines use the indexes over listed apps alone. */
export const isListed = (t: { listed: AnyColumn }): SQL => sql`${t.listed} = 'on'`

/** An app or a game. `html` of a version never changes; the app points at its newest. */
export const apps = table(
  'apps',
  {
    id: text('id').primaryKey(),
    maker: text('maker').notNull(),
    kind: text('kind').$type<'app' | 'game'>().notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    shelf: text('shelf').$type<Shelf>().notNull(),
    icon: text('icon'),
    version: integer('version').notNull(),
    listed: text('listed').$type<'off' | 'pending' | 'on'>().notNull(),
    remix: text('remix').$type<'off' | 'free' | 'price'>().notNull(),
    priceRemix: integer('price_remix'),
    remixOf: text('remix_of'),
    remixes: integer('remixes').notNull().default(0),
    opens: integer('opens').notNull().default(0),
    stars: integer('stars').notNull().default(0),
    reviews: integer('reviews').notNull().default(0),
    bytes: integer('bytes').notNull(),
    takenDown: time('taken_down'),
    takenDownFor: text('taken_down_for'),
    /** Deleted by its maker, or closed with its maker's account. */
    closed: time('closed'),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [
    index('apps_maker').on(t.maker, t.created, t.id),
    index('apps_listed').on(t.created, t.id).where(isListed(t)),
    index('apps_listed_of').on(t.maker, t.created, t.id).where(isListed(t)),
    index('apps_closed').on(t.closed),
  ],
)

/**
 * A version of an app. `pack` names the stored bytes: the html as it came, then its gzip and
 * brotli variants, whose lengths stand here (0: there is none).
 */
export const versions = table(
  'versions',
  {
    app: text('app').notNull(),
    version: integer('version').notNull(),
    maker: text('maker').notNull(),
    sha256: text('sha256').notNull(),
    pack: text('pack').notNull(),
    htmlBytes: integer('html_bytes').notNull(),
    gzipBytes: integer('gzip_bytes').notNull(),
    brBytes: integer('br_bytes').notNull(),
    /** The effort brotli took: 5 at publish, 11 once polished. */
    brLevel: integer('br_level').notNull().default(5),
    /** The page's own list of the assets it wants, as JSON. */
    asks: text('asks').notNull(),
    via: text('via').$type<'html' | 'build' | 'remix' | 'restore'>().notNull(),
    note: text('note').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version] }),
    index('versions_maker').on(t.maker, t.created),
    index('versions_pack').on(t.pack),
    index('versions_unpolished')
      .on(t.created)
      .where(sql`${t.brLevel} = 5`),
  ],
)

/** Pages that were taken down: the same bytes do not come back. */
export const badPages = table('bad_pages', {
  sha256: text('sha256').primaryKey(),
  reason: text('reason').notNull(),
  at: time('at').notNull(),
})

/** One row per app, day and visitor: reloading a page does not count twice. */
export const opens = table(
  'opens',
  {
    app: text('app').notNull(),
    day: text('day').notNull(),
    visitor: text('visitor').notNull(),
  },
  (t) => [primaryKey({ columns: [t.app, t.day, t.visitor] }), index('opens_day').on(t.day)],
)

/** What people told the operator about an app; `from` is a keyed hash of their address. */
export const reports = table(
  'reports',
  {
    id: text('id').primaryKey(),
    app: text('app').notNull(),
    reason: text('reason').notNull(),
    text: text('text').notNull(),
    from: text('sender').notNull(),
    at: time('at').notNull(),
  },
  (t) => [index('reports_sender').on(t.from, t.at), index('reports_at').on(t.at)],
)
