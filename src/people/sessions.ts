import { and, asc, desc, eq, gt, isNotNull, isNull, lte, ne, sql } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import { afterCommit, type Db } from '../kernel/db/engine.ts'
import { isWriteUnavailable } from '../kernel/db/error.ts'
import { prepared } from '../kernel/db/query.ts'
import { ApiError } from '../kernel/errors.ts'
import type { RequestContext } from '../kernel/http/request-context.ts'
import { idPattern, newId, newSecret, sha256 } from '../kernel/ids.ts'
import {
  browserCharsMax,
  recentSignInMs,
  sessionMs,
  sessionsPerPersonMax,
} from '../kernel/limits.ts'
import { hour } from '../kernel/time.ts'
import * as keys from '../money/keys/keys.ts'
import { recordAudit } from './audit/audit.ts'
import { findByName, lockPerson, lockUnchangedPerson, type Person } from './people.ts'
import { people, sessions } from './tables.ts'

export type Session = typeof sessions.$inferSelect

/** Starts a session in place of `before` and returns its secret, new against session fixation. */
export async function createSession(
  ctx: AppContext,
  db: Db,
  person: Person,
  { browser, before }: { browser: string; before?: Session | undefined },
): Promise<string> {
  await lockUnchangedPerson(ctx, db, person)
  const secret = newSecret()
  const at = ctx.clock.now()
  if (before) {
    await db.delete(sessions).where(eq(sessions.id, before.id))
    announceEnd(ctx, db, before.person)
  }
  const existing = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.person, person.id))
    .orderBy(asc(sessions.created))
  for (const { id } of existing.slice(0, Math.max(0, existing.length + 1 - sessionsPerPersonMax))) {
    await db.delete(sessions).where(eq(sessions.id, id))
  }
  await db.insert(sessions).values({
    id: newId(),
    hash: sha256(secret),
    person: person.id,
    browser: printableBrowser(browser),
    created: at,
    seen: at,
    expires: at + sessionMs,
  })
  return secret
}

/** Returns the printable start of a User-Agent. */
const printableBrowser = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, '').slice(0, browserCharsMax)

const byHash = prepared((db) =>
  db
    .select({ person: people, session: sessions })
    .from(sessions)
    .innerJoin(people, eq(people.id, sessions.person))
    .where(
      and(
        eq(sessions.hash, sql.placeholder('hash')),
        gt(sessions.expires, sql.placeholder('now')),
        isNull(people.suspended),
      ),
    )
    .prepare(),
)

/** Returns the live session of a cookie's secret with its person. */
export async function findSession(ctx: AppContext, secret: string) {
  const now = ctx.clock.now()
  const [found] = await byHash(ctx.db.read).execute({ hash: sha256(secret), now })
  if (found && now - found.session.seen >= hour) await updateSeen(ctx, found.session, now)
  return found
}

/** Updates the last use of a session. While no write is possible, a later request does it. */
async function updateSeen(ctx: AppContext, { id }: Session, seen: number): Promise<void> {
  try {
    await ctx.db.tx((db) => db.update(sessions).set({ seen }).where(eq(sessions.id, id)))
  } catch (error) {
    if (!isWriteUnavailable(error)) throw error
  }
}

/** Lists the live sessions of a person, newest first. */
export const list = (ctx: AppContext, person: Person): Promise<Session[]> =>
  ctx.db.read
    .select()
    .from(sessions)
    .where(and(eq(sessions.person, person.id), gt(sessions.expires, ctx.clock.now())))
    .orderBy(desc(sessions.created))
    .limit(sessionsPerPersonMax)

/** Tells open connections, once the transaction is durable, that sessions of a person ended. */
const announceEnd = ({ state }: AppContext, db: Db, person: string): void =>
  afterCommit(db, () => state.accessChanges.announce(person))

/** Ends a session of a person. Throws `not_found`. */
export async function end(ctx: AppContext, person: Person, id: string): Promise<void> {
  if (!idPattern.test(id)) throw new ApiError('not_found', { what: 'session' })
  const ended = await ctx.db.tx((db) => {
    announceEnd(ctx, db, person.id)
    return db
      .delete(sessions)
      .where(and(eq(sessions.id, id), eq(sessions.person, person.id)))
      .returning({ id: sessions.id })
  })
  if (ended.length === 0) throw new ApiError('not_found', { what: 'session' })
}

/** Returns whether a session is recent enough to change sign-in methods. */
export const isFresh = ({ clock }: AppContext, session: Session | undefined): boolean =>
  session !== undefined && clock.now() - session.created < recentSignInMs

/** Throws `sign_in_again`. */
export function checkFresh(ctx: AppContext, session: Session | undefined): void {
  if (!isFresh(ctx, session)) throw new ApiError('sign_in_again')
}

/** Ends all sessions of a person except the one with this hash. */
export async function endOtherSessions(
  ctx: AppContext,
  db: Db,
  person: string,
  hash = '',
): Promise<void> {
  announceEnd(ctx, db, person)
  await db.delete(sessions).where(and(eq(sessions.person, person), ne(sessions.hash, hash)))
}

export const deleteExpiredSessions = (ctx: AppContext): Promise<unknown> =>
  ctx.db.tx((db) => db.delete(sessions).where(lte(sessions.expires, ctx.clock.now())))

/** Returns whether a person may be signed in. Cheap, so that most requests need no look-up. */
export const mayBeSignedIn = (
  { headers }: Request,
  { vouchedPerson }: Pick<RequestContext, 'vouchedPerson'>,
): boolean => vouchedPerson !== undefined || (headers.get('cookie')?.includes('berth=') ?? false)

/**
 * Suspends a person; a null reason lifts the suspension. Ends the sessions and suspends the keys of
 * the person and the wallet, but not the agents. Returns false for an unknown person, the operator,
 * and an unchanged state.
 */
export async function suspendPerson(
  ctx: AppContext,
  name: string,
  reason: string | null,
  by: string,
): Promise<boolean> {
  const known = await findByName(ctx, name)
  if (!known || known.operator) return false
  const at = reason === null ? null : ctx.clock.now()
  const wouldChange = at === null ? isNotNull(people.suspended) : isNull(people.suspended)
  const changed = await ctx.db.tx(async (db) => {
    await lockPerson(db, known.id)
    const [person] = await db
      .update(people)
      .set({ suspended: at, suspendedFor: reason })
      .where(and(eq(people.id, known.id), wouldChange))
      .returning()
    if (!person) return false
    await keys.lockOwner(db, person.wallet)
    for (const owner of [person.id, person.wallet]) await keys.setSuspended(db, owner, at)
    await endOtherSessions(ctx, db, person.id)
    const did = reason === null ? 'unsuspend' : 'suspend'
    await recordAudit(ctx, db, { by, did, item: person.name, why: reason ?? '' })
    return true
  })
  ctx.keys.forget()
  return changed
}
