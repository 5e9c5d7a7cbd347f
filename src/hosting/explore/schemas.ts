import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../core/list-query.ts'
import { Id, Link, Media, oneOf, orNull, Time } from '../../core/schema.ts'
import { App, MaxCredits, Origin, Rating, Ref } from '../apps/schemas.ts'
import { shelfNames } from '../apps/shelves.ts'
import { Asset } from '../apps/assets/schemas.ts'
import { Version } from '../apps/versions/schemas.ts'

const kinds = ['app', 'game', 'skill', 'framework'] as const
const sorts = ['new', 'top', 'trending', 'remixed'] as const

/** What stands on Explore, as anyone may read it. */
const Item = Type.Object(
  {
    id: Id,
    link: Link,
    kind: oneOf(kinds),
    title: Type.String(),
    description: Type.String(),
    shelf: oneOf(shelfNames),
    icon: orNull(Type.String()),
    maker: Type.String({ description: '@ and the handle of its maker.' }),
    version: Type.Integer({ description: 'The version on Explore.' }),
    remix: oneOf(['off', 'free', 'price']),
    priceRemix: orNull(Type.Integer()),
    remixOf: orNull(Origin),
    remixes: Type.Integer(),
    opens: Type.Integer(),
    rating: Rating,
    published: Type.String({ format: 'date-time', description: 'When it first came to Explore.' }),
    created: Time,
    updated: Time,
  },
  { title: 'Item' },
)
export type ItemShape = Static<typeof Item>

/** What a page shows of an item among others. */
export type TileShape = Pick<
  ItemShape,
  | ('id' | 'kind' | 'title' | 'shelf' | 'icon' | 'maker')
  | ('remix' | 'priceRemix' | 'opens' | 'rating')
>

const filters = {
  kind: Type.Optional(oneOf(kinds)),
  shelf: Type.Optional(oneOf(shelfNames)),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Words to search for.' })),
  maker: Type.Optional(Type.String({ maxLength: 31, description: 'A handle, with or without @.' })),
  price: Type.Optional(oneOf(['free', 'paid'])),
  sort: Type.Optional(oneOf(sorts)),
}

/** GET /explore. */
export const Wanted = Type.Object({ ...ListQuery.properties, ...filters })
export type WantedShape = Static<typeof Wanted>

/** The feeds: the same without pages. */
export const FeedWanted = Type.Object(filters)
export type FeedWantedShape = Static<typeof FeedWanted>

/** GET /explore/@{handle}. */
export const MakerWanted = Type.Object({
  ...ListQuery.properties,
  kind: filters.kind,
  sort: filters.sort,
})

const next = orNull(Type.String())
export const ItemList = Type.Object({ items: Type.Array(Item), next })

export const ItemPage = Type.Object({
  item: Item,
  versions: Type.Array(Version, { description: 'Up to the one on Explore, newest first.' }),
  remixes: Type.Array(Item, { description: 'Those on Explore themselves, newest first.' }),
  lineage: Type.Array(Origin, { description: 'What it was copied from, to the root.' }),
  rating: Rating,
})
export type ItemPageShape = Static<typeof ItemPage>

const Maker = Type.Object(
  { handle: Type.String(), about: orNull(Type.String()), page: Link, created: Time },
  { title: 'Maker' },
)
export const MakerPage = Type.Object({ maker: Maker, items: Type.Array(Item), next })
export type MakerPageShape = Static<typeof MakerPage>

export const ShelfList = Type.Object({
  shelves: Type.Array(Type.Object({ name: oneOf(shelfNames), glyph: Type.String() })),
})

export const Source = Type.Object({
  id: Id,
  version: Type.Integer(),
  html: Type.String(),
  assets: Type.Array(Asset),
})
export type SourceShape = Static<typeof Source>

export const Atom = Media('application/atom+xml', { description: 'RFC 4287.' })
export const JsonFeed = Type.Unsafe<Response>(
  Type.Object(
    { version: Type.String(), title: Type.String(), items: Type.Array(Type.Object({ id: Link })) },
    { contentMediaType: 'application/feed+json', description: 'JSON Feed 1.1.' },
  ),
)

/** POST /apps/{id}/remix (document 1, operation 12). */
export const RemixWanted = Type.Object(
  {
    maxCredits: Type.Optional(MaxCredits),
    ref: Type.Optional(Ref),
  },
  { additionalProperties: false, examples: [{ maxCredits: 50 }] },
)
export type RemixWantedShape = Static<typeof RemixWanted>

const Purchase = Type.Object(
  {
    item: Id,
    version: Type.Integer({ description: 'The version that was copied.' }),
    title: Type.String(),
    maker: Type.String(),
    credits: Type.Number({ description: 'What was paid; 0 for a free one.' }),
    makerCredits: Type.Number({ description: 'The part of it that the maker got.' }),
    ref: orNull(Type.String()),
    at: Time,
  },
  { title: 'Purchase' },
)

/** What is remembered of a remix; its html is read back from the copy. */
export const Bought = Type.Object({ app: App, bought: Purchase, note: Type.String() })
export type BoughtShape = Static<typeof Bought>
export const Remixed = Type.Object({ ...Bought.properties, html: Type.String() })
export type RemixedShape = Static<typeof Remixed>
