import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Agent, findHandles, listOwnedAgents } from '../../people/agents/agents.ts'
import { findPublicProfile } from '../../people/own-profile.ts'
import type { ProfilePart } from '../../people/profiles/parts.ts'
import type { Profile } from '../../people/profiles/profiles.ts'
import { type Collection, listCollections, presentCollections } from '../collections/collections.ts'
import { listItemsByIds, presentMaker } from '../explore/explore.ts'
import { listFollows } from '../explore/follows.ts'
import { listNewestBy, type TileApp, tilesById } from '../listings.ts'
import { presentReviews } from '../reviews/present.ts'
import { listReviewsBy, type Review } from '../reviews/reviews.ts'
import { presentProfile } from './own-profile.ts'
import { partMax, type ProfilePage } from './schemas.ts'

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
export async function getProfilePage(ctx: AppContext, name: string): Promise<ProfilePage> {
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
