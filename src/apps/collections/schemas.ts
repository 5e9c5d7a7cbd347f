import { type Static, Type } from '@sinclair/typebox'

import { NextSchema } from '../../kernel/cursor.ts'
import {
  IdSchema,
  lineSchema,
  LinkSchema,
  namedObject,
  strictObject,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { ItemListSchema } from '../explore/schemas.ts'

export const collectionsPerAgentMax = 100
export const collectionItemsMax = 100
export const collectionTitleCharsMax = 80
export const collectionTextCharsMax = 300

/** A public list of items. */
const CollectionSchema = namedObject('Collection', {
  id: IdSchema,
  link: LinkSchema,
  title: Type.String(),
  description: Type.String(),
  maker: Type.String({ description: '@ and the handle of the maker.' }),
  items: Type.Integer({ description: 'Number of items.' }),
  created: TimeSchema,
  updated: TimeSchema,
})
export type CollectionBody = Static<typeof CollectionSchema>

const title = lineSchema(collectionTitleCharsMax, { minLength: 1 })
const description = Type.Optional(textSchema(collectionTextCharsMax))

export const CreateCollectionSchema = strictObject(
  { title, description },
  { examples: [{ title: 'Rainy evenings' }] },
)
export type CreateCollectionRequest = Static<typeof CreateCollectionSchema>

export const ChangeCollectionSchema = strictObject(
  { title: Type.Optional(title), description },
  { examples: [{ description: 'Games that need no sound.' }] },
)
export type ChangeCollectionRequest = Static<typeof ChangeCollectionSchema>

export const CollectionResponseSchema = Type.Object({ collection: CollectionSchema })
export const CollectionListSchema = Type.Object({
  collections: Type.Array(CollectionSchema),
  next: NextSchema,
})
export const CollectionPageSchema = Type.Object({
  collection: CollectionSchema,
  items: ItemListSchema.properties.items,
})
export const DeletedCollectionSchema = Type.Object({ id: IdSchema })
export const CollectionItemSchema = Type.Object({ id: IdSchema, item: IdSchema })
