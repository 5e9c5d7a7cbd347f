import { Value } from '@sinclair/typebox/value'

import type { Job } from '../../jobs/handlers.ts'
import { findJob, listJobs } from '../../jobs/jobs.ts'
import * as jobs from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { accepted, completed, type Success } from '../../kernel/http/outcome.ts'
import { buildPromptCharsMax } from '../../kernel/limits.ts'
import { fromCredits, type NanoUsd, toCredits } from '../../kernel/money.ts'
import { isPlainText } from '../../kernel/text.ts'
import { hour, minute, secondsUntil } from '../../kernel/time.ts'
import { agentAccount, lockAccounts } from '../../money/ledger/accounts.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { pay } from '../../money/pay.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type Actor, capFor } from '../../people/agents/spending.ts'
import { lockAgent } from '../../people/agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { presentJob } from '../jobs/schemas.ts'
import { appUrl, requireAppKind } from '../kinds.ts'
import { insertUnbuilt } from '../new-app.ts'
import * as pages from '../page-content.ts'
import { checkPublishQuota } from '../publish-quota.ts'
import { toAppFields } from '../publish.ts'
import type { PublishAppRequest } from '../schemas.ts'
import type { PublishVersionRequest } from '../versions/schemas.ts'
import { checkNote } from '../versions/versions.ts'
import { budgetOf, findBuilderModel, getBuilderModel } from './budget.ts'
import { reserveFreeBudget } from './free-credits.ts'
import { type BuildInput, BuildInputSchema } from './job-data.ts'

const kind = 'build'
const buildMs = 10 * minute

/**
 * Starts the build of a new app (document 1, operation 9). Returns 202 with its job, or 200 with
 * the price for a dry run. Throws `bad_request`, `games_off`, `prices_off`, `no_builder`,
 * `no_studio`, `builds_limit`, `publishes_limit`, `storage_full`, `busy`, `price_above_max`,
 * `not_enough_credits`, `daily_cap` and `paused`.
 */
export async function startBuild(
  ctx: AppContext,
  actor: Actor,
  request: PublishAppRequest,
): Promise<Success> {
  const prompt = checkPrompt(request.prompt)
  const named = toAppFields(ctx, request)
  const input = { prompt, kind: named.kind, store: request.store ?? false }
  return enqueueBuild(ctx, actor, { request, input, page: '' }, async (db) =>
    insertUnbuilt(ctx, db, actor.agent, named),
  )
}

/** Builds the next version. Throws what `startBuild` throws, `not_found` and `taken_down`. */
export async function startChange(
  ctx: AppContext,
  actor: Actor,
  id: string,
  request: PublishVersionRequest,
): Promise<Success> {
  const app = await apps.getOwnApp(ctx, actor.agent, id)
  apps.checkBuilt(app)
  const prompt = checkPrompt(request.prompt)
  const old = await pages.readPage(ctx, await apps.getVersion(ctx, id, app.version))
  const page = new TextDecoder().decode(old.identity)
  const note = checkNote(request.note)
  const input = { prompt, kind: requireAppKind(app), store: false, version: app.version, note }
  return enqueueBuild(ctx, actor, { request: { id, ...request }, input, page }, async () => app)
}

const usualPrompt = 'x'.repeat(1_000)

/**
 * Returns the maximum price of a build in whole credits; undefined where nothing builds. Without a
 * prompt, it covers prompts of up to 1,000 bytes. `page` is the page to change.
 */
export function quoteBuild(
  ctx: AppContext,
  kind: BuildInput['kind'],
  { prompt = usualPrompt, page = '' }: { prompt?: string | undefined; page?: string } = {},
): number | undefined {
  const by = findBuilderModel(ctx, kind)
  return by && Math.ceil(toCredits(budgetOf(ctx, by, { prompt, page }).price))
}

/** Returns what builds usually cost in credits, measured; undefined after too few of them. */
export async function findUsualPrice(ctx: AppContext): Promise<number | undefined> {
  const charge = await jobs.findUsualCharge(ctx, kind)
  return charge && toCredits(charge)
}

function checkPrompt(prompt = ''): string {
  if (prompt.trim() !== '' && isPlainText(prompt, buildPromptCharsMax)) return prompt
  rejectRequest(`"prompt" must be plain text of 1 to ${buildPromptCharsMax} characters.`, 'prompt')
}

