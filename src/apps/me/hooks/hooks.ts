import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, asc, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm'

import type { Handler, JobRun, Outcome } from '../../../jobs/handlers.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import type { AppContext } from '../../../kernel/context.ts'
import type { PagePosition } from '../../../kernel/cursor.ts'
import type { Db } from '../../../kernel/db/engine.ts'
import { countRows, listNewest, prepared } from '../../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../../kernel/errors.ts'
import {
  anyNetwork,
  fetchGuarded,
  GuardedFetchError,
  type Network,
  publicUrl,
} from '../../../kernel/fetch.ts'
import { idPattern, newId, sign } from '../../../kernel/ids.ts'
import {
  deliveriesWaitingMax,
  hooksPerAgentMax,
  hookUrlCharsMax,
  listPageMax,
} from '../../../kernel/limits.ts'
import { zero } from '../../../kernel/money.ts'
import { day, hour, iso, minute, second, unixSeconds } from '../../../kernel/time.ts'
import * as keys from '../../../money/keys/keys.ts'
import type { NoteKind } from '../../../people/notifications/kinds.ts'
import {
  findLatestNoteNumber,
  latestNoteNumbers,
  listNotesAfter,
  type Note,
} from '../../../people/notifications/notifications.ts'
import { presentNote } from '../notes/schemas.ts'
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

export type Delivery = typeof deliveries.$inferSelect

const hooksPerRun = 100

/** Enqueues the notes written since the last run for their hooks. */
export async function enqueueDeliveries(ctx: AppContext): Promise<void> {
  const behind = await listHooksBehind(ctx, hooksPerRun)
  for (const { hook, latest } of behind) {
    const notes = await listNotesAfter(ctx, hook.agent, hook.seen, listPageMax)
    // The newest notes may have been deleted meanwhile.
    const last = notes.at(-1)?.number ?? latest
    await ctx.db.tx((db) => enqueueForHook(ctx, db, hook, notes, last))
  }
  if (behind.length > 0) ctx.jobs.wake()
}

async function enqueueForHook(ctx: AppContext, db: Db, hook: Hook, notes: Note[], last: number) {
  if (!(await advance(db, hook, last))) return
  const selected = notes.filter(({ kind }) => hook.kinds === null || hook.kinds.includes(kind))
  let quota = deliveriesWaitingMax - (await countWaiting(db, hook.id))
  for (const note of selected) {
    const delivery = await insertDelivery(ctx, db, hook, note, quota > 0)
    if (quota > 0) await enqueueDelivery(ctx, db, delivery)
    quota -= 1
  }
}

const countWaiting = (db: Db, hook: string): Promise<number> =>
  // A literal, as in the partial index.
  countRows(db, deliveries, and(eq(deliveries.hook, hook), sql`${deliveries.state} = 'waiting'`))

/** Inserts a delivery. Past the quota it has failed already and can be redelivered by hand. */
async function insertDelivery(ctx: AppContext, db: Db, hook: Hook, note: Note, hasQuota: boolean) {
  const at = ctx.clock.now()
  const message = { type: note.kind, timestamp: iso(note.at), data: presentNote(note) }
  const [delivery] = await db
    .insert(deliveries)
    .values({
      id: newId(),
      hook: hook.id,
      note: note.id,
      kind: note.kind,
      body: JSON.stringify(message),
      created: at,
      ...(hasQuota
        ? { state: 'waiting', next: at }
        : { state: 'failed', problem: 'too_many_waiting', ended: at }),
    })
    .returning()
  if (!delivery) throw new Error('inserting the delivery returned no row')
  return delivery
}

const enqueueDelivery = (ctx: AppContext, db: Db, { id, hook }: Delivery) =>
  enqueue(ctx, db, {
    kind: 'hook',
    queue: 'hooks',
    owner: `hook:${hook}`,
    slot: `hook:${id}`,
    input: { delivery: id },
    price: zero,
    // The last attempt starts within 25 hours.
    ms: 30 * hour,
  })

/** Lists the deliveries of a hook, newest first. */
export const listDeliveries = (
  { db }: AppContext,
  hook: string,
  limit: number,
  after?: PagePosition,
): Promise<Delivery[]> => listNewest(db.read, deliveries, eq(deliveries.hook, hook), limit, after)

/** Restarts the attempts of a delivery. Throws `not_found`, and `busy` while it is waiting. */
export async function redeliver(ctx: AppContext, hook: Hook, id: string): Promise<Delivery> {
  const isOwn = and(eq(deliveries.id, id), eq(deliveries.hook, hook.id))
  const restart = { state: 'waiting', tries: 0, next: ctx.clock.now(), ended: null } as const
  const delivery = await ctx.db.tx(async (db) => {
    const [row] = idPattern.test(id)
      ? await db.update(deliveries).set(restart).where(isOwn).returning()
      : []
    const see = `GET /me/hooks/${hook.id}/deliveries lists its deliveries.`
    if (!row) throw new ApiError('not_found', { what: 'delivery', see })
    await enqueueDelivery(ctx, db, row)
    return row
  })
  ctx.jobs.wake()
  return delivery
}

