import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
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
import { iso } from '../../kernel/time.ts'
import { type Agent, findHandles, listOwnedAgents } from '../../people/agents/agents.ts'
import { anyone } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import * as people from '../../people/own-profile.ts'
import {
  changeAvatar,
  findPublicProfile,
  getOwnProfile as findOwnProfile,
} from '../../people/own-profile.ts'
import type { Person } from '../../people/people.ts'
import { type ProfilePart, profileParts } from '../../people/profiles/parts.ts'
import { handlePattern, type Profile } from '../../people/profiles/profiles.ts'
import { person } from '../../people/session-user.ts'
import {
  type Collection,
  CollectionListSchema,
  listCollections,
  presentCollections,
} from '../collections/collections.ts'
import { PutImageSchema } from '../covers/schemas.ts'
import { listItemsByIds, presentMaker } from '../explore/explore.ts'
import { listFollows } from '../explore/follows.ts'
import { ItemListSchema, MakerPageSchema } from '../explore/schemas.ts'
import { decodeDataUrl, toImage } from '../icon/icon-image.ts'
import { listNewestBy, type TileApp, tilesById } from '../listings.ts'
import { listReviewsBy, presentReviews, type Review, ReviewListSchema } from '../reviews/reviews.ts'

/** At most this many of each part of a page, newest first. */
const partMax = { items: 100, agents: 100, collections: 24, reviews: 24, follows: 100 }

const shows = Type.Array(oneOf(profileParts), {
  uniqueItems: true,
  maxItems: profileParts.length,
  description:
    'The parts of the page. `agents` are those with items on Explore, with the items. Collections ' +
    'and reviews name the agent that wrote them.',
})

