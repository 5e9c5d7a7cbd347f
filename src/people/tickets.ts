import { lte } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { newId, sha256, sign } from '../kernel/ids.ts'
import { minute } from '../kernel/time.ts'
import { usedTickets } from './tables.ts'

/** The time to finish a passkey prompt or a sign-in at the provider. */
export const ticketMs = 15 * minute

const pattern = /^([A-Za-z0-9]{12})\.(\d{1,15})\.([\w-]{43})$/

const signatureOf = (ctx: AppContext, purpose: string, id: string, expires: string): string =>
  sign(ctx.secret, `ticket ${id} ${expires} ${purpose}`)

/** Creates a one-time token for 15 minutes, bound to an action and a browser or session. */
export function createTicket(ctx: AppContext, purpose: string): string {
  const [id, expires] = [newId(), String(ctx.clock.now() + ticketMs)]
  return `${id}.${expires}.${signatureOf(ctx, purpose, id, expires)}`
}

/** Returns whether a ticket is valid for the purpose and has not expired; it may be used. */
export function isValidTicket(ctx: AppContext, purpose: string, ticket: string): boolean {
  const [, id = '', expires = '', signature = ''] = pattern.exec(ticket) ?? []
  const isGenuine = sha256(signature) === sha256(signatureOf(ctx, purpose, id, expires))
  return isGenuine && Number(expires) > ctx.clock.now()
}

/** Uses a ticket in the transaction of its action. Throws `sign_in_stale`. */
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

export const deleteExpiredTickets = (ctx: AppContext): Promise<unknown> =>
  ctx.db.tx((db) => db.delete(usedTickets).where(lte(usedTickets.expires, ctx.clock.now())))
