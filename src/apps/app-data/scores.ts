import { and, asc, count, desc, eq, gt, lt, or, type SQL } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { App } from '../apps.ts'
import { boardsPerAppMax, scoresPerAppMax } from './limits.ts'
import type { Player } from './players.ts'
import { players, scores } from './tables.ts'

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
