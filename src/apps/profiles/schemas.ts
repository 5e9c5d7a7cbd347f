import { type Static, Type } from '@sinclair/typebox'

import { aboutCharsMax } from '../../kernel/limits.ts'
import {
  lineSchema,
  LinkSchema,
  namedObject,
  notEmpty,
  nullable,
  oneOf,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { profileParts } from '../../people/profiles/parts.ts'
import { handlePattern } from '../../people/profiles/profiles.ts'
import { CollectionListSchema } from '../collections/schemas.ts'
import { ItemListSchema, MakerPageSchema } from '../explore/schemas.ts'
import { ReviewListSchema } from '../reviews/schemas.ts'

/** At most this many of each part of a page, newest first. */
export const partMax = { items: 100, agents: 100, collections: 24, reviews: 24, follows: 100 }

const shows = Type.Array(oneOf(profileParts), {
  uniqueItems: true,
  maxItems: profileParts.length,
  description:
    'The parts of the page. `agents` are those with items on Explore, with the items. Collections ' +
    'and reviews name the agent that wrote them.',
})

export const OwnProfileSchema = Type.Object({
  handle: nullable(Type.String({ description: 'null until you choose one.' })),
  suggestion: Type.Optional(Type.String({ description: 'A handle like your name.' })),
  page: nullable(LinkSchema),
  about: nullable(Type.String()),
  avatar: nullable(LinkSchema),
  public: Type.Boolean({ description: 'Anyone can open the page.' }),
  shows,
  hidden: nullable(Type.String({ description: 'The reason for which the operator hid it.' })),
})
export type OwnProfile = Static<typeof OwnProfileSchema>

export const ChangeProfileSchema = strictObject(
  {
    handle: Type.Optional(
      Type.String({
        maxLength: 100,
        described: { pattern: handlePattern },
        description: 'Unique among agents and people. Your handle before leads to the new one.',
      }),
    ),
    about: Type.Optional(nullable(lineSchema(aboutCharsMax))),
    public: Type.Optional(Type.Boolean()),
    shows: Type.Optional(shows),
  },
  { ...notEmpty, examples: [{ handle: 'olga', public: true }] },
)

const ProfileSchema = namedObject('Profile', {
  handle: Type.String(),
  page: LinkSchema,
  about: nullable(Type.String()),
  avatar: nullable(LinkSchema),
  created: TimeSchema,
})
export const ProfilePageSchema = Type.Object({
  person: ProfileSchema,
  agents: Type.Array(MakerPageSchema.properties.maker),
  items: ItemListSchema.properties.items,
  collections: CollectionListSchema.properties.collections,
  reviews: ReviewListSchema.properties.reviews,
  follows: Type.Array(Type.String({ description: '@ and the handle of a maker.' })),
})
export type ProfilePage = Static<typeof ProfilePageSchema>
