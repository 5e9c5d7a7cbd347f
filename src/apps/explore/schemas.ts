import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { ListQuery } from '../../kernel/http/list-query.ts'
import {
  IdSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'
import { AssetSchema } from '../assets/schemas.ts'
import { CoverSchema, ScreenshotSchema } from '../covers/schemas.ts'
import { kinds, shelfNames } from '../kinds.ts'
import { OriginSchema, RatingSchema } from '../schemas.ts'
import { UseSchema } from '../uses/uses.ts'
import { VersionSchema } from '../versions/schemas.ts'

const sorts = ['new', 'top', 'trending', 'remixed', 'record', 'played'] as const

const ItemSchema = namedObject('Item', {
  id: IdSchema,
  link: LinkSchema,
  kind: oneOf(kinds),
  name: Type.Optional(Type.String({ description: 'Name of a skill or framework.' })),
  title: Type.String(),
  description: Type.String(),
  shelf: oneOf(shelfNames),
  icon: nullable(Type.String()),
  cover: nullable(CoverSchema),
  maker: Type.String({ description: '@ and the handle of the maker.' }),
  version: Type.Integer({ description: 'The version on Explore.' }),
  remix: oneOf(['off', 'free', 'price']),
  priceRemix: nullable(Type.Integer()),
  remixOf: nullable(OriginSchema),
  remixes: Type.Integer(),
  remixers: Type.Integer({ description: 'Agents that remixed it; the order `remixed`.' }),
  opens: Type.Integer({ description: 'The order `played`.' }),
  embeds: Type.Boolean({ description: 'Other sites may show it in a frame.' }),
  uses: Type.Array(UseSchema, {
    description: 'What the version on Explore uses of `service`, such as AI models.',
  }),
  heat: Type.Integer({
    description:
      'The order `trending`: the logarithm of its opens, where newer ones count more. It is a ' +
      'million higher for twice as many.',
  }),
  rating: RatingSchema,
  ratingLow: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "Lower bound of Wilson's 95 % interval of good ratings; the order `top`.",
  }),
  record: Type.Optional(
    Type.Object(
      { successLow: Type.Number({ minimum: 0, maximum: 1 }) },
      { description: 'Of a pack: the order `record`. See GET /packs/{id}/record.' },
    ),
  ),
  published: Type.String({
    format: 'date-time',
    description: 'Time of the first listing; the order `new`.',
  }),
  created: TimeSchema,
  updated: TimeSchema,
})
export type Item = Static<typeof ItemSchema>

/** An item as a tile of a web page. */
export type Tile = Pick<
  Item,
  | ('id' | 'kind' | 'title' | 'shelf' | 'icon' | 'cover' | 'maker')
  | ('remix' | 'priceRemix' | 'remixes' | 'opens' | 'rating')
>

const filters = {
  kind: Type.Optional(oneOf(kinds)),
  shelf: Type.Optional(oneOf(shelfNames)),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Search words.' })),
  maker: Type.Optional(Type.String({ maxLength: 31, description: 'A handle, with or without @.' })),
  price: Type.Optional(oneOf(['free', 'paid'])),
  uses: Type.Optional(UseSchema),
  sort: Type.Optional(oneOf(sorts)),
}

/** GET /explore. */
export const ExploreQuerySchema = Type.Object({ ...ListQuery.properties, ...filters })
export type ExploreQuery = Static<typeof ExploreQuerySchema>

/** Query of the feeds, without paging. */
export const FeedQuerySchema = Type.Object(filters)
export type FeedQuery = Static<typeof FeedQuerySchema>

/** GET /explore/@{handle}. */
export const MakerQuerySchema = Type.Object({
  ...ListQuery.properties,
  kind: filters.kind,
  sort: filters.sort,
})

const next = nullable(Type.String())
export const ItemListSchema = Type.Object({ items: Type.Array(ItemSchema), next })

export const ItemPageSchema = Type.Object({
  item: ItemSchema,
  screenshots: Type.Array(ScreenshotSchema),
  versions: Type.Array(VersionSchema, {
    description: 'Versions up to the one on Explore, newest first.',
  }),
  remixes: Type.Array(ItemSchema, { description: 'Remixes that are on Explore, newest first.' }),
  lineage: Type.Array(OriginSchema, { description: 'Ancestors of the remix, the root last.' }),
  rating: RatingSchema,
  uses: Type.Array(UseSchema, {
    description: 'What the version on Explore uses of `service`, such as AI models.',
  }),
})
export type ItemPage = Static<typeof ItemPageSchema>

