import { lte } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { newId, sha256, sign } from '../../core/ids.ts'
import { minute } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { usedTickets } from './tables.ts'

/** How long one has for what a ticket is for: a touch of a device, a sign-in elsewhere. */
export const ticketMs = 15 * minute

const pattern = /^([A-Za-z0-9]{12})\.(\d{1,15})\.([\w-]{43})$/

const proof = (ctx: AppContext, purpose: string, id: string, expires: string): string =>
  sign(ctx.secret, `ticket ${id} ${expires} ${purpose}`)

/**
 * A text that we alone can make, good once and for a quarter of an hour. `purpose` says what for,
 * and for which browser or session. None is kept before it is used.
 */
export function createTicket(ctx: AppContext, purpose: string): string {
  const [id, expires] = [newId(), String(ctx.clock.now() + ticketMs)]
  return `${id}.${expires}.${proof(ctx, purpose, id, expires)}`
}

/** Whether this is a ticket for this purpose that has not expired; it may have been used. */
export function isValidTicket(ctx: AppContext, purpose: string, ticket: string): boolean {
  const [, id = '', expires = '', proven = ''] = pattern.exec(ticket) ?? []
  const isOurs = sha256(proven) === sha256(proof(ctx, purpose, id, expires))
  return isOurs && Number(expires) > ctx.clock.now()
}

/** Uses a ticket up, inside the transaction of what it is for. Refuses sign_in_stale. */
export async function consumeTicket(
  ctx: AppContext,
  db: Db,
  purpose: string,
  ticket: string,
): Promise<void> {
  if (!isValidTicket(ctx, purpose, ticket)) throw new ApiError('sign_in_stale')
  const used = await db
    .insert(usedTickets)
    .values({ hash: sha256(ticket), expires: Number(ticket.split('.')[1]) })
    .onConflictDoNothing()
    .returning({ hash: usedTickets.hash })
  if (used.length === 0) throw new ApiError('sign_in_stale')
}

/** Forgets used tickets that have expired. */
export const deleteExpiredTickets = (ctx: AppContext): Promise<unknown> =>
  ctx.db.tx((db) => db.delete(usedTickets).where(lte(usedTickets.expires, ctx.clock.now())))
