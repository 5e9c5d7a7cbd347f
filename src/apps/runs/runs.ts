import { and, eq, isNotNull } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate, listNewest, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import type { Agent } from '../../people/agents/agents.ts'
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
