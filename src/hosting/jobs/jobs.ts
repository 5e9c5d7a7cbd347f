import type { AppContext } from '../../context.ts'
import type { After } from '../../core/cursor.ts'
import { idPattern } from '../../core/ids.ts'
import { second } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import type { Job } from '../../jobs/handler.ts'
import * as jobs from '../../jobs/jobs.ts'
import { agentAccount } from '../../ledger/accounts.ts'
import type { Agent } from '../agents/agents.ts'
import { jobKinds } from './schemas.ts'

const kinds: string[] = [...jobKinds]

/** A job of the agent's. Refuses job_not_found. */
export async function getOwnJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job && job.owner === agentAccount(agent.id) && kinds.includes(job.kind)) return job
  throw new ApiError('job_not_found')
}

/** The same, as soon as it has changed, or after so many seconds. */
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

/** An agent's jobs, newest first. */
export const listByAgent = (
  ctx: AppContext,
  agent: Agent,
  limit: number,
  after?: After,
): Promise<Job[]> => jobs.listJobs(ctx, agentAccount(agent.id), { kinds, limit, after })

/** Ends a job that has not ended; nothing is charged. Refuses job_not_found, not_cancellable. */
export async function cancelJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  await getOwnJob(ctx, agent, id)
  const job = await ctx.jobs.cancel(id)
  if (job) return job
  throw new ApiError('not_cancellable')
}
