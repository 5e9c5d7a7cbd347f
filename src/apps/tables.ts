import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

import {
  check,
  flag,
  index,
  integer,
  json,
  nano,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../kernel/db/columns.ts'
import type { ContentFinding } from './content-scan.ts'
import type { Folder } from './folders/folder.ts'
import type { Audience, Kind, Shelf } from './kinds.ts'
import type { PageLibraries } from './libraries/library.ts'
import type { PageUses } from './uses/uses.ts'

/** A literal lets both engines use the partial indexes over listed apps. */
export const isListed = (t: { listed: AnyColumn }): SQL => sql`${t.listed} = 'on'`

type CaptureColumn = 'coverVersion' | 'version' | 'name' | 'closed' | 'takenDown'

/** Apps, not packs, whose newest version has not been captured, as in the partial index. */
export const needsCapture = (t: Record<CaptureColumn, AnyColumn>): SQL =>
  sql`${t.coverVersion} < ${t.version} and ${t.name} is null and ${t.closed} is null and ${t.takenDown} is null`

/** Cover images: SHA-256 of the two sizes, and the mean color as #rrggbb. */
const coverImages = {
  cover: text('cover'),
  coverSmall: text('cover_small'),
  coverColor: text('cover_color'),
}

/** Sort columns of each order of Explore, descending. */
export const orders = {
  new: ['listedAt', 'id'],
  top: ['ratingLowerBound', 'listedAt', 'id'],
  trending: ['heat', 'listedAt', 'id'],
  remixed: ['remixers', 'listedAt', 'id'],
  record: ['successLow', 'listedAt', 'id'],
  played: ['opens', 'listedAt', 'id'],
} as const

export type Order = keyof typeof orders

/**
 * Returns Wilson's lower bound (95 %) of the share of good ratings, in millionths: few ratings
 * count less than many. Wilson 1927, as in "How Not To Sort By Average Rating".
 */
const lowOf = (good: string, all: string): SQL =>
  sql.raw(`case when ${all} = 0 then 0 else cast(1000000 * (${good} + 1.9208 -
    1.96 * sqrt(1.0 * ${good} * (${all} - ${good}) / ${all} + 0.9604)) / (${all} + 3.8416)
    as bigint) end`)

/** Source of a quarantine: reports, a scan rule, the operator, or the suspension of the maker. */
export type QuarantineSource = 'reports' | 'scan' | 'operator' | 'suspension'

/**
 * An item: an app, game, skill or framework. `version` is the newest and `listedVersion` the one
 * on Explore (docs/decisions/0067).
 */
export const apps = table(
  'apps',
  {
    id: text('id').primaryKey(),
    maker: text('maker').notNull(),
    kind: text('kind').$type<Kind>().notNull(),
    /** Name of a skill or framework, unique per maker. */
    name: text('name'),
    title: text('title').notNull(),
    description: text('description').notNull(),
    shelf: text('shelf').$type<Shelf>().notNull(),
    icon: text('icon'),
    /** The free generated icon has been used. */
    iconGiven: flag('icon_given').notNull().default(false),
    ...coverImages,
    /** The maker uploaded the cover, so that no capture replaces it. */
    coverGiven: flag('cover_given').notNull().default(false),
    /** Newest version when the last capture ended. A lower number requests a capture. */
    coverVersion: integer('cover_version').notNull().default(0),
    version: integer('version').notNull(),
    words: text('words').notNull(),
    listed: text('listed').$type<'off' | 'pending' | 'on'>().notNull(),
    listedVersion: integer('listed_version'),
    /** Time of the first listing on Explore. */
    listedAt: time('listed_at'),
    remix: text('remix').$type<'off' | 'free' | 'price'>().notNull(),
    priceRemix: integer('price_remix'),
    comments: flag('comments').notNull().default(true),
    /** Open pages take a new version at once. */
    live: flag('live').notNull().default(false),
    /** Other sites may show it in a frame, where the operator allows that. */
    embeds: flag('embeds').notNull().default(true),
    /** Percent that the maker adds to what players pay for models. */
    aiMargin: integer('ai_margin').notNull().default(0),
    /** Origin of a remix, with the title and maker handle at that time. */
    remixOf: text('remix_of'),
    remixOfTitle: text('remix_of_title'),
    remixOfMaker: text('remix_of_maker'),
    remixes: integer('remixes').notNull().default(0),
    /** Number of other agents that remixed it. */
    remixers: integer('remixers').notNull().default(0),
    opens: integer('opens').notNull().default(0),
    /** Opens with exponential decay, half-life three days (opens.ts). */
    heat: integer('heat').notNull().default(0),
    /** Sum of the stars of its reviews, number of reviews, and number with four or five stars. */
    stars: integer('stars').notNull().default(0),
    reviews: integer('reviews').notNull().default(0),
    good: integer('good').notNull().default(0),
    ratingLowerBound: integer('low').generatedAlwaysAs(lowOf('good', 'reviews'), {
      mode: 'stored',
    }),
    /** Lower bound of the success rate of a pack's runs, in millionths. */
    successLow: integer('success_low').notNull().default(0),
    bytes: integer('bytes').notNull(),
    /** Says who may open it (audience/access.ts), until `expires`. */
    audience: text('audience').$type<Audience>().notNull().default('public'),
    expires: time('expires'),
    /** An argon2id hash, for the audience `password`. */
    password: text('password'),
    /** Number of changes of who may open it. */
    access: integer('access').notNull().default(0),
    takenDown: time('taken_down'),
    takedownReason: text('taken_down_for'),
    /** Quarantine: since when, why, and its source. */
    quarantinedAt: time('held_at'),
    quarantineReason: text('held_for'),
    quarantinedBy: text('held_by').$type<QuarantineSource>(),
    /** Version of the rules that scanned the visible pages; 0 requests a rescan. */
    rules: integer('rules').notNull().default(0),
    /** Time of the deletion, or of the closing of the account. */
    closed: time('closed'),
    created: time('created').notNull(),
    updated: time('updated').notNull(),
  },
  (t) => [
    index('apps_maker').on(t.maker, t.created, t.id),
    index('apps_closed').on(t.closed),
    index('apps_held')
      .on(t.quarantinedAt, t.id)
      .where(sql`${t.quarantinedAt} is not null`),
    index('apps_rules')
      .on(t.rules, t.id)
      .where(sql`${t.closed} is null and ${t.takenDown} is null`),
    index('apps_icon').on(t.icon),
    index('apps_cover').on(t.cover),
    index('apps_cover_small').on(t.coverSmall),
    index('apps_uncaptured').on(t.updated, t.id).where(needsCapture(t)),
    uniqueIndex('apps_name')
      .on(t.maker, t.name)
      .where(sql`${t.name} is not null and ${t.closed} is null`),
    index('apps_listed_names')
      .on(t.name, t.successLow, t.listedAt, t.id)
      .where(sql`${t.name} is not null and ${isListed(t)}`),
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
 * A version of an item. `pack` holds its content and the gzip and brotli variants (length 0: none).
 * The content of an app is its HTML, that of a skill or framework a tar archive of its folder.
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
    /** Brotli level: 5 at publish, 11 after recompression. */
    brLevel: integer('br_level').notNull().default(5),
    asks: text('asks').notNull(),
    /** The folder of a skill or framework; null for an app. */
    folder: json<Folder>('folder'),
    /** Name of the page in the folder that it came in; null for one that came alone. */
    page: text('page'),
    /** Library files of the page; null when it names none, or was published before they existed. */
    libraries: json<PageLibraries>('libraries'),
    /** The uses of `service`; null for one that was published before it existed. */
    uses: json<PageUses>('uses'),
    verdict: text('verdict').$type<'clean' | 'warn' | 'block'>().notNull().default('clean'),
    findings: json<ContentFinding[]>('findings')
      .notNull()
      .default(sql`'[]'`),
    scanned: time('scanned').notNull().default(0),
    via: text('via').$type<'html' | 'files' | 'build' | 'remix' | 'restore'>().notNull(),
    note: text('note').notNull(),
    ...coverImages,
    /** Bytes of the cover that count as stored; 0 for one of another version. */
    coverBytes: integer('cover_bytes').notNull().default(0),
    /** Time at which Explore first showed it; null where it never did, as far as is known. */
    shown: time('shown'),
    created: time('created').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version] }),
    index('versions_cover').on(t.cover),
    index('versions_cover_small').on(t.coverSmall),
    index('versions_maker').on(t.maker, t.created),
    index('versions_pack').on(t.pack),
    index('versions_sha256').on(t.sha256),
    index('versions_unpolished')
      .on(t.created)
      .where(sql`${t.brLevel} = 5`),
  ],
)

/** A remix and its price. The row stays when either app is deleted. */
export const remixes = table(
  'remixes',
  {
    app: text('app').primaryKey(),
    of: text('of').notNull(),
    version: integer('version').notNull(),
    /** Title and maker of the original at that time. */
    title: text('title').notNull(),
    maker: text('maker').notNull(),
    buyer: text('buyer').notNull(),
    price: nano('price').notNull(),
    at: time('at').notNull(),
  },
  (t) => [index('remixes_buyer').on(t.buyer, t.of)],
)

/** Blocked pages, by a takedown or by the operator (`app` is empty). */
export const blockedPages = table(
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

/** Free credits of all agents that paid for builds on one UTC day, settled and held. */
export const freeDays = table(
  'free_days',
  { day: text('day').primaryKey(), used: nano('used').notNull() },
  (t) => [check('free_days_used', sql`${t.used} >= 0`)],
)
