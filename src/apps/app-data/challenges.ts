import { and, count, desc, eq, gt, isNull, lt, notInArray, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/lock.ts'
import { ApiError } from '../../kernel/errors.ts'
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

/** A score of a board that is compared with a challenge. */
type BoardScore = Board & Pick<Challenge, 'score'>

const oldest = ({ clock }: Pick<AppContext, 'clock'>): number => clock.now() - challengeDays * day

const isOne = (app: string, id: string) => and(eq(challenges.app, app), eq(challenges.id, id))
const isOf = ({ app, id }: Pick<Player, 'app' | 'id'>) =>
  and(eq(challenges.app, app.id), eq(challenges.player, id))

/** Keeps a score to beat. Of a player, the newest stay. Throws `data_full`. */
export async function createChallenge(
  ctx: AppContext,
  player: Player,
  game: BoardScore & Pick<Challenge, 'seed'>,
): Promise<NamedChallenge> {
  const none = { best: null, bestPlayer: null, bestAt: null }
  const row = { ...game, id: newId(), player: player.id, created: ctx.clock.now(), ...none }
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
    if ((all?.n ?? 0) >= challengesPerAppMax) {
      throw new ApiError('data_full', { what: `${challengesPerAppMax} challenges of an app` })
    }
    await db.insert(challenges).values(row)
  })
  return { row, by: player.name, bestBy: null }
}

/** Adds the names of both players, as they are now. */
async function named(db: Db, rows: Challenge[]): Promise<NamedChallenge[]> {
  const nameOf = async (app: string, id: string | null): Promise<string | null> => {
    if (id === null) return null
    const [player] = await db
      .select({ name: players.name })
      .from(players)
      .where(and(eq(players.app, app), eq(players.id, id)))
    return player?.name ?? null
  }
  return Promise.all(
    rows.map(async (row) => ({
      row,
      by: await nameOf(row.app, row.player),
      bestBy: await nameOf(row.app, row.bestPlayer),
    })),
  )
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
  return (await named(read, rows))[0]
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
  return named(read, rows)
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

/** Deletes challenges of an app. Returns their number. */
export async function deleteChallenges(
  db: Db,
  { id: app }: Pick<App, 'id'>,
  of: Partial<Pick<Challenge, 'id' | 'player'>> = {},
): Promise<number> {
  const gone = await db
    .delete(challenges)
    .where(
      and(
        eq(challenges.app, app),
        of.id === undefined ? undefined : eq(challenges.id, of.id),
        of.player === undefined ? undefined : eq(challenges.player, of.player),
      ),
    )
    .returning({ id: challenges.id })
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
