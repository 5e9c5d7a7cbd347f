import { Value } from '@sinclair/typebox/value'

import type { Job } from '../../jobs/handlers.ts'
import { findJob, listJobs } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type BuildInput, BuildInputSchema } from './job-data.ts'

/** A build with its request. */
export interface BuildRecord {
  job: Job
  input: BuildInput
}

const toRecords = (jobs: (Job | undefined)[]): BuildRecord[] =>
  jobs.flatMap((job) => {
    const input = job?.input
    return job && Value.Check(BuildInputSchema, input) ? [{ job, input }] : []
  })

/** Returns the builds of an app, newest first. They are kept for 30 days. */
export async function listBuilds(
  ctx: AppContext,
  agent: Agent,
  app: string,
  limit: number,
): Promise<BuildRecord[]> {
  const query = { kinds: ['build'], item: app, limit }
  return toRecords(await listJobs(ctx, agentAccount(agent.id), query))
}

/** Returns a build of one of these agents; undefined for any other job. */
export async function findBuild(
  ctx: AppContext,
  agents: Agent[],
  id: string,
): Promise<BuildRecord | undefined> {
  const [build] = toRecords([await findJob(ctx, id)])
  const isOwn = agents.some((agent) => agentAccount(agent.id) === build?.job.owner)
  return isOwn && build?.job.kind === 'build' ? build : undefined
}

/** Returns the newest build of an app, also where a failed first build removed the app. */
export async function findBuildOfApp(
  ctx: AppContext,
  agents: Agent[],
  app: string,
): Promise<BuildRecord | undefined> {
  const builds = await Promise.all(agents.map((agent) => listBuilds(ctx, agent, app, 1)))
  return builds.flat()[0]
}
