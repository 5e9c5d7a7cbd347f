import { and, asc, desc, eq, gt, isNull, sql } from 'drizzle-orm'

import type { AppContext } from '../../../kernel/context.ts'
import type { Db } from '../../../kernel/db/engine.ts'
import { countRows, prepared } from '../../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../../kernel/errors.ts'
import { publicUrl } from '../../../kernel/fetch.ts'
import { idPattern, newId } from '../../../kernel/ids.ts'
import { hooksPerAgentMax, hookUrlCharsMax } from '../../../kernel/limits.ts'
import * as keys from '../../../money/keys/keys.ts'
import type { NoteKind } from '../../../people/notifications/kinds.ts'
import {
  findLatestNoteNumber,
  latestNoteNumbers,
} from '../../../people/notifications/notifications.ts'
import { deliveries, hooks } from './tables.ts'

export type Hook = typeof hooks.$inferSelect

/**
 * Adds a hook that receives the future notes of a key's agent. Throws `bad_request` for a URL that
 * is not public and past five hooks, and `bad_key` if the key was revoked meanwhile.
 */
export async function add(
  ctx: AppContext,
  { owner: agent, prefix }: keys.Key,
  { url, kinds }: { url: string; kinds?: NoteKind[] | undefined },
): Promise<Hook> {
  const address = parseUrl(ctx, url)
  return ctx.db.tx(async (db) => {
    // Closing the account revokes its keys and removes its hooks under the same lock.
    await keys.lockOwner(db, agent)
    const live = await keys.list(db, agent)
    if (!live.some((key) => key.prefix === prefix)) throw new ApiError('bad_key')
    if ((await countRows(db, hooks, eq(hooks.agent, agent))) >= hooksPerAgentMax)
      rejectRequest(`You have reached the limit of ${hooksPerAgentMax} hooks. Delete one first.`)
    const [hook] = await db
      .insert(hooks)
      .values({
        id: newId(),
        agent,
        url: address,
        kinds: kinds ?? null,
        seen: await findLatestNoteNumber(db, agent),
        created: ctx.clock.now(),
      })
      .returning()
    if (!hook) throw new Error('inserting the hook returned no row')
    return hook
  })
}

function parseUrl({ config }: AppContext, text: string): string {
  const url = config.hooksToPrivate ? URL.parse(text) : publicUrl(text)
  const isAllowed = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (isAllowed && url.href.length <= hookUrlCharsMax) return url.href
  rejectRequest(
    `"url" must be a public http or https address without a user name or password, of at most ${hookUrlCharsMax} characters.`,
    'url',
  )
}

/** Lists the hooks of an agent, newest first; at most `hooksPerAgentMax`. */
export const list = ({ db }: AppContext, agent: string): Promise<Hook[]> =>
  db.read
    .select()
    .from(hooks)
    .where(eq(hooks.agent, agent))
    .orderBy(desc(hooks.created), desc(hooks.id))

/** Returns a hook of the agent. Throws `not_found`. */
export async function getHook({ db }: AppContext, agent: string, id: string): Promise<Hook> {
  const isOwn = and(eq(hooks.id, id), eq(hooks.agent, agent))
  const [hook] = idPattern.test(id) ? await db.read.select().from(hooks).where(isOwn) : []
  if (hook) return hook
  throw new ApiError('not_found', { what: 'hook', see: 'GET /me/hooks lists your hooks.' })
}

/** Removes a hook with its deliveries and stops their attempts. Throws `not_found`. */
export async function remove(ctx: AppContext, agent: string, id: string): Promise<void> {
  await getHook(ctx, agent, id)
  await ctx.db.tx((db) => removeRows(db, id))
}

async function removeRows(db: Db, id: string): Promise<void> {
  await db.delete(deliveries).where(eq(deliveries.hook, id))
  await db.delete(hooks).where(eq(hooks.id, id))
}

/** Removes every hook of an agent, in the transaction that closes its account. */
export async function removeAllHooks(db: Db, agent: string): Promise<void> {
  const own = await db.select({ id: hooks.id }).from(hooks).where(eq(hooks.agent, agent))
  for (const { id } of own) await removeRows(db, id)
}

const findBehind = prepared((db) => {
  const latest = latestNoteNumbers(db)
  return db
    .select({ hook: hooks, latest: latest.last })
    .from(hooks)
    .innerJoin(latest, eq(latest.agent, hooks.agent))
    .where(and(gt(latest.last, hooks.seen), isNull(hooks.gone)))
    .orderBy(asc(hooks.id))
    .limit(sql.placeholder('limit'))
    .prepare()
})

/** Lists hooks whose agents have notes that are not enqueued yet, with the newest number. */
export const listHooksBehind = ({ db }: AppContext, limit: number) =>
  findBehind(db.read).execute({ limit })

/** Records that notes up to `last` are enqueued. Returns false if another process did it first. */
export async function advance(db: Db, { id, seen }: Hook, last: number): Promise<boolean> {
  const advanced = await db
    .update(hooks)
    .set({ seen: last })
    .where(and(eq(hooks.id, id), eq(hooks.seen, seen)))
    .returning({ id: hooks.id })
  return advanced.length > 0
}

/** Records that the receiver is gone, so nothing more is sent there. */
export async function markGone({ clock }: AppContext, db: Db, id: string): Promise<void> {
  await db.update(hooks).set({ gone: clock.now() }).where(eq(hooks.id, id))
}
