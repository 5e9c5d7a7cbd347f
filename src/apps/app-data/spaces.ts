import { and, eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { guestBytesPerDay } from '../../kernel/limits.ts'
import { releaseBytes, reserveBytes } from '../../people/agents/storage-quota.ts'
import type { App } from '../apps.ts'
import {
  documentBytesPerAppMax,
  documentsPerAppMax,
  valueBytesPerOwnerMax,
  valuesPerOwnerMax,
} from './limits.ts'
import { ensurePlayer, type Player } from './players.ts'
import { players, spaces } from './tables.ts'

export type Space = typeof spaces.$inferSelect

/** Rows and bytes that a write adds, or removes below zero. */
export interface Growth {
  rows: number
  bytes: number
}

/** Locks the shared data of an app until the transaction ends, and counts its version up. */
export async function lockSpace(db: Db, app: string): Promise<Space> {
  const empty = { version: 0, documents: 0, documentBytes: 0, valueBytes: 0, values: 0 }
  await db
    .insert(spaces)
    .values({ app, ...empty, forgotten: 0 })
    .onConflictDoNothing()
  const [space] = await db
    .update(spaces)
    .set({ version: sql`${spaces.version} + 1` })
    .where(eq(spaces.app, app))
    .returning()
  if (!space) throw new Error('the data of the app has no row')
  return space
}

/** Counts bytes for the quota of the maker. Throws `storage_full`. */
async function countForMaker(ctx: AppContext, db: Db, app: App, bytes: number): Promise<void> {
  if (bytes > 0) await reserveBytes(ctx, db, app.maker, bytes)
  else if (bytes < 0) await releaseBytes(db, app.maker, -bytes)
}

const full = (what: string): never => {
  throw new ApiError('data_full', { what })
}

const megabytes = (bytes: number): string => `${bytes / 1_048_576} MB`

/**
 * Counts what a guest adds. Guests have no account that could be closed, and the maker pays for
 * what they keep. Throws `data_full`.
 */
export function countForGuest(
  { state }: AppContext,
  { app, id, isSignedIn }: Player,
  { bytes }: Pick<Growth, 'bytes'>,
): void {
  if (isSignedIn || bytes <= 0) return
  const { guestBytes } = state.limits
  for (const [key, max, whose] of [
    [`${app.id} ${id}`, Math.min(guestBytesPerDay, guestBytes.max), 'a guest'],
    [app.id, guestBytes.max, 'all guests of an app'],
  ] as const) {
    if (guestBytes.take(key, bytes, max) === undefined) continue
    full(`${megabytes(max)} that ${whose} can add in a day`)
  }
}

/**
 * Counts what documents of an app grow, for a player who writes. Throws `data_full` and
 * `storage_full`.
 */
export async function growDocuments(
  ctx: AppContext,
  db: Db,
  app: App,
  { rows, bytes }: Growth,
  player?: Player,
): Promise<void> {
  if (player) countForGuest(ctx, player, { bytes })
  const [space] = await db
    .update(spaces)
    .set({
      documents: sql`${spaces.documents} + ${rows}`,
      documentBytes: sql`${spaces.documentBytes} + ${bytes}`,
    })
    .where(eq(spaces.app, app.id))
    .returning()
  if (rows > 0 && space && space.documents > documentsPerAppMax) {
    full(`${documentsPerAppMax} documents of an app`)
  }
  if (bytes > 0 && space && space.documentBytes > documentBytesPerAppMax) {
    full(`${megabytes(documentBytesPerAppMax)} of documents of an app`)
  }
  await countForMaker(ctx, db, app, bytes)
}

interface Owned {
  values: number
  valueBytes: number
}

function checkValues(owner: Owned | undefined, { rows, bytes }: Growth, whose: string): void {
  if (rows > 0 && owner && owner.values > valuesPerOwnerMax) full(`${valuesPerOwnerMax} ${whose}`)
  if (bytes > 0 && owner && owner.valueBytes > valueBytesPerOwnerMax) {
    full(`${megabytes(valueBytesPerOwnerMax)} of ${whose}`)
  }
}

/** Counts what shared values of an app grow, as `growDocuments` does. */
export async function growShared(
  ctx: AppContext,
  db: Db,
  app: App,
  growth: Growth,
  player?: Player,
): Promise<void> {
  if (player) countForGuest(ctx, player, growth)
  const [space] = await db
    .update(spaces)
    .set({
      values: sql`${spaces.values} + ${growth.rows}`,
      valueBytes: sql`${spaces.valueBytes} + ${growth.bytes}`,
    })
    .where(eq(spaces.app, app.id))
    .returning()
  checkValues(space, growth, 'shared values of an app')
  await countForMaker(ctx, db, app, growth.bytes)
}

/** Counts what personal values of a player grow. Throws `data_full` and `storage_full`. */
export async function growPersonal(
  ctx: AppContext,
  db: Db,
  player: Player,
  growth: Growth,
): Promise<void> {
  await ensurePlayer(ctx, db, player)
  const { app, id } = player
  const [row] = await db
    .update(players)
    .set({
      values: sql`${players.values} + ${growth.rows}`,
      valueBytes: sql`${players.valueBytes} + ${growth.bytes}`,
    })
    .where(and(eq(players.app, app.id), eq(players.id, id)))
    .returning()
  checkValues(row, growth, 'values of a player')
  await countForMaker(ctx, db, app, growth.bytes)
}
