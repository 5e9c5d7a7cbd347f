import type { Job } from '../../jobs/handlers.ts'
import * as jobs from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import { second } from '../../kernel/time.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { jobKinds } from './schemas.ts'

const kinds: string[] = [...jobKinds]

/** Returns a job of this agent. Throws `job_not_found`. */
export async function getOwnJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job && job.owner === agentAccount(agent.id) && kinds.includes(job.kind)) return job
  throw new ApiError('job_not_found')
}

/** Returns a job when it changes, or after `wait` seconds. Throws `job_not_found`. */
export async function waitForOwnJob(
  ctx: AppContext,
  agent: Agent,
  id: string,
  { wait, signal }: { wait: number; signal: AbortSignal },
): Promise<Job> {
  const job = await getOwnJob(ctx, agent, id)
  if (wait === 0) return job
  const { events: seen } = job
  return (await ctx.jobs.waitFor(id, { seen, ms: wait * second, signal })) ?? job
}

/** Returns an agent's jobs after a cursor, newest first. */
export const listByAgent = (
  ctx: AppContext,
  agent: Agent,
  limit: number,
  after?: PagePosition,
): Promise<Job[]> => jobs.listJobs(ctx, agentAccount(agent.id), { kinds, limit, after })

/** Cancels an open job without charge. Throws `job_not_found` and `not_cancellable`. */
export async function cancelJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  await getOwnJob(ctx, agent, id)
  const job = await ctx.jobs.cancel(id)
  if (job) return job
  throw new ApiError('not_cancellable')
}
