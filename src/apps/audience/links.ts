import { and, desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newId, newSecret, sha256 } from '../../kernel/ids.ts'
import { shareLinkNameCharsMax, shareLinksPerAppMax } from '../../kernel/limits.ts'
import { hasVisibleText, isPlainLine } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { recordBy } from '../../people/audit/audit.ts'
import { type App, findTakenIds, lockApp, setAccess } from '../apps.ts'
import { isPackKind } from '../kinds.ts'
import type { ShareLinkBody } from './schemas.ts'
import { shareLinks } from './tables.ts'

type ShareLink = typeof shareLinks.$inferSelect

export const presentLink = ({ id, name, created, expires, used }: ShareLink): ShareLinkBody => ({
  id,
  name,
  created: iso(created),
  expiresAt: expires === null ? null : iso(expires),
  used: used === null ? null : iso(used),
})

/** Lists the share links of an app, newest first. */
export const listLinks = (ctx: AppContext, { id }: Pick<App, 'id'>): Promise<ShareLink[]> =>
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
