import { and, asc, eq, isNotNull, lt } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate, listNewest, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import { iso } from '../../kernel/time.ts'
import type { Sentence } from '../../kernel/words/message.ts'
import { type Agent, findHandles } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import { findApp } from '../apps.ts'
import { weightUnits } from './counting.ts'
import { openMs } from './limits.ts'
import { addEndedRun, addOverdueShare, deleteRecords } from './record.ts'
import type { RunBody } from './schemas.ts'
import { runs } from './tables.ts'

export type Run = typeof runs.$inferSelect

/** An agent that calls from a network. */
export interface Reporter {
  agent: Agent
  /** An IPv4 /24 or an IPv6 /56. */
  network: string
}

/** Serializes the changes of the runs and the record of a pack. */
export const lockPack = (db: Db, pack: string): Promise<void> => lock(db, `runs of ${pack}`)

/** Returns an own run. Throws `run_not_found`. */
export async function getOwnRun(ctx: AppContext, agent: Agent, id: string): Promise<Run> {
  const run = await findRun(ctx, id)
  if (run?.agent === agent.id) return run
  throw new ApiError('run_not_found')
}

export async function findRun({ db }: AppContext, id: string): Promise<Run | undefined> {
  if (!idPattern.test(id)) return undefined
  const [run] = await db.read.select().from(runs).where(eq(runs.id, id))
  return run
}

/** Returns a run, locked with the record of its pack until the transaction ends. */
export async function lockRun(
  db: Db,
  { id, pack: known }: Pick<Run, 'id'> & { pack?: string },
): Promise<Run> {
  const pack = known ?? (await packOf(db, id))
  await lockPack(db, pack)
  const [run] = await forUpdate(db.select().from(runs).where(eq(runs.id, id)).$dynamic(), runs.id)
  if (!run) throw new ApiError('run_not_found')
  return run
}

async function packOf(db: Db, id: string): Promise<string> {
  const [run] = await db.select({ pack: runs.pack }).from(runs).where(eq(runs.id, id))
  return run?.pack ?? ''
}

/** Returns a run that still takes reports. Throws `run_closed`. */
export function requireOpen(run: Run): Run {
  if (run.state === 'open') return run
  throw new ApiError('run_closed', { state: run.state })
}

/** Returns the changed row of a run. */
export async function updateRun(
  db: Db,
  id: string,
  changes: Partial<typeof runs.$inferInsert>,
): Promise<Run> {
  const [run] = await db.update(runs).set(changes).where(eq(runs.id, id)).returning()
  if (!run) throw new Error('the run does not exist')
  return run
}

/** Lists the runs of an agent, newest first. */
export const listByAgent = (
  { db }: AppContext,
  agent: Agent,
  limit: number,
  after?: PagePosition,
): Promise<Run[]> => listNewest(db.read, runs, eq(runs.agent, agent.id), limit, after)

/** Lists the reported runs of a pack, newest first. */
export const listByPack = (
  { db }: AppContext,
  pack: string,
  limit: number,
  after?: PagePosition,
): Promise<Run[]> =>
  listNewest(db.read, runs, and(eq(runs.pack, pack), isNotNull(runs.outcome)), limit, after)

const batch = 100

/** Ends the runs in a state whose time is over, the longest waiting first, each by itself. */
async function expire(
  { db: engine }: AppContext,
  state: Run['state'],
  time: typeof runs.created | typeof runs.dueBy,
  before: number,
  end: (db: Db, run: Run) => Promise<void>,
): Promise<void> {
  for (let found = batch; found === batch;) {
    const isDue = and(eq(runs.state, state), lt(time, before))
    const due = await engine.read.select().from(runs).where(isDue).orderBy(asc(time)).limit(batch)
    found = due.length
    for (const run of due) await engine.tx((db) => end(db, run))
  }
}

/** Expires runs that were not reported within seven days. They stay in the denominator. */
export const expireRuns = (ctx: AppContext): Promise<void> =>
  expire(ctx, 'open', runs.created, ctx.clock.now() - openMs, (db, run) => expireRun(ctx, db, run))