interface BuildRequest {
  request: { dryRun?: boolean; maxCredits?: number; ref?: string; id?: string }
  input: Omit<BuildInput, 'free'>
  /** The page to change; empty for a new app. */
  page: string
}

async function enqueueBuild(
  ctx: AppContext,
  actor: Actor,
  { request, input, page }: BuildRequest,
  open: (db: Db) => Promise<apps.App>,
): Promise<Success> {
  const { price } = budgetOf(ctx, getBuilderModel(ctx, input.kind), { prompt: input.prompt, page })
  const { dryRun, ref, ...same } = request
  const { maxCredits } = request
  if (dryRun) return completed({ price: toCredits(price) })
  let isFreeSpent = false
  const response = await pay(ctx, {
    who: { owner: actor.agent.id, key: ref, fingerprint: same },
    prepare: async () => {
      const max = maxCredits === undefined ? price : fromCredits(maxCredits)
      if (price > max) throw new ApiError('price_above_max', { price, max })
      // The built page may need more bytes. An agent with no quota left is rejected before a model
      // is called.
      await checkPublishQuota(ctx, actor.agent.id, 1)
      return {
        commit: async (db) => {
          await jobs.lockOwner(db, agentAccount(actor.agent.id))
          await checkBuilds(ctx, db, actor)
          const app = await open(db)
          const { job, maxCost } = await insertJob(ctx, db, actor, { app, input, price })
          isFreeSpent = maxCost.funds === 'paid'
          const held = toCredits(price)
          const { id } = app
          const body = { job: presentJob(ctx, job), app: { id, link: appUrl(ctx, id) } }
          return { maxCosts: [maxCost], response: accepted({ ...body, price: held, held }) }
        },
      }
    },
    replay: (stored) => stored,
  }).catch((error: unknown) => {
    const isShort = isFreeSpent && isApiError(error, 'not_enough_credits')
    if (isShort) throw new ApiError('no_builder', { why: freeBudgetSpent })
    throw isWriteUnavailable(error) ? new ApiError('no_studio') : error
  })
  ctx.jobs.wake()
  return response
}

async function checkBuilds(ctx: AppContext, db: Db, { agent }: Actor): Promise<void> {
  const { used, max, retryAfter } = await getBuildUsage(ctx, db, agent.id)
  if (max > 0 && used >= max) throw new ApiError('builds_limit', { max, retryAfter })
}

/** Returns the builds of the last hour, the limit (0: none) and the seconds until the next. */
export async function getBuildUsage(ctx: AppContext, db: Db, agent: string) {
  const now = ctx.clock.now()
  const owner = agentAccount(agent)
  const { count: used, oldest = now } = await jobs.countSince(db, owner, kind, now - hour + 1)
  const retryAfter = secondsUntil(oldest + hour, now)
  return { used, max: ctx.config.buildsPerHour, retryAfter }
}

const freeBudgetSpent = 'The daily budget of free credits is used up until 00:00 UTC.'

/** Enqueues the job, inside a transaction. Throws `busy` while a build of the same kind is open. */
async function insertJob(
  ctx: AppContext,
  db: Db,
  actor: Actor,
  { app, input, price }: { app: apps.App; input: BuildRequest['input']; price: NanoUsd },
): Promise<{ job: Job; maxCost: HoldRequest }> {
  const { agent } = actor
  const cap = capFor(actor, price)
  const owner = agentAccount(agent.id)
  const slot = `${kind}:${input.kind}:${owner}`
  // Locks job, agent, account and free budget in the same order as the end of a build.
  await jobs.checkSlot(db, { kind, slot })
  // A closing account cancels its jobs and starts none.
  await lockAgent(ctx, db, agent.id)
  await lockAccounts(db, [owner])
  const free = await reserveFreeBudget(ctx, db, owner, price)
  const job = await jobs.enqueue(ctx, db, {
    kind,
    queue: 'builds',
    owner,
    item: app.id,
    slot,
    price,
    ms: buildMs,
    input: { ...input, free: `${free ?? 0}` },
  })
  const more = { ref: `build:${job.id}`, kind, item: app.id, job: job.id, cap, ms: 2 * buildMs }
  const funds = free === undefined ? 'paid' : 'any'
  return { job, maxCost: { account: owner, amount: price, funds, ...more } }
}

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