const OwnProfileSchema = Type.Object({
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

const ChangeProfileSchema = strictObject(
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
const ProfilePageSchema = Type.Object({
  person: ProfileSchema,
  agents: Type.Array(MakerPageSchema.properties.maker),
  items: ItemListSchema.properties.items,
  collections: CollectionListSchema.properties.collections,
  reviews: ReviewListSchema.properties.reviews,
  follows: Type.Array(Type.String({ description: '@ and the handle of a maker.' })),
})
type ProfilePage = Static<typeof ProfilePageSchema>

/** Returns the public facts of a profile. */
export function presentProfile(ctx: AppContext, profile: Profile) {
  const { handle, about, avatar, created } = profile
  return {
    handle,
    page: `${ctx.urls.app}/@${handle}`,
    about,
    avatar: avatar === null ? null : `${ctx.urls.app}/avatars/${handle}-${avatar}.webp`,
    created: iso(created),
  }
}

/** Returns a profile as its person sees it. */
function presentOwnProfile(ctx: AppContext, profile: Profile): OwnProfile {
  const { created, ...facts } = presentProfile(ctx, profile)
  return { ...facts, public: profile.isPublic, shows: profile.shows, hidden: profile.hiddenFor }
}

/** Returns the profile of a person; without a handle, the suggestion for one. */
export async function readOwnProfile(ctx: AppContext, person: Person): Promise<OwnProfile> {
  const found = await findOwnProfile(ctx, person)
  if (!('suggestion' in found)) return presentOwnProfile(ctx, found)
  const { suggestion } = found
  return {
    handle: null,
    ...(suggestion && { suggestion }),
    page: null,
    about: null,
    avatar: null,
    public: false,
    shows: [],
    hidden: null,
  }
}

/** Side of a picture in pixels. Its WebP has at most some 40 KB. */
const side = 256
const quality = 80

/**
 * Sets the picture of a person to the middle square of an image, a data URL. Throws `bad_request`,
 * `bad_picture`, `too_big`, `try_again`.
 */
async function storeAvatar(ctx: AppContext, person: Person, image: string): Promise<OwnProfile> {
  ctx.storage.requireFreeSpace(0)
  const png = await toImage(ctx, decodeDataUrl(image), { width: side, height: side })
  const webp = await new Bun.Image(png).webp({ quality }).bytes()
  return presentOwnProfile(ctx, await changeAvatar(ctx, person, webp))
}

/** The page of a person; a part that they do not show is empty. */
export interface ShownProfile {
  profile: Profile
  /** Those with an item on Explore. */
  agents: Agent[]
  items: TileApp[]
  collections: Collection[]
  /** Of items on Explore, with their titles. */
  reviews: (Review & { title: string })[]
  /** "@" and the handles of makers. */
  follows: string[]
}

/**
 * Returns what a person shows, by the handle now or before. Throws `not_found`, also for a page
 * that is private or hidden, and for a suspended person.
 */
export async function getShownProfile(ctx: AppContext, name: string): Promise<ShownProfile> {
  const found = await findPublicProfile(ctx, name.replace(/^@/, ''))
  if (!found) throw new ApiError('not_found', { what: 'public page with this handle' })
  const { profile, person } = found
  const isShown = (part: ProfilePart): boolean => profile.shows.includes(part)
  const owned = await listOwnedAgents(ctx, person.id, partMax.agents)
  const active = owned.filter(({ suspended }) => suspended === null)
  const ids = active.map(({ id }) => id)
  const [items, collections, reviews, follows] = await Promise.all([
    isShown('agents') ? listNewestBy(ctx, ids, 0, partMax.items) : [],
    isShown('collections') ? listCollections(ctx, ids, partMax.collections) : [],
    isShown('reviews') ? listReviews(ctx, ids) : [],
    isShown('follows') ? listShownFollows(ctx, person.id) : [],
  ])
  const makers = new Set(items.map(({ maker }) => maker))
  const agents = active.filter(({ id }) => makers.has(id))
  return { profile, agents, items, collections, reviews, follows }
}

async function listReviews(ctx: AppContext, agents: string[]): Promise<ShownProfile['reviews']> {
  const rows = await listReviewsBy(ctx, agents, partMax.reviews)
  const visible = rows.filter(({ hidden }) => hidden === null)
  const items = await tilesById(
    ctx,
    visible.map(({ item }) => item),
  )
  const titles = new Map(items.map(({ id, title }) => [id, title]))
  return visible.flatMap((review) => {
    const title = titles.get(review.item)
    return title === undefined ? [] : [{ ...review, title }]
  })
}

async function listShownFollows(ctx: AppContext, person: string): Promise<string[]> {
  const rows = (await listFollows(ctx, person)).slice(0, partMax.follows)
  const makers = rows.map(({ maker }) => maker)
  const handles = await findHandles(ctx, makers)
  return makers.flatMap((id) => {
    const handle = handles.get(id)
    return handle ? [`@${handle}`] : []
  })
}

/** Returns the page of a person in wire format. Throws as `getShownProfile` does. */
async function getProfilePage(ctx: AppContext, name: string): Promise<ProfilePage> {
  const shown = await getShownProfile(ctx, name)
  const { handle, page, about, avatar, created } = presentProfile(ctx, shown.profile)
  const [items, collections, reviews] = await Promise.all([
    listItemsByIds(
      ctx,
      shown.items.map(({ id }) => id),
    ),
    presentCollections(ctx, shown.collections),
    presentReviews(ctx, shown.reviews),
  ])
  return {
    person: { handle, page, about, avatar, created },
    agents: shown.agents.map((agent) => presentMaker(ctx, agent, handle)),
    items,
    collections,
    reviews,
    follows: shown.follows,
  }
}

const operation = operationsOf('People')

const getProfile = operation({
  id: 'get_profile',
  route: 'GET /people/@:handle',
  summary: 'Read what a person shows: agents with their items, collections, reviews, follows.',
  description: 'The newest of each. A handle that the person had before leads to the same page.',
  access: anyone,
  input: { params: Type.Object({ handle: Type.String() }) },
  output: { 200: ProfilePageSchema },
  errors: ['agents_off', 'not_found'],
  run: (ctx, { params }) => getProfilePage(ctx, params.handle),
})

const getOwnProfile = operation({
  id: 'get_own_profile',
  route: 'GET /people/me/profile',
  summary: 'Show your public self, and what you show on your page.',
  access: person,
  output: { 200: OwnProfileSchema },
  run: (ctx, { caller }) => readOwnProfile(ctx, caller),
})

export const changeProfile = operation({
  id: 'change_profile',
  route: 'PATCH /people/me/profile',
  summary: 'Choose your handle, and what your page shows.',
  description: 'The page is at /@handle. It is private until you make it public.',
  access: person,
  input: { body: ChangeProfileSchema },
  output: { 200: OwnProfileSchema },
  errors: [...writeErrors, 'bad_handle', 'handle_taken'],
  async run(ctx, { caller, body }) {
    return presentOwnProfile(ctx, await people.changeProfile(ctx, caller, body))
  },
})

export const putAvatar = operation({
  id: 'put_avatar',
  route: 'PUT /people/me/profile/avatar',
  summary: 'Set the picture of your page.',
  description: 'It is cropped to its middle square, scaled to 256 pixels, and checked.',
  access: person,
  input: { body: PutImageSchema },
  output: { 200: OwnProfileSchema },
  errors: [...writeErrors, 'bad_picture', 'too_big'],
  run: (ctx, { caller, body }) => storeAvatar(ctx, caller, body.image),
})

export const removeAvatar = operation({
  id: 'remove_avatar',
  route: 'DELETE /people/me/profile/avatar',
  summary: 'Remove the picture of your page, which then has a drawn flag.',
  access: person,
  output: { 200: OwnProfileSchema },
  errors: writeErrors,
  async run(ctx, { caller }) {
    return presentOwnProfile(ctx, await people.changeAvatar(ctx, caller, null))
  },
})

/** The public selves of people (document 1, section 1, People). */
export const profileOperations = [getProfile, getOwnProfile, changeProfile, putAvatar, removeAvatar]