async function expireRun({ clock }: AppContext, db: Db, { id, pack }: Run): Promise<void> {
  await lockPack(db, pack)
  const closed = clock.now()
  const [run] = await db
    .update(runs)
    .set({ state: 'expired', closed })
    .where(and(eq(runs.id, id), eq(runs.state, 'open')))
    .returning()
  if (run) await addEndedRun(db, run, { outcome: 'expired', at: closed })
}

/** Marks shares that were not paid within 30 days. They can still be paid. */
export const expireShares = (ctx: AppContext): Promise<void> =>
  expire(ctx, 'share_due', runs.dueBy, ctx.clock.now(), expireShare)

async function expireShare(db: Db, { id, pack }: Run): Promise<void> {
  await lockPack(db, pack)
  const isDue = and(eq(runs.id, id), eq(runs.state, 'share_due'))
  const [run] = await db.update(runs).set({ state: 'overdue' }).where(isDue).returning()
  if (run) await addOverdueShare(db, run)
}

/** Deletes the runs and records of a purged pack. */
export async function removeRuns(db: Db, pack: string): Promise<void> {
  await db.delete(runs).where(eq(runs.pack, pack))
  await deleteRecords(db, pack)
}

interface MakerNote {
  kind: 'run.started' | 'run.reported'
  agent: Agent
  text: Sentence
}

/** Notifies the maker of a pack about a run by another agent. */
export async function notifyMaker(
  ctx: AppContext,
  db: Db,
  run: Run,
  { kind, agent, text }: MakerNote,
): Promise<void> {
  if (run.maker === agent.id) return
  const { id, version, outcome } = run
  const data = { run: id, version, ...(outcome !== null && { outcome }) }
  const note = { to: run.maker, kind, item: run.pack, actor: agent.handle, text, data }
  await notify(ctx, db, note)
}

/** `public` leaves out the goal and the steps. */
export type RunView = 'all' | 'public'

/** Returns the wire form of runs, in order. */
export async function presentRuns(
  ctx: AppContext,
  rows: Run[],
  viewOf: (run: Run) => RunView,
): Promise<RunBody[]> {
  const handles = await findHandles(
    ctx,
    rows.map(({ agent }) => agent),
  )
  return rows.map((run) => ({
    id: run.id,
    pack: run.pack,
    version: run.version,
    agent: `@${handles.get(run.agent)}`,
    state: run.state,
    counted: run.counted,
    weight: run.weight / weightUnits,
    ...(viewOf(run) === 'all' && {
      goal: run.goal,
      steps: run.steps,
      profit: run.profit,
      revenue: run.revenue,
    }),
    share: presentShare(run, viewOf(run)),
    outcome: run.outcome,
    summary: run.summary,
    minutes: run.minutes,
    costCredits: run.costCredits,
    evidence: run.evidence,
    answer: run.answer === null ? null : { text: run.answer, at: iso(run.answered ?? run.created) },
    started: iso(run.created),
    closed: run.closed === null ? null : iso(run.closed),
    expires: iso(run.created + openMs),
  }))
}

/** Returns the state of the share; null for a pack without one. */
const presentShare = (
  { share, shareVerdict, shareDue, payment }: Run,
  view: RunView,
): RunBody['share'] =>
  share && {
    verdict: shareVerdict,
    ...(view === 'all' && { due: shareDue, payment }),
  }

/** Returns the wire form of one run. */
export async function presentRun(ctx: AppContext, run: Run, view: RunView): Promise<RunBody> {
  const [body] = await presentRuns(ctx, [run], () => view)
  if (!body) throw new Error('presenting one run returned none')
  return body
}

/** Returns how much of a run an agent may read: its own, and those of its packs, whole. */
export const viewOf =
  (reader: Agent | undefined) =>
  ({ agent, maker }: Run): RunView =>
    reader !== undefined && (reader.id === agent || reader.id === maker) ? 'all' : 'public'

/**
 * Returns a run that the reader may see: any of its own or of its packs, and reported runs of packs
 * on Explore. Throws `run_not_found`.
 */
export async function getReadableRun(
  ctx: AppContext,
  reader: Agent | undefined,
  id: string,
): Promise<Run> {
  const run = await findRun(ctx, id)
  if (run && viewOf(reader)(run) === 'all') return run
  const pack = run && run.outcome !== null ? await findApp(ctx, run.pack) : undefined
  if (run && pack?.listed === 'on') return run
  throw new ApiError('run_not_found')
}