/** Returns a delivery with its hook; undefined if either was deleted. */
async function findDelivery(
  { db }: AppContext,
  id: string,
): Promise<{ delivery: Delivery; hook: Hook } | undefined> {
  const [found] = await db.read
    .select({ delivery: deliveries, hook: hooks })
    .from(deliveries)
    .innerJoin(hooks, eq(hooks.id, deliveries.hook))
    .where(eq(deliveries.id, id))
  return found
}

async function recordAttempt(
  db: Db,
  id: string,
  outcome: Pick<Delivery, 'state' | 'tries' | 'status' | 'problem' | 'next' | 'ended'>,
): Promise<void> {
  await db.update(deliveries).set(outcome).where(eq(deliveries.id, id))
}

/** Fails a waiting delivery whose job ended without an attempt. */
async function recordFailure({ clock }: AppContext, db: Db, id: string, problem: string) {
  await db
    .update(deliveries)
    .set({ state: 'failed', problem, next: null, ended: clock.now() })
    .where(and(eq(deliveries.id, id), eq(deliveries.state, 'waiting')))
}

const retentionMs = 30 * day

/** Deletes deliveries that ended more than 30 days ago. */
export async function deleteOldDeliveries({ db, clock }: AppContext): Promise<void> {
  await db.tx((tx) => tx.delete(deliveries).where(lt(deliveries.ended, clock.now() - retentionMs)))
}

const signingKey = ({ secret }: Pick<AppContext, 'secret'>, hook: string): Buffer =>
  Buffer.from(sign(secret, `hook ${hook}`), 'base64url')

/** Returns the secret of a hook in the format of Standard Webhooks. It is not stored. */
export const signingSecret = (ctx: Pick<AppContext, 'secret'>, hook: string): string =>
  `whsec_${signingKey(ctx, hook).toString('base64')}`

/** Returns the headers of a message (https://www.standardwebhooks.com) sent at `at`, in ms. */
export function signedHeaders(
  ctx: Pick<AppContext, 'secret'>,
  { hook, note: id, body }: { hook: string; note: string; body: string },
  at: number,
): Record<string, string> {
  const timestamp = `${unixSeconds(at)}`
  const mac = Buffer.from(sign(signingKey(ctx, hook), `${id}.${timestamp}.${body}`), 'base64url')
  return {
    'content-type': 'application/json',
    'user-agent': 'berth',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac.toString('base64')}`,
  }
}

const Input = Type.Object({ delivery: Type.String() })

/** The waits between eight attempts; the last attempt is a day after the first. */
const waits = [5 * second, 5 * minute, 25 * minute, 90 * minute, 4 * hour, 6 * hour, 12 * hour]

/** Only the status of a response counts. The body is not read. */
const bounds = { ms: 10 * second }

/**
 * Posts a delivery until the receiver responds with 2xx, at most eight times. Each attempt takes at
 * most 10 s, connects to the address that was checked and follows no redirect. 410 ends the hook.
 */
export const hookHandler = (ctx: AppContext, net?: Network): Handler<typeof Input> => ({
  input: Input,
  data: Type.Null(),
  restarts: Infinity,
  run: (job) => run(ctx, job, net ?? (ctx.config.hooksToPrivate ? anyNetwork : undefined)),
  compensate: async (db, { input, error }) => {
    if (!Value.Check(Input, input)) return
    await recordFailure(ctx, db, input.delivery, error?.code ?? 'cancelled')
  },
})

async function run(
  ctx: AppContext,
  { input, signal, report }: JobRun<{ delivery: string }, unknown>,
  net: Network | undefined,
): Promise<Outcome> {
  const found = await findDelivery(ctx, input.delivery)
  if (!found || found.hook.gone !== null) {
    return {
      end: 'failed',
      error: { code: 'gone', error: 'The webhook was deleted or is gone. Create it again.' },
    }
  }
  const { delivery, hook } = found
  const { status = null, problem = null } = await post(ctx, hook, delivery, signal, net)
  const tries = delivery.tries + 1
  const wait = waits[tries - 1]
  const now = ctx.clock.now()
  const attempt = { tries, status, problem, next: null, ended: now }
  const isDelivered = status !== null && status >= 200 && status < 300
  if (!isDelivered && status !== 410 && wait !== undefined) {
    const retry = { ...attempt, state: 'waiting', next: now + wait, ended: null } as const
    await report({}, (db) => recordAttempt(db, delivery.id, retry))
    return { end: 'again', afterMs: wait }
  }
  const state = isDelivered ? 'delivered' : 'failed'
  return {
    end: 'done',
    record: async (db) => {
      await recordAttempt(db, delivery.id, { ...attempt, state })
      if (status === 410) await markGone(ctx, db, hook.id)
    },
  }
}

/** Returns the status of the response, or why there is none. */
async function post(
  ctx: AppContext,
  { id: hook, url }: Hook,
  { note, body }: Delivery,
  signal: AbortSignal,
  net: Network | undefined,
): Promise<{ status?: number; problem?: string }> {
  const headers = signedHeaders(ctx, { hook, note, body }, ctx.clock.now())
  try {
    const init = { method: 'POST', headers, body }
    const { status } = await fetchGuarded(url, init, bounds, signal, net)
    return { status }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GuardedFetchError) return { problem: error.reason }
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return { problem: isTimeout ? 'timed_out' : 'unreachable' }
  }
}
