import { type Static, Type } from '@sinclair/typebox'
import { and, asc, desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newId, newSecret, sha256 } from '../../kernel/ids.ts'
import {
  audienceMembersMax,
  passwordCharsMax,
  passwordCharsMin,
  shareLinkNameCharsMax,
  shareLinksPerAppMax,
} from '../../kernel/limits.ts'
import {
  IdSchema,
  lineSchema,
  LinkSchema,
  namedObject,
  notEmpty,
  nullable,
  oneOf,
  strictObject,
  TimeRequestSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { hasVisibleText, isPlainLine } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { recordBy } from '../../people/audit/audit.ts'
import { findKnownGroups, findPeople } from '../../people/groups.ts'
import { hashPassword } from '../../people/passwords.ts'
import { listNames } from '../../people/people.ts'
import { type App, findTakenIds, lockApp, setAccess } from '../apps.ts'
import { type Audience, audiences, isPackKind } from '../kinds.ts'
import { notifyListed } from '../notifications.ts'
import { audienceMembers as members, shareLinks } from './tables.ts'

/** A named link that opens an app to whoever has it. */
const ShareLinkSchema = namedObject('ShareLink', {
  id: IdSchema,
  name: Type.String(),
  created: TimeSchema,
  expiresAt: nullable(TimeSchema),
  used: nullable(TimeSchema),
})
export type ShareLinkBody = Static<typeof ShareLinkSchema>

const AudienceSchema = namedObject('Audience', {
  audience: oneOf(audiences),
  expiresAt: nullable(TimeSchema),
  hasPassword: Type.Boolean(),
  people: Type.Array(Type.String({ description: 'Names of accounts.' })),
  groups: Type.Array(Type.String()),
  links: Type.Array(ShareLinkSchema),
})
export type AudienceBody = Static<typeof AudienceSchema>

/** PATCH /apps/{id}/audience. */
export const ChangeAudienceSchema = strictObject(
  {
    audience: Type.Optional(oneOf(audiences)),
    password: Type.Optional(
      Type.String({
        minLength: passwordCharsMin,
        maxLength: passwordCharsMax,
        writeOnly: true,
        description: 'The password of the app, with audience "password".',
      }),
    ),
    people: Type.Optional(
      Type.Array(Type.String({ maxLength: 120 }), {
        maxItems: audienceMembersMax,
        description: 'Names of accounts here, with audience "people". Replaces the list.',
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: audienceMembersMax,
        description: 'Names of groups, with audience "people". Replaces the list.',
      }),
    ),
    expiresAt: Type.Optional(nullable(TimeRequestSchema)),
  },
  { ...notEmpty, examples: [{ audience: 'people', people: ['olga'] }] },
)
export type ChangeAudienceRequest = Static<typeof ChangeAudienceSchema>

export const AudienceResponseSchema = Type.Object({ audience: AudienceSchema })
export const ChangedAudienceSchema = Type.Object({ audience: AudienceSchema, note: Type.String() })

/** POST /apps/{id}/links. */
export const CreateLinkSchema = strictObject(
  {
    name: lineSchema(shareLinkNameCharsMax, {
      minLength: 1,
      description: 'Whom the link is for. Visitors do not see it.',
    }),
    expiresAt: Type.Optional(TimeRequestSchema),
  },
  { examples: [{ name: 'The board' }] },
)

export const CreatedLinkSchema = Type.Object({
  link: ShareLinkSchema,
  url: Type.String({ ...LinkSchema, description: 'Shown once.' }),
})
export const RevokedLinkSchema = Type.Object({ id: IdSchema, note: Type.String() })

/** POST /apps/{id}/open. */
export const OpenAppSchema = strictObject({
  password: Type.String({ maxLength: 1_000, writeOnly: true }),
})
export const OpenedAppSchema = Type.Object({ link: LinkSchema })

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

type ShareLink = typeof shareLinks.$inferSelect

const presentLink = ({ id, name, created, expires, used }: ShareLink): ShareLinkBody => ({
  id,
  name,
  created: iso(created),
  expiresAt: expires === null ? null : iso(expires),
  used: used === null ? null : iso(used),
})

/** Lists the share links of an app, newest first. */
const listLinks = (ctx: AppContext, { id }: Pick<App, 'id'>): Promise<ShareLink[]> =>
  ctx.db.read
    .select()
    .from(shareLinks)
    .where(eq(shareLinks.app, id))
    .orderBy(desc(shareLinks.created), desc(shareLinks.id))
    .limit(shareLinksPerAppMax)

/**
 * Creates a share link. Its address is returned once. The audit log has the link where an operator
 * creates it, `by`. Throws `bad_request`.
 */
export async function createLink(
  ctx: AppContext,
  app: App,
  { name, expires }: { name: string; expires: number | null },
  by?: string,
): Promise<{ link: ShareLinkBody; url: string }> {
  if (isPackKind(app.kind))
    rejectRequest('Share links are for apps and games only. Change the audience of a pack instead.')
  if (!isPlainLine(name, shareLinkNameCharsMax) || !hasVisibleText(name))
    rejectRequest(
      `"name" must be one plain line of 1 to ${shareLinkNameCharsMax} characters.`,
      'name',
    )
  const secret = newSecret()
  const link = await ctx.db.tx(async (db) => {
    await lockApp(ctx, db, app)
    if ((await countRows(db, shareLinks, eq(shareLinks.app, app.id))) >= shareLinksPerAppMax)
      rejectRequest(`An app has at most ${shareLinksPerAppMax} share links. Revoke one first.`)
    const [row] = await db
      .insert(shareLinks)
      .values({
        id: newId(),
        app: app.id,
        name,
        hash: sha256(secret),
        created: ctx.clock.now(),
        expires,
        used: null,
      })
      .returning()
    if (!row) throw new Error('the insert returned no link')
    await recordBy(ctx, db, by, { did: 'share link', item: app.id, why: name })
    return row
  })
  return { link: presentLink(link), url: `${ctx.urls.app}/open/${app.id}/${secret}` }
}

/**
 * Revokes a share link. Pages that it opened end. The audit log has it where an operator revokes
 * it, `by`. Throws `not_found`.
 */
export async function revokeLink(
  ctx: AppContext,
  app: App,
  id: string,
  by?: string,
): Promise<void> {
  await ctx.db.tx(async (db) => {
    // Files that the link opened get another address.
    await setAccess(ctx, db, await lockApp(ctx, db, app), {})
    const [found] = await db
      .delete(shareLinks)
      .where(and(eq(shareLinks.app, app.id), eq(shareLinks.id, id)))
      .returning({ name: shareLinks.name })
    const see = `GET /apps/${app.id}/audience lists them.`
    if (!found) throw new ApiError('not_found', { what: 'share link', see })
    await recordBy(ctx, db, by, { did: 'revoke share link', item: app.id, why: found.name })
  })
}

/**
 * Deletes the share links of a restored database that `replaced`, the database before it, no longer
 * has for its apps.
 */
export async function deleteLinksWithout(db: Db, replaced: Db): Promise<void> {
  const left = await replaced.select({ id: shareLinks.id }).from(shareLinks)
  const ids = new Set(left.map(({ id }) => id))
  const all = await db.select({ id: shareLinks.id, app: shareLinks.app }).from(shareLinks)
  const missing = all.filter(({ id }) => !ids.has(id))
  const apps = await findTakenIds(replaced, [...new Set(missing.map(({ app }) => app))])
  for (const { id, app } of missing) {
    if (apps.has(app)) await db.delete(shareLinks).where(eq(shareLinks.id, id))
  }
}
