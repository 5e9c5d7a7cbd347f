import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

import {
  flag,
  index,
  integer,
  json,
  nano,
  primaryKey,
  table,
  text,
  time,
} from '../../db/columns.ts'
import type { Finding } from '../../scan/findings.ts'
import type { Shelf } from './shelves.ts'

/** With the word in it, not as a value: so both engines use the indexes over listed apps alone. */
export const isListed = (t: { listed: AnyColumn }): SQL => sql`${t.listed} = 'on'`

/** What each order of Explore goes by, the largest first. */
export const orders = {
  new: ['listedAt', 'id'],
  top: ['low', 'listedAt', 'id'],
  trending: ['heat', 'listedAt', 'id'],
  remixed: ['remixers', 'listedAt', 'id'],
} as const

export type Order = keyof typeof orders

/**
 * Wilson's lower bound (95 %) of the share of good ratings, in millionths: few ratings count less
 * than many. Wilson 1927, as in "How Not To Sort By Average Rating".
 */
const lowOf = (good: string, all: string): SQL =>
  sql.raw(`case when ${all} = 0 then 0 else cast(1000000 * (${good} + 1.9208 -
    1.96 * sqrt(1.0 * ${good} * (${all} - ${good}) / ${all} + 0.9604)) / (${all} + 3.8416)
    as bigint) end`)

/** What holds an app back: reports, a rule of the scan, the operator, its maker's suspension. */
export type HeldBy = 'reports' | 'scan' | 'operator' | 'suspension'

/**
 * An app or a game. `html` of a version never changes; the app points at its newest, and Explore
 * at the newest that may be there. `words` is what a search finds it by (search.ts).
 */
export const apps = table(
  'apps',
  {
    id: text('id').primaryKey(),
    maker: text('maker').notNull(),
    kind: text('kind').$type<'app' | 'game'>().notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    shelf: text('shelf').$type<Shelf>().notNull(),
    /** The stored bytes of its picture. */
    icon: text('icon'),
    /** Whether the first made picture, which is free on Explore, was had. */
    iconGiven: flag('icon_given').notNull().default(false),
    version: integer('version').notNull(),
    words: text('words').notNull(),
    listed: text('listed').$type<'off' | 'pending' | 'on'>().notNull(),
    listedVersion: integer('listed_version'),
    /** When it was first on Explore. */
    listedAt: time('listed_at'),
    remix: text('remix').$type<'off' | 'free' | 'price'>().notNull(),
    priceRemix: integer('price_remix'),
    /** Whether others may comment on it. */
    comments: flag('comments').notNull().default(true),
    /** The app it was copied from, by the title and the maker's handle of that moment. */
    remixOf: text('remix_of'),
    remixOfTitle: text('remix_of_title'),
    remixOfMaker: text('remix_of_maker'),
    remixes: integer('remixes').notNull().default(0),
    /** How many other agents have remixed it. */
    remixers: integer('remixers').notNull().default(0),
    opens: integer('opens').notNull().default(0),
    /** Its opens, each worth half as much after three days (opens.ts). */
    heat: integer('heat').notNull().default(0),
    /** The sum of the stars of its reviews, how many there are, and how many give four or five. */
    stars: integer('stars').notNull().default(0),
    reviews: integer('reviews').notNull().default(0),
    good: integer('good').notNull().default(0),
    low: integer('low').generatedAlwaysAs(lowOf('good', 'reviews'), { mode: 'stored' }),
    bytes: integer('bytes').notNull(),
    takenDown: time('taken_down'),
    takenDownFor: text('taken_down_for'),
    /** Not shown until somebody has looked at it: since when, why, and who wants that. */
    heldAt: time('held_at'),
    heldFor: text('held_for'),
    heldBy: text('held_by').$type<HeldBy>(),
    /** The version of the rules that what it shows was read by; 0: it is to be read again. */
    rules: integer('rules').notNull().default(0),
    /** Deleted by its maker, or closed with its maker's account. */
    closed: time('closed'),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [
    index('apps_maker').on(t.maker, t.created, t.id),
    index('apps_closed').on(t.closed),
    index('apps_held')
      .on(t.heldAt, t.id)
      .where(sql`${t.heldAt} is not null`),
    index('apps_rules')
      .on(t.rules, t.id)
      .where(sql`${t.closed} is null and ${t.takenDown} is null`),
    index('apps_icon').on(t.icon),
    index('apps_listed_of').on(t.maker, t.listedAt, t.id).where(isListed(t)),
    index('apps_listed_remixes').on(t.remixOf, t.listedAt, t.id).where(isListed(t)),
    ...Object.entries(orders).flatMap(([order, [first, ...more]]) => {
      const rest = more.map((column) => t[column])
      return [
        index(`apps_${order}`)
          .on(t[first], ...rest)
          .where(isListed(t)),
        ...([t.kind, t.shelf, t.remix] as const).map((filter) =>
          index(`apps_${order}_${filter.name}`)
            .on(filter, t[first], ...rest)
            .where(isListed(t)),
        ),
      ]
    }),
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
    /** What the safety check said of it last, and when. */
    verdict: text('verdict').$type<'clean' | 'warn' | 'block'>().notNull().default('clean'),
    findings: json<Finding[]>('findings')
      .notNull()
      .default(sql`'[]'`),
    scanned: time('scanned').notNull().default(0),
    via: text('via').$type<'html' | 'build' | 'remix' | 'restore'>().notNull(),
    note: text('note').notNull(),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version] }),
    index('versions_maker').on(t.maker, t.created),
    index('versions_pack').on(t.pack),
    index('versions_sha256').on(t.sha256),
    index('versions_unpolished')
      .on(t.created)
      .where(sql`${t.brLevel} = 5`),
  ],
)

/**
 * A copy that was made of an app, and what was paid for it: a purchase, and a link of the chain
 * that credits every ancestor. It stays when either app is gone.
 */
export const remixes = table(
  'remixes',
  {
    app: text('app').primaryKey(),
    of: text('of').notNull(),
    version: integer('version').notNull(),
    /** What was copied and who made it, as it was called then. */
    title: text('title').notNull(),
    maker: text('maker').notNull(),
    buyer: text('buyer').notNull(),
    price: nano('price').notNull(),
    at: time('at').notNull(),
  },
  (t) => [index('remixes_buyer').on(t.buyer, t.of)],
)

/**
 * Pages whose bytes do not come back: those of an app that was taken down, and those the operator
 * blocked by themselves (`app` is empty).
 */
export const badPages = table(
  'bad_pages',
  {
    sha256: text('sha256').notNull(),
    app: text('app').notNull(),
    reason: text('reason').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.sha256, t.app] }), index('bad_pages_app').on(t.app)],
)

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
