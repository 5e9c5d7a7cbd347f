import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { valueBytesMax, valueKeyCharsMax, valuesPerOwnerMax } from './limits.ts'
import type { Player } from './players.ts'
import { growPersonal, growShared, type Growth, lockSpace } from './spaces.ts'
import { values } from './tables.ts'

type Value = typeof values.$inferSelect

/** Personal values are of the player, shared ones of all players of the app. */
export type Scope = 'own' | 'shared'

const ownerIn = (scope: Scope, { id }: Player): string => (scope === 'shared' ? '' : id)

/** Throws `bad_request`. */
function checkKey(key: string): void {
  if (key.length > 0 && key.length <= valueKeyCharsMax && !/[\p{Cc}\p{Cs}]/u.test(key)) return
  rejectRequest(
    `"key" has 1 to ${valueKeyCharsMax} characters, without control characters. Use a shorter key.`,
    'key',
  )
}

const isKey = (player: Player, scope: Scope, key: string) =>
  and(eq(values.app, player.app.id), eq(values.owner, ownerIn(scope, player)), eq(values.key, key))

/** Returns a value; undefined where there is none. Throws `bad_request`. */
export async function findValue(
  { db }: AppContext,
  player: Player,
  scope: Scope,
  key: string,
): Promise<Value | undefined> {
  checkKey(key)
  const [row] = await db.read
    .select()
    .from(values)
    .where(isKey(player, scope, key))
  return row
}

/** Lists the keys that begin with a prefix, sorted. Databases sort texts in different orders. */
export async function listKeys(
  { db }: AppContext,
  player: Player,
  scope: Scope,
  prefix: string,
): Promise<string[]> {
  const rows = await db.read
    .select({ key: values.key })
    .from(values)
    .where(and(eq(values.app, player.app.id), eq(values.owner, ownerIn(scope, player))))
    .limit(valuesPerOwnerMax)
  return rows.flatMap(({ key }) => (key.startsWith(prefix) ? [key] : [])).toSorted()
}

/** Locks the personal values of a player, whose counts change. */
export const lockValues = (db: Db, app: string, player: string): Promise<unknown> =>
  lock(db, `values ${app} ${player}`)

const lockOwner = (db: Db, { app, id }: Player, scope: Scope): Promise<unknown> =>
  scope === 'shared' ? lockSpace(db, app.id) : lockValues(db, app.id, id)

const grow = (ctx: AppContext, db: Db, player: Player, scope: Scope, growth: Growth) =>
  scope === 'shared'
    ? growShared(ctx, db, player.app, growth, player)
    : growPersonal(ctx, db, player, growth)

/** Returns the bytes that count for a value. Throws `bad_request` and `too_large`. */
export function bytesOf(key: string, value: unknown): number {
  checkKey(key)
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > valueBytesMax) throw new ApiError('too_large', { bytes, max: valueBytesMax })
  return bytes + key.length
}

/**
 * Stores a value; null deletes it. Throws `bad_request`, `too_large`, `data_full` and
 * `storage_full`.
 */
export async function setValue(
  ctx: AppContext,
  player: Player,
  scope: Scope,
  { key, value }: { key: string; value: unknown },
): Promise<void> {
  if (value === null) {
    await deleteValue(ctx, player, scope, key)
    return
  }
  const { app, id } = player
  const written = { author: id, value, bytes: bytesOf(key, value), updated: ctx.clock.now() }
  await ctx.db.tx(async (db) => {
    await lockOwner(db, player, scope)
    const [before] = await db
      .select({ bytes: values.bytes })
      .from(values)
      .where(isKey(player, scope, key))
    await db
      .insert(values)
      .values({ app: app.id, owner: ownerIn(scope, player), key, ...written })
      .onConflictDoUpdate({ target: [values.app, values.owner, values.key], set: written })
    const growth = { rows: before ? 0 : 1, bytes: written.bytes - (before?.bytes ?? 0) }
    await grow(ctx, db, player, scope, growth)
  })
}

/** Deletes a value. Returns whether there was one. Throws `bad_request`. */
export async function deleteValue(
  ctx: AppContext,
  player: Player,
  scope: Scope,
  key: string,
): Promise<boolean> {
  checkKey(key)
  return ctx.db.tx(async (db) => {
    await lockOwner(db, player, scope)
    const [row] = await db
      .delete(values)
      .where(isKey(player, scope, key))
      .returning({ bytes: values.bytes })
    if (!row) return false
    const growth = { rows: -1, bytes: -row.bytes }
    await grow(ctx, db, player, scope, growth)
    return true
  })
}
