import type { After } from '../../core/cursor.ts'
import { idPattern } from '../../core/ids.ts'
import { second } from '../../core/time.ts'
import type { House } from '../../house.ts'
import type { Job } from '../../jobs/handler.ts'
import * as jobs from '../../jobs/jobs.ts'
import { agentAccount } from '../../ledger/accounts.ts'
import { Refusal } from '../../refusals.ts'
import type { Agent } from '../agents/agents.ts'
import { jobKinds } from './shapes.ts'

const kinds: string[] = [...jobKinds]

/** A job of the agent's. Refuses job_not_found. */
export async function theOwn(house: House, agent: Agent, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.find(house, id) : undefined
  if (job && job.owner === agentAccount(agent.id) && kinds.includes(job.kind)) return job
  throw new Refusal('job_not_found')
}

/** The same, as soon as it has changed, or after so many seconds. */
export async function theOwnAfter(
  house: House,
  agent: Agent,
  id: string,
  { wait, signal }: { wait: number; signal: AbortSignal },
): Promise<Job> {
  const job = await theOwn(house, agent, id)
  if (wait === 0) return job
  const { events: seen } = job
  return (await house.jobs.waitFor(id, { seen, ms: wait * second, signal })) ?? job
}

/** An agent's jobs, newest first. */
export const listOf = (house: House, agent: Agent, limit: number, after?: After): Promise<Job[]> =>
  jobs.list(house, agentAccount(agent.id), { kinds, limit, after })

/** Ends a job that has not ended; nothing is charged. Refuses job_not_found, not_cancellable. */
export async function cancel(house: House, agent: Agent, id: string): Promise<Job> {
  await theOwn(house, agent, id)
  const job = await house.jobs.cancel(id)
  if (job) return job
  throw new Refusal('not_cancellable')
}
