import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { audienceMembersMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { recordBy } from '../../people/audit/audit.ts'
import { findKnownGroups, findPeople } from '../../people/groups.ts'
import { hashPassword } from '../../people/passwords.ts'
import { listNames } from '../../people/people.ts'
import { type App, lockApp, setAccess } from '../apps.ts'
import { type Audience, isPackKind } from '../kinds.ts'
import { notifyListed } from '../notifications.ts'
import { listLinks, presentLink } from './links.ts'
import type { AudienceBody, ChangeAudienceRequest } from './schemas.ts'
import { audienceMembers as members, shareLinks } from './tables.ts'

/** Returns who may open an item, for its maker. */
export async function getAudience(ctx: AppContext, app: App): Promise<AudienceBody> {
  const db = ctx.db.read
  const rows = await db
    .select()
    .from(members)
    .where(eq(members.app, app.id))
    .orderBy(asc(members.member))
  const of = (kind: 'person' | 'group') =>
    rows.filter((row) => row.kind === kind).map(({ member }) => member)
  return {
    audience: app.audience,
    expiresAt: app.expires === null ? null : iso(app.expires),
    hasPassword: app.password !== null,
    people: await listNames(db, of('person')),
    groups: of('group'),
    links: (await listLinks(ctx, app)).map(presentLink),
  }
}

/**
 * Changes who may open an item, at once: open pages of others end. An item that is not public, or
 * ends, leaves Explore. The audit log has the change where an operator makes it, `by`. Throws
 * `bad_request`, `not_found` and `taken_down`.
 */
export async function changeAudience(
  ctx: AppContext,
  app: App,
  request: ChangeAudienceRequest,
  by?: string,
): Promise<{ app: App; note: string }> {
  if (Object.keys(request).length === 0)
    rejectRequest('The request changes nothing. Send at least one field.')
  if (isPackKind(app.kind) && request.audience === 'password')
    rejectRequest('A pack has no page that asks for a password. Choose another audience.')
  const expires = readExpiry(ctx, request.expiresAt)
  const ids = request.people && (await findPeople(ctx, request.people))
  if (request.groups) await checkGroups(ctx, request.groups)
  const password = request.password === undefined ? undefined : await hashPassword(request.password)
  return ctx.db.tx(async (db) => {
    const before = await lockApp(ctx, db, app)
    const audience = request.audience ?? before.audience
    if (audience === 'password' && (password ?? before.password) === null)
      rejectRequest('Send "password" with audience "password".', 'password')
    const after = await setAccess(ctx, db, before, {
      audience,
      ...(expires !== undefined && { expires }),
      ...(password !== undefined && { password }),
    })
    const leaves = before.listed !== 'off' && after.listed === 'off'
    if (ids) await replaceMembers(db, app.id, 'person', ids)
    if (request.groups) await replaceMembers(db, app.id, 'group', [...new Set(request.groups)])
    await recordBy(ctx, db, by, { did: 'audience', item: app.id, why: audience })
    if (leaves && before.listed === 'on') await notifyListed(ctx, db, after)
    return { app: after, note: noteOf(audience, leaves) }
  })
}

/** Throws `bad_request` for a time that has passed. */
export function readExpiry(
  { clock }: AppContext,
  text: string | null | undefined,
): number | null | undefined {
  if (text === undefined || text === null) return text
  const at = Date.parse(text)
  if (at > clock.now()) return at
  return rejectRequest('"expiresAt" must be in the future.', 'expiresAt')
}

async function checkGroups(ctx: AppContext, groups: string[]): Promise<void> {
  const known = await findKnownGroups(ctx.db.read, groups)
  const missing = groups.filter((group) => !known.has(group))
  if (missing.length > 0)
    rejectRequest(
      `There are no such groups here: ${missing.join(', ')}. Check their names.`,
      'groups',
    )
}

async function replaceMembers(
  db: Db,
  app: string,
  kind: 'person' | 'group',
  names: string[],
): Promise<void> {
  await db.delete(members).where(and(eq(members.app, app), eq(members.kind, kind)))
  const rows = names.slice(0, audienceMembersMax).map((member) => ({ app, kind, member }))
  if (rows.length > 0) await db.insert(members).values(rows)
}

const opens: Record<Audience, string> = {
  public: 'Anyone may open it.',
  link: 'Anyone with the link may open it.',
  password: 'Anyone with the password may open it.',
  people: 'The named people and groups may open it.',
  instance: 'Every signed-in person of this server may open it.',
}

const noteOf = (audience: Audience, leaves: boolean): string =>
  leaves
    ? `${opens[audience]} It left Explore, which lists public items without an end only.`
    : opens[audience]

/** Deletes who may open an app that is deleted. */
export async function removeAudience(db: Db, app: string): Promise<void> {
  await db.delete(members).where(eq(members.app, app))
  await db.delete(shareLinks).where(eq(shareLinks.app, app))
}