const MakerSchema = namedObject('Maker', {
  handle: Type.String(),
  about: nullable(Type.String()),
  page: LinkSchema,
  owner: nullable(
    Type.String({ description: '@ and the handle of the person who shows that they own it.' }),
  ),
  created: TimeSchema,
})
export const MakerPageSchema = Type.Object({
  maker: MakerSchema,
  items: Type.Array(ItemSchema),
  next,
})
export type MakerPage = Static<typeof MakerPageSchema>

/** Each entry compares two versions, so that pages are short. */
export const logPageMax = 10

/** GET /explore/{id}/log. */
export const LogQuerySchema = Type.Object({
  limit: Type.Optional(t.Numeric({ minimum: 1, maximum: logPageMax, multipleOf: 1 })),
  cursor: ListQuery.properties.cursor,
})
export type LogQuery = Static<typeof LogQuerySchema>

const LogEntrySchema = namedObject(
  'LogEntry',
  {
    ...VersionSchema.properties,
    changes: nullable(
      Type.Object({
        files: Type.Integer({ description: 'Files that differ from the version before.' }),
        added: nullable(Type.Integer({ description: 'Lines. null: not all files are text.' })),
        removed: nullable(Type.Integer({ description: 'Lines.' })),
      }),
    ),
    before: nullable(CoverSchema),
    after: nullable(CoverSchema),
  },
  {
    description:
      'A version. `changes` is null for the first version, for packs, and while the server is ' +
      'busy. `before` and `after` are covers that were captured from the version before and from ' +
      'this one, if Explore showed them.',
  },
)
export type LogEntry = Static<typeof LogEntrySchema>
export const LogSchema = Type.Object({ entries: Type.Array(LogEntrySchema), next })

const familyItem = {
  id: IdSchema,
  kind: oneOf(kinds),
  title: Type.String(),
  shelf: oneOf(shelfNames),
  icon: nullable(Type.String()),
  cover: nullable(CoverSchema),
  maker: Type.String({ description: '@ and the handle of the maker.' }),
}
const FamilyItemSchema = namedObject('FamilyItem', familyItem)
export type FamilyItem = Static<typeof FamilyItemSchema>

const AncestorSchema = namedObject(
  'Ancestor',
  {
    state: oneOf(['listed', 'unlisted', 'removed']),
    item: nullable(FamilyItemSchema),
  },
  { description: 'The item is null where Explore does not list it.' },
)
export type Ancestor = Static<typeof AncestorSchema>

const hasMore = Type.Boolean({ description: 'It has more remixes on Explore than are here.' })

/** GET /explore/{id}/family. */
export const FamilySchema = Type.Object({
  ancestors: Type.Array(AncestorSchema, {
    description: 'At most ten origins of the remix, the direct one last.',
  }),
  earlier: Type.Integer({ description: 'Older origins beyond those.' }),
  item: Type.Object({ ...familyItem, hasMore }),
  remixes: Type.Array(
    Type.Object({
      ...familyItem,
      of: IdSchema,
      level: Type.Integer({ minimum: 1, description: '1 for a remix of the item.' }),
      hasMore,
    }),
    { description: 'Remixes on Explore in three levels, at most 50, level by level.' },
  ),
})
export type Family = Static<typeof FamilySchema>

export const ShelfListSchema = Type.Object({
  shelves: Type.Array(Type.Object({ name: oneOf(shelfNames), glyph: Type.String() })),
})

export const SourceSchema = Type.Object({
  id: IdSchema,
  version: Type.Integer(),
  html: Type.String(),
  assets: Type.Array(AssetSchema),
})
export type Source = Static<typeof SourceSchema>

export const AtomSchema = mediaSchema('application/atom+xml', { description: 'RFC 4287.' })
export const JsonFeedSchema = Type.Unsafe<never>(
  Type.Object(
    {
      version: Type.String(),
      title: Type.String(),
      items: Type.Array(Type.Object({ id: LinkSchema })),
    },
    { contentMediaType: 'application/feed+json', description: 'JSON Feed 1.1.' },
  ),
)
