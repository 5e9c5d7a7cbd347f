import { and, asc, count, desc, eq, gt, inArray, isNull, lt, notInArray, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { newId } from '../../kernel/ids.ts'
import { day } from '../../kernel/time.ts'
import type { App } from '../apps.ts'
import { challengeDays, challengesPerAppMax, challengesPerPlayerMax } from './limits.ts'
import type { Player } from './players.ts'
import type { Board } from './scores.ts'
import { challenges, players } from './tables.ts'

type Challenge = typeof challenges.$inferSelect

/** A challenge, with the names that both players gave the app. */
export interface NamedChallenge {
  row: Challenge
  by: string | null
  bestBy: string | null
}

/** The app and the id of a player. */
interface PlayerKey {
  app: Pick<App, 'id'>
  id: string
}

/** A score of a board that is compared with a challenge. */
type BoardScore = Board & Pick<Challenge, 'score'>

const oldest = ({ clock }: Pick<AppContext, 'clock'>): number => clock.now() - challengeDays * day

const unanswered = { best: null, bestPlayer: null, bestAt: null }

const isOne = (app: string, id: string) => and(eq(challenges.app, app), eq(challenges.id, id))
const isOf = ({ app, id }: PlayerKey) => and(eq(challenges.app, app.id), eq(challenges.player, id))

/** Keeps a score to beat. Of a player, and of an app, the newest stay. */
export async function createChallenge(
  ctx: AppContext,
  player: Player,
  game: BoardScore & Pick<Challenge, 'seed'>,
): Promise<NamedChallenge> {
  const own = { id: newId(), player: player.id, created: ctx.clock.now() }
  const row = { ...game, ...own, ...unanswered }
  await ctx.db.tx(async (db) => {
    await lock(db, `challenges ${game.app}`)
    const newest = db
      .select({ id: challenges.id })
      .from(challenges)
      .where(isOf(player))
      .orderBy(desc(challenges.created), desc(challenges.id))
      .limit(challengesPerPlayerMax - 1)
    const kept = (await newest).map(({ id }) => id)
    await db.delete(challenges).where(and(isOf(player), notInArray(challenges.id, kept)))
    const [all] = await db
      .select({ n: count() })
      .from(challenges)
      .where(eq(challenges.app, game.app))
    const extra = (all?.n ?? 0) - challengesPerAppMax + 1
    if (extra > 0) await deleteOldest(db, game.app, extra)
    await db.insert(challenges).values(row)
  })
  return { row, by: player.name, bestBy: null }
}

async function deleteOldest(db: Db, app: string, limit: number): Promise<void> {
  const found = await db
    .select({ id: challenges.id })
    .from(challenges)
    .where(eq(challenges.app, app))
    .orderBy(asc(challenges.created), asc(challenges.id))
    .limit(limit)
  const ids = found.map(({ id }) => id)
  await db.delete(challenges).where(and(eq(challenges.app, app), inArray(challenges.id, ids)))
}

/** Adds the names of both players, as they are now, to challenges of an app. */
async function named(db: Db, app: string, rows: Challenge[]): Promise<NamedChallenge[]> {
  const ids = rows.flatMap(({ player, bestPlayer }) => [player, bestPlayer ?? player])
  const found = await db
    .select({ id: players.id, name: players.name })
    .from(players)
    .where(and(eq(players.app, app), inArray(players.id, [...new Set(ids)])))
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return rows.map((row) => ({
    row,
    by: names.get(row.player) ?? null,
    bestBy: names.get(row.bestPlayer ?? '') ?? null,
  }))
}

/** Returns a challenge of an app that has not ended. */
export async function findChallenge(
  ctx: AppContext,
  app: string,
  id: string,
): Promise<NamedChallenge | undefined> {
  const { read } = ctx.db
  const rows = await read
    .select()
    .from(challenges)
    .where(and(isOne(app, id), gt(challenges.created, oldest(ctx))))
  return (await named(read, app, rows))[0]
}

/** Lists the challenges of a player, the newest first. */
export async function listChallenges(ctx: AppContext, player: Player): Promise<NamedChallenge[]> {
  const { read } = ctx.db
  const rows = await read
    .select()
    .from(challenges)
    .where(and(isOf(player), gt(challenges.created, oldest(ctx))))
    .orderBy(desc(challenges.created), desc(challenges.id))
    .limit(challengesPerPlayerMax)
  return named(read, player.app.id, rows)
}

/** The score of a friend beside that of a challenge. */
interface ChallengeResult {
  by: string | null
  score: number
  result: 'won' | 'lost' | 'tied'
}

/**
 * Compares a score with a challenge of another player on the same board, and keeps the best such
 * score. Returns undefined where there is no such challenge.
 */
export async function meetChallenge(
  ctx: AppContext,
  player: Player,
  id: string,
  { board, lowest, score }: BoardScore,
): Promise<ChallengeResult | undefined> {
  const found = await findChallenge(ctx, player.app.id, id)
  if (!found || found.row.player === player.id) return undefined
  const { row, by } = found
  if (row.board !== board || row.lowest !== lowest) return undefined
  const isBetter = lowest ? gt(challenges.best, score) : lt(challenges.best, score)
  const best = { best: score, bestPlayer: player.id, bestAt: ctx.clock.now() }
  await ctx.db.tx((db) =>
    db
      .update(challenges)
      .set(best)
      .where(and(isOne(row.app, id), or(isNull(challenges.best), isBetter))),
  )
  const isWon = lowest ? score < row.score : score > row.score
  const result = score === row.score ? 'tied' : isWon ? 'won' : 'lost'
  return { by, score: row.score, result }
}

/** Returns what a challenge says, for the lists of makers and of players. */
export const challengeValue = ({ board, lowest, seed, score, best }: Challenge) => ({
  board,
  ...(lowest && { lowest }),
  seed,
  score,
  best,
})

/** Deletes the challenges of an app, or one of them. Returns their number. */
export async function deleteChallenges(
  db: Db,
  { id: app }: Pick<App, 'id'>,
  id?: string,
): Promise<number> {
  const gone = await db
    .delete(challenges)
    .where(id === undefined ? eq(challenges.app, app) : isOne(app, id))
    .returning({ id: challenges.id })
  return gone.length
}

/**
 * Deletes the challenges of a player, and the answers to those of others. Returns the number of
 * challenges.
 */
export async function deleteChallengesOf(db: Db, player: PlayerKey): Promise<number> {
  await db
    .update(challenges)
    .set(unanswered)
    .where(and(eq(challenges.app, player.app.id), eq(challenges.bestPlayer, player.id)))
  const gone = await db.delete(challenges).where(isOf(player)).returning({ id: challenges.id })
  return gone.length
}

/** Deletes the challenges that have ended. */
export async function endChallenges(ctx: AppContext): Promise<number> {
  return ctx.db.tx(async (db) => {
    const gone = await db
      .delete(challenges)
      .where(lt(challenges.created, oldest(ctx)))
      .returning({ id: challenges.id })
    return gone.length
  })
}
