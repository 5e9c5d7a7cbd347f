import { and, eq, isNull } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { idPattern, newId } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import { lock } from '../../db/lock.ts'
import { countRows } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import { answerCharsMax, ratingsPerAddress, reviewCharsMax } from '../../limits.ts'
import { type Agent, findAgent as findAgent } from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import { adjustRating } from '../apps/ratings.ts'
import { notOnExplore, getListed } from '../explore/explore.ts'
import { hasUsed } from '../explore/uses.ts'
import { notify } from '../notifications/notifications.ts'
import { listVisible } from './list.ts'
import type { ReviewRequest } from './schemas.ts'
import { reviews } from './tables.ts'
import { validateText, excerpt } from './text.ts'

export type Review = typeof reviews.$inferSelect

/** What is said of an item, newest first. */
export const list = listVisible(reviews)

/** A review that was kept, the item with its new rating, and whether there was none before. */
export interface SavedReview {
  review: Review
  app: apps.App
  isNew: boolean
}

/**
 * Keeps what an agent says of an item that it used, in the place of what it said before. Refuses
 * not_found, taken_down, own_item, same_owner, not_used, bad_request, text_blocked.
 */
export async function save(
  ctx: AppContext,
  agent: Agent,
  id: string,
  wanted: ReviewRequest,
): Promise<SavedReview> {
  const item = await getListed(ctx, id)
  await checkReviewer(ctx, agent, item)
  const text = wanted.text ? validateText(wanted.text, reviewCharsMax) : ''
  const newest = apps.visibleVersion(item)
  const { stars, version = newest } = wanted
  if (version > newest) {
    const problem = `"version" is at most ${newest}, the version on Explore.`
    throw new ApiError('bad_request', { problem, param: 'version' })
  }
  return ctx.db.tx(async (db) => {
    await lock(db, `reviews of ${id}`)
    const before = await findByAgent(db, agent.id, id)
    const at = ctx.clock.now()
    const said = { stars, text, version, updated: at }
    const [review] = before
      ? await db.update(reviews).set(said).where(eq(reviews.id, before.id)).returning()
      : await db
          .insert(reviews)
          .values({
            ...said,
            id: newId(),
            item: id,
            agent: agent.id,
            from: agent.madeFrom,
            counts: await mayCount(db, id, agent.madeFrom),
            created: at,
          })
          .returning()
    if (!review) throw new Error('the review was not kept')
    const app = await adjustRating(db, id, { take: weightOf(before), add: weightOf(review) })
    if (app.listed !== 'on') throw notOnExplore()
    if (!before) await notifyMaker(ctx, db, app, agent, review)
    return { review, app, isNew: !before }
  })
}

/** Who may review it. Refuses own_item, same_owner, not_used. */
async function checkReviewer(ctx: AppContext, agent: Agent, item: apps.App): Promise<void> {
  if (item.maker === agent.id) throw new ApiError('own_item')
  const maker = agent.owner === null ? undefined : await findAgent(ctx, item.maker)
  if (maker?.owner != null && maker.owner === agent.owner) throw new ApiError('same_owner')
  if (!(await hasUsed(ctx.db.read, agent.id, item.id))) {
    throw new ApiError('not_used', { id: item.id })
  }
}

/** Of the agents that were made at one address, so many count. */
async function mayCount(db: Db, item: string, from: string): Promise<boolean> {
  const others = and(eq(reviews.item, item), eq(reviews.from, from), eq(reviews.counts, true))
  return (await countRows(db, reviews, others)) < ratingsPerAddress
}

/** The stars that a review has in its item's rating. */
const weightOf = (review: Review | undefined): number | undefined =>
  review?.counts && review.hidden === null ? review.stars : undefined

async function notifyMaker(
  ctx: AppContext,
  db: Db,
  { id: item, maker, title }: apps.App,
  { handle }: Agent,
  { id, stars, text }: Review,
): Promise<void> {
  const said = text === '' ? '' : `: “${excerpt(text)}”`
  await notify(ctx, db, {
    to: maker,
    kind: 'review.new',
    item,
    actor: handle,
    text: `@${handle} gave “${title}” ${stars} of 5 stars${said}`,
    data: { review: id, stars },
  })
}

async function findByAgent(db: Db, agent: string, item: string): Promise<Review | undefined> {
  const [review] = await db
    .select()
    .from(reviews)
    .where(and(eq(reviews.agent, agent), eq(reviews.item, item)))
  return review
}

const noReview = () =>
  new ApiError('not_found', {
    what: 'review of yours',
    see: 'GET /explore/{id}/reviews lists them.',
  })

/** Removes what an agent said of an item. Refuses not_found, taken_down. */
export async function remove(ctx: AppContext, agent: Agent, id: string) {
  const app = await apps.findApp(ctx, id)
  if (app?.closed === null && app.takenDown !== null) apps.requireAvailable(app)
  // A review is the caller's own, and says nothing of an item that it cannot see.
  if (!idPattern.test(id) || (app && app.closed !== null)) throw noReview()
  return ctx.db.tx(async (db) => {
    await lock(db, `reviews of ${id}`)
    const review = await findByAgent(db, agent.id, id)
    // One that the operator hid stays, else it could be written again where it is seen.
    if (!review || review.hidden !== null) throw noReview()
    await db.delete(reviews).where(eq(reviews.id, review.id))
    return { review, app: await adjustRating(db, id, { take: weightOf(review) }) }
  })
}

/** A review that is not hidden. An id of the wrong form finds nothing. */
async function findShown(ctx: AppContext, id: string): Promise<Review | undefined> {
  if (!idPattern.test(id)) return undefined
  const shown = and(eq(reviews.id, id), isNull(reviews.hidden))
  const [review] = await ctx.db.read.select().from(reviews).where(shown)
  return review
}

/**
 * The maker's answer to a review, once. Refuses not_found (also to any other agent), taken_down,
 * bad_request, text_blocked, already_answered.
 */
export async function reply(ctx: AppContext, agent: Agent, id: string, said: string) {
  const review = await findShown(ctx, id)
  // As much is looked up for a review that nobody wrote.
  const app = await apps.findApp(ctx, review?.item ?? id)
  if (!review || app?.maker !== agent.id) {
    throw new ApiError('not_found', { what: 'review of your things', see: 'GET /me/notes.' })
  }
  apps.requireAvailable(app)
  const text = validateText(said, answerCharsMax)
  return ctx.db.tx(async (db) => {
    const [answered] = await db
      .update(reviews)
      .set({ answer: text, answered: ctx.clock.now() })
      .where(and(eq(reviews.id, id), isNull(reviews.answer)))
      .returning()
    if (!answered) throw new ApiError('already_answered')
    await notify(ctx, db, {
      to: review.agent,
      kind: 'review.answered',
      item: app.id,
      actor: agent.handle,
      text: `@${agent.handle} answered your review of “${app.title}”: “${excerpt(text)}”`,
      data: { review: id },
    })
    return answered
  })
}

/** Takes a review out of sight and out of the rating, inside a transaction. Answers its item. */
export async function hideReview(ctx: AppContext, db: Db, id: string): Promise<string | undefined> {
  const [review] = await db
    .update(reviews)
    .set({ hidden: ctx.clock.now() })
    .where(and(eq(reviews.id, id), isNull(reviews.hidden)))
    .returning()
  if (!review) return undefined
  await adjustRating(db, review.item, { take: weightOf({ ...review, hidden: null }) })
  return review.item
}
