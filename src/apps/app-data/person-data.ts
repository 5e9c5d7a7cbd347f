import { and, asc, eq, gt, isNotNull, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { findApp } from '../apps.ts'
import { pagesOf } from '../folders/zip-stream.ts'
import { pathOf } from './documents.ts'
import { boardsPerAppMax, challengesPerPlayerMax } from './limits.ts'
import { deleteValuesOf, removeRecords } from './records.ts'
import { challengeValue, deleteChallengesOf, deleteScores } from './scores.ts'
import { challenges, documents, players, scores, uploads, values } from './tables.ts'
import { deleteUploads, listUploadsOf, readUpload } from './uploads.ts'

type PlayerRow = typeof players.$inferSelect

const listPlayers = ({ db }: AppContext, person: string, after = ''): Promise<PlayerRow[]> =>
  db.read
    .select()
    .from(players)
    .where(and(eq(players.person, person), gt(players.app, after)))
    .orderBy(asc(players.app))
    .limit(listPageMax)

/** The values that belong to a player, and the shared ones that the player wrote last. */
const valuesOf = ({ app, id }: PlayerRow) =>
  and(
    eq(values.app, app),
    or(eq(values.owner, id), and(eq(values.owner, ''), eq(values.author, id))),
  )

async function* listValues({ db }: AppContext, player: PlayerRow): AsyncGenerator<object[]> {
  // A key may occur twice: as that of the player, and as a shared one.
  for (const owner of [player.id, '']) {
    const pages = pagesOf(
      (after: string | undefined) =>
        db.read
          .select()
          .from(values)
          .where(and(valuesOf(player), eq(values.owner, owner), gt(values.key, after ?? '')))
          .orderBy(asc(values.key))
          .limit(listPageMax),
      (row) => row.key,
    )
    for await (const page of pages) {
      yield page.map(({ app, key, value, updated }) => ({
        kind: owner === '' ? 'shared value' : 'value',
        app,
        name: key,
        value,
        updated: iso(updated),
      }))
    }
  }
}

async function* listDocuments({ db }: AppContext, player: PlayerRow): AsyncGenerator<object[]> {
  const isOwn = and(
    eq(documents.app, player.app),
    eq(documents.author, player.id),
    isNotNull(documents.data),
  )
  const pages = pagesOf(
    (after: number | undefined) =>
      db.read
        .select()
        .from(documents)
        .where(and(isOwn, gt(documents.version, after ?? 0)))
        .orderBy(asc(documents.version))
        .limit(listPageMax),
    (row) => row.version,
  )
  for await (const page of pages) {
    yield page.map((row) => ({
      kind: 'document',
      app: row.app,
      name: pathOf(row),
      value: row.data,
      updated: iso(row.updated),
    }))
  }
}

async function* listScores({ db }: AppContext, { app, id }: PlayerRow): AsyncGenerator<object[]> {
  // A board is one name and one order.
  const rows = await db.read
    .select()
    .from(scores)
    .where(and(eq(scores.app, app), eq(scores.player, id)))
    .limit(boardsPerAppMax)
  yield rows.map(({ board, score, at }) => ({
    kind: 'score',
    app,
    name: board,
    value: score,
    updated: iso(at),
  }))
}

/** Lists the files that a player uploaded, one by one: each may have megabytes. */
async function* listUploads(ctx: AppContext, { app, id }: PlayerRow): AsyncGenerator<object[]> {
  for (const row of await listUploadsOf(ctx, app, id)) {
    const { name, created } = row
    yield [{ kind: 'upload', app, name, value: await readUpload(ctx, row), updated: iso(created) }]
  }
}

async function* listChallenges(
  { db }: AppContext,
  { app, id }: PlayerRow,
): AsyncGenerator<object[]> {
  const rows = await db.read
    .select()
    .from(challenges)
    .where(and(eq(challenges.app, app), eq(challenges.player, id)))
    .limit(challengesPerPlayerMax)
  yield rows.map((row) => ({
    kind: 'challenge',
    app,
    name: row.id,
    value: challengeValue(row),
    updated: iso(row.created),
  }))
}

/** Lists what a person keeps in apps as a player, app by app. */
export async function* listPersonData(ctx: AppContext, person: string): AsyncGenerator<object[]> {
  const pages = pagesOf(
    (after: string | undefined) => listPlayers(ctx, person, after),
    (row) => row.app,
  )
  for await (const page of pages) {
    for (const player of page) {
      const { app, name, joined, uses } = player
      yield [{ kind: 'player', app, name, joined: joined === null ? null : iso(joined), uses }]
      yield* listValues(ctx, player)
      yield* listDocuments(ctx, player)
      yield* listScores(ctx, player)
      yield* listUploads(ctx, player)
      yield* listChallenges(ctx, player)
    }
  }
}

/**
 * Deletes what a person, or an agent in chats, keeps in apps as a player: values, scores,
 * challenges, answers to challenges, uploads, and documents and shared values of which they are the
 * author. Each app is one transaction, so the call can be repeated.
 */
export async function deletePersonData(ctx: AppContext, person: string): Promise<void> {
  for (;;) {
    const rows = await listPlayers(ctx, person)
    for (const player of rows) await deletePlayer(ctx, player)
    if (rows.length < listPageMax) return
  }
}

async function deletePlayer(ctx: AppContext, { app: appId, id }: PlayerRow): Promise<void> {
  const app = await findApp(ctx, appId)
  await ctx.db.tx(async (db) => {
    if (app) {
      await removeRecords(ctx, db, app, {
        docs: eq(documents.author, id),
        keys: eq(values.author, id),
      })
    }
    if (app) await deleteValuesOf(db, app, id)
    if (app) await deleteUploads(db, app, eq(uploads.author, id))
    await deleteScores(db, { id: appId }, { player: id })
    await deleteChallengesOf(db, { app: { id: appId }, id })
    await db.delete(players).where(and(eq(players.app, appId), eq(players.id, id)))
  })
}
