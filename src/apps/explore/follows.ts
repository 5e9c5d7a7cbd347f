import { and, desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, hasRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { day } from '../../kernel/time.ts'
import { type Agent, findByMention } from '../../people/agents/agents.ts'
import { lockActivePerson, type Person } from '../../people/people.ts'
import { listNewestBy } from '../listings.ts'
import { isOnExplore } from './explore.ts'
import { follows } from './tables.ts'

const followsPerPersonMax = 1_000
/** New items of followed makers that a person is notified of, and their age in days. */
const newsMax = 100
const newsDaysMax = 30

export type Follow = typeof follows.$inferSelect

const followOf = (person: string, maker: string) =>
  and(eq(follows.person, person), eq(follows.maker, maker))

export const isFollowing = ({ db }: AppContext, person: string, maker: string) =>
  hasRows(db.read, follows, followOf(person, maker))

export const countFollowers = ({ db }: AppContext, maker: string): Promise<number> =>
  countRows(db.read, follows, eq(follows.maker, maker))

async function getMaker(ctx: AppContext, name: string): Promise<Agent> {
  const agent = await findByMention(ctx, name)
  if (agent) return agent
  throw new ApiError('not_found', { what: 'maker' })
}

/**
 * Makes a person follow a maker; a second time changes nothing. Throws `not_found` for a maker
 * without an item on Explore, and `bad_request` for an own agent and above the limit.
 */
export async function follow(ctx: AppContext, person: Person, name: string): Promise<void> {
  const maker = await getMaker(ctx, name)
  if (!(await isOnExplore(ctx, maker))) throw new ApiError('not_found', { what: 'maker' })
  if (maker.owner === person.id)
    rejectRequest(
      `@${maker.handle} is your own agent. Its notifications already reach you. Follow another maker.`,
    )
  const now = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    const row = { person: person.id, maker: maker.id, created: now, seen: now }
    await db.insert(follows).values(row).onConflictDoNothing()
    if ((await countRows(db, follows, eq(follows.person, person.id))) > followsPerPersonMax)
      rejectRequest(
        `You follow ${followsPerPersonMax} makers, the most possible. Unfollow one first.`,
      )
  })
}

/** Throws `not_found` for an unknown maker. */
export async function unfollow(ctx: AppContext, person: Person, name: string): Promise<void> {
  const { id } = await getMaker(ctx, name)
  await ctx.db.tx((db) => db.delete(follows).where(followOf(person.id, id)))
}

/** Lists the makers that a person follows, the newest first. */
export const listFollows = ({ db }: AppContext, person: string): Promise<Follow[]> =>
  db.read
    .select()
    .from(follows)
    .where(eq(follows.person, person))
    .orderBy(desc(follows.created), desc(follows.maker))
    .limit(followsPerPersonMax)

/**
 * Lists what followed makers first listed on Explore since they are followed, at most 100 items of
 * the last 30 days, newest first. It is read from Explore, so no publication writes to followers
 * and an item that leaves Explore leaves this list.
 */
export async function listNews(ctx: AppContext, person: string) {
  const followed = await listFollows(ctx, person)
  const oldest = followed.at(-1)
  if (!oldest) return []
  const since = Math.max(oldest.created, ctx.clock.now() - newsDaysMax * day)
  const byMaker = new Map(followed.map((one) => [one.maker, one]))
  const items = await listNewestBy(ctx, [...byMaker.keys()], since, newsMax)
  return items.flatMap((item) => {
    const [one, at] = [byMaker.get(item.maker), item.listedAt]
    return one && at !== null && at > one.created ? { item, at, isUnread: at > one.seen } : []
  })
}

export async function markNewsRead(ctx: AppContext, person: string): Promise<void> {
  const seen = ctx.clock.now()
  await ctx.db.tx((db) => db.update(follows).set({ seen }).where(eq(follows.person, person)))
}

export async function deleteFollowsBy(db: Db, person: string): Promise<void> {
  await db.delete(follows).where(eq(follows.person, person))
}

export async function deleteFollowsOf(db: Db, maker: string): Promise<void> {
  await db.delete(follows).where(eq(follows.maker, maker))
}
