import { and, asc, desc, eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import { publicUrl } from '../../../core/fetch.ts'
import { idPattern, newId } from '../../../core/ids.ts'
import type { Db } from '../../../db/engine.ts'
import { countRows } from '../../../db/query.ts'
import { ApiError } from '../../../errors.ts'
import * as keys from '../../../keys/keys.ts'
import { hooksPerAgentMax, hookUrlCharsMax } from '../../../limits.ts'
import type { NoteKind } from '../../notifications/kinds.ts'
import { noteCounts } from '../../notifications/tables.ts'
import { deliveries, hooks } from './tables.ts'

export type Hook = typeof hooks.$inferSelect

/**
 * Adds a hook for the notes of a key's agent from now on. Refuses bad_request for an address that
 * is none of the open internet, and past five hooks; bad_key for a key that was revoked meanwhile.
 */
export async function add(
  ctx: AppContext,
  { owner: agent, prefix }: keys.Key,
  { url, kinds }: { url: string; kinds?: NoteKind[] | undefined },
): Promise<Hook> {
  const address = addressOf(ctx, url)
  return ctx.db.tx(async (db) => {
    // Its account may be closing, and its keys and hooks with it.
    await keys.lockOwner(db, agent)
    const live = await keys.list(db, agent)
    if (!live.some((key) => key.prefix === prefix)) throw new ApiError('bad_key')
    if ((await countRows(db, hooks, eq(hooks.agent, agent))) >= hooksPerAgentMax) {
      const problem = `An agent has at most ${hooksPerAgentMax} hooks. Delete one first.`
      throw new ApiError('bad_request', { problem })
    }
    const [told] = await db.select().from(noteCounts).where(eq(noteCounts.agent, agent))
    const [made] = await db
      .insert(hooks)
      .values({
        id: newId(),
        agent,
        url: address,
        kinds: kinds ?? null,
        seen: told?.last ?? 0,
        created: ctx.clock.now(),
      })
      .returning()
    if (!made) throw new Error('the hook was not kept')
    return made
  })
}

function addressOf({ config }: AppContext, text: string): string {
  const url = config.hooksToPrivate ? URL.parse(text) : publicUrl(text)
  const isFine = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (isFine && url.href.length <= hookUrlCharsMax) return url.href
  const problem =
    '"url" is an http or https address of the open internet, without a name or password, of at ' +
    `most ${hookUrlCharsMax} characters.`
  throw new ApiError('bad_request', { problem, param: 'url' })
}

/** An agent's hooks, newest first; there are at most `hooksPerAgentMax`. */
export const list = ({ db }: AppContext, agent: string): Promise<Hook[]> =>
  db.read
    .select()
    .from(hooks)
    .where(eq(hooks.agent, agent))
    .orderBy(desc(hooks.created), desc(hooks.id))

/** An agent's own hook. Refuses not_found. */
export async function getHook({ db }: AppContext, agent: string, id: string): Promise<Hook> {
  const mine = and(eq(hooks.id, id), eq(hooks.agent, agent))
  const [hook] = idPattern.test(id) ? await db.read.select().from(hooks).where(mine) : []
  if (hook) return hook
  throw new ApiError('not_found', { what: 'hook', see: 'GET /me/hooks lists yours.' })
}

/** Removes a hook with its deliveries; what is on its way is not tried again. Refuses not_found. */
export async function remove(ctx: AppContext, agent: string, id: string): Promise<void> {
  await getHook(ctx, agent, id)
  await ctx.db.tx((db) => removeRows(db, id))
}

async function removeRows(db: Db, id: string): Promise<void> {
  await db.delete(deliveries).where(eq(deliveries.hook, id))
  await db.delete(hooks).where(eq(hooks.id, id))
}

/** Removes every hook of an agent that closes its account, inside a transaction. */
export async function removeAllHooks(db: Db, agent: string): Promise<void> {
  const own = await db.select({ id: hooks.id }).from(hooks).where(eq(hooks.agent, agent))
  for (const { id } of own) await removeRows(db, id)
}

/** A hook, and the number of the newest note that its agent was told. */
interface Behind {
  hook: Hook
  told: number
}

/** Hooks whose agents were told something that was not looked at for them yet. */
export const listHooksBehind = ({ db }: AppContext, limit: number): Promise<Behind[]> =>
  db.read
    .select({ hook: hooks, told: noteCounts.last })
    .from(hooks)
    .innerJoin(noteCounts, eq(noteCounts.agent, hooks.agent))
    .where(sql`${noteCounts.last} > ${hooks.seen} and ${hooks.gone} is null`)
    .orderBy(asc(hooks.id))
    .limit(limit)

/** Looked at up to this note, inside a transaction. False when another process was first. */
export async function advance(db: Db, { id, seen }: Hook, last: number): Promise<boolean> {
  const passed = await db
    .update(hooks)
    .set({ seen: last })
    .where(and(eq(hooks.id, id), eq(hooks.seen, seen)))
    .returning({ id: hooks.id })
  return passed.length > 0
}

/** Its receiver is gone: nothing more is sent there. */
export async function markGone({ clock }: AppContext, db: Db, id: string): Promise<void> {
  await db.update(hooks).set({ gone: clock.now() }).where(eq(hooks.id, id))
}
