import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNull,
  lt,
  notInArray,
  or,
  type SQL,
} from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { day } from '../../kernel/time.ts'
import type { App } from '../apps.ts'
import {
  boardsPerAppMax,
  challengeDays,
  challengesPerAppMax,
  challengesPerPlayerMax,
  scoresPerAppMax,
} from './limits.ts'
import type { Player } from './players.ts'
import { challenges, players, scores } from './tables.ts'

type Score = typeof scores.$inferSelect

/** A board of an app. One where the lowest score wins is another board of the same name. */
export type Board = Pick<Score, 'app' | 'board' | 'lowest'>

/** A score with its place: 1 is the first. Of equal scores, the earlier one is before. */
export interface PlacedScore extends Score {
  rank: number
  /** The name that the player gave the app. */
  name: string | null
}

const isOn = ({ app, board, lowest }: Board) =>
  and(eq(scores.app, app), eq(scores.board, board), eq(scores.lowest, lowest))

const isOf = (board: Board, player: string) => and(isOn(board), eq(scores.player, player))

const bestFirst = ({ lowest }: Board) => [
  lowest ? asc(scores.score) : desc(scores.score),
  asc(scores.at),
  asc(scores.player),
]

/** Returns the condition of the scores before another one. */
function isBefore({ lowest, score, at, player }: Score): SQL | undefined {
  const isBetter = lowest ? lt(scores.score, score) : gt(scores.score, score)
  const isEarlier = and(eq(scores.score, score), lt(scores.at, at))
  const isFirst = and(eq(scores.score, score), eq(scores.at, at), lt(scores.player, player))
  return or(isBetter, isEarlier, isFirst)
}

const isBetterThan = (board: Board, score: number, other: number): boolean =>
  board.lowest ? score < other : score > other

/** Lists the first scores of a board. */
export async function listTop(
  { db }: AppContext,
  board: Board,
  limit: number,
): Promise<PlacedScore[]> {
  const rows = await db.read
    .select({ row: scores, name: players.name })
    .from(scores)
    .leftJoin(players, and(eq(players.app, scores.app), eq(players.id, scores.player)))
    .where(isOn(board))
    .orderBy(...bestFirst(board))
    .limit(limit)
  return rows.map(({ row, name }, at) => ({ ...row, name, rank: at + 1 }))
}

/** Returns the score of a player on a board; undefined where there is none. */
export async function findOwn(
  { db }: AppContext,
  board: Board,
  { id, name }: Pick<Player, 'id' | 'name'>,
): Promise<PlacedScore | undefined> {
  const [row] = await db.read.select().from(scores).where(isOf(board, id))
  return row && { ...row, name, rank: await rankOf(db.read, row) }
}

async function rankOf(db: Db, row: Score): Promise<number> {
  const [before] = await db
    .select({ n: count() })
    .from(scores)
    .where(and(isOn(row), isBefore(row)))
  return (before?.n ?? 0) + 1
}

/** Returns the number of scores on a board. */
export async function countScores({ db }: AppContext, board: Board): Promise<number> {
  const [row] = await db.read.select({ n: count() }).from(scores).where(isOn(board))
  return row?.n ?? 0
}

/**
 * Keeps a score of a player who has joined, if it is better than the one before. Returns their
 * score, and whether it is new. Throws `data_full`.
 */
export async function submitScore(
  ctx: AppContext,
  { app, id, name }: Player,
  board: Board,
  score: number,
): Promise<{ own: PlacedScore; isBest: boolean }> {
  const row: Score = { ...board, player: id, score, at: ctx.clock.now() }
  return ctx.db.tx(async (db) => {
    await lock(db, `scores ${app.id}`)
    const [before] = await db.select().from(scores).where(isOf(board, id))
    const isBest = before === undefined || isBetterThan(board, score, before.score)
    if (isBest && !before) await makeRoom(db, row)
    if (isBest) {
      await db
        .insert(scores)
        .values(row)
        .onConflictDoUpdate({
          target: [scores.app, scores.board, scores.lowest, scores.player],
          set: { score, at: row.at },
        })
    }
    const own = isBest ? row : (before ?? row)
    return { own: { ...own, name, rank: await rankOf(db, own) }, isBest }
  })
}

/** Makes room for a new score: the last one of a full app leaves. Throws `data_full`. */
async function makeRoom(db: Db, next: Score): Promise<void> {
  const boards = await db
    .selectDistinct({ board: scores.board, lowest: scores.lowest })
    .from(scores)
    .where(eq(scores.app, next.app))
  const isKnown = boards.some(({ board, lowest }) => board === next.board && lowest === next.lowest)
  if (!isKnown && boards.length >= boardsPerAppMax) {
    throw new ApiError('data_full', { what: `${boardsPerAppMax} boards of an app` })
  }
  const [all] = await db.select({ n: count() }).from(scores).where(eq(scores.app, next.app))
  if ((all?.n ?? 0) < scoresPerAppMax) return
  const [last] = await db
    .select()
    .from(scores)
    .where(isOn(next))
    .orderBy(next.lowest ? desc(scores.score) : asc(scores.score), desc(scores.at))
    .limit(1)
  if (!last || !isBetterThan(next, next.score, last.score)) {
    throw new ApiError('data_full', { what: `${scoresPerAppMax} scores of an app` })
  }
  await db.delete(scores).where(isOf(last, last.player))
}

/** Deletes scores of an app. Returns their number. */
export async function deleteScores(
  db: Db,
  { id: app }: Pick<App, 'id'>,
  of: Partial<Pick<Score, 'board' | 'player'>> = {},
): Promise<number> {
  const gone = await db
    .delete(scores)
    .where(
      and(
        eq(scores.app, app),
        of.board === undefined ? undefined : eq(scores.board, of.board),
        of.player === undefined ? undefined : eq(scores.player, of.player),
      ),
    )
    .returning({ player: scores.player })
  return gone.length
}

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
const isChallengeOf = ({ app, id }: PlayerKey) =>
  and(eq(challenges.app, app.id), eq(challenges.player, id))

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
      .where(isChallengeOf(player))
      .orderBy(desc(challenges.created), desc(challenges.id))
      .limit(challengesPerPlayerMax - 1)
    const kept = (await newest).map(({ id }) => id)
    await db.delete(challenges).where(and(isChallengeOf(player), notInArray(challenges.id, kept)))
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
    .where(and(isChallengeOf(player), gt(challenges.created, oldest(ctx))))
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
  const gone = await db
    .delete(challenges)
    .where(isChallengeOf(player))
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
