import type { AppContext } from '../../../context.ts'
import { fromCredits, type NanoUsd, toCredits } from '../../../core/money.ts'
import { isPlainText } from '../../../core/text.ts'
import { hour, minute, secondsUntil } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import { isWriteUnavailable } from '../../../db/error.ts'
import { ApiError, isApiError } from '../../../errors.ts'
import type { StoredResponse } from '../../../idempotency/idempotency.ts'
import type { Job } from '../../../jobs/handler.ts'
import * as jobs from '../../../jobs/jobs.ts'
import { agentAccount, lockAccounts } from '../../../ledger/accounts.ts'
import { hold } from '../../../ledger/ledger.ts'
import { buildPromptCharsMax } from '../../../limits.ts'
import { lockAgent } from '../../agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { insertBuilding } from '../new-app.ts'
import * as pages from '../page-content.ts'
import { appUrl } from '../present.ts'
import { toAppFields } from '../publish.ts'
import type { PublishAppRequest } from '../schemas.ts'
import { presentJob } from '../../jobs/present.ts'
import { type Caller, capFor } from '../../authentication.ts'
import type { PublishVersionRequest } from '../versions/schemas.ts'
import { checkNote } from '../versions/versions.ts'
import { theBuilder } from './builder.ts'
import { takeFree } from './free-credits.ts'
import type { BuildInput } from './job-data.ts'
import { budgetOf } from './budget.ts'

const kind = 'build'
const buildMs = 10 * minute

/**
 * Starts the build of a new app (document 1, operation 9): 202 with its job, or 200 with the price
 * for a dry run. Refuses bad_request, games_off, no_builder, no_studio, builds_limit,
 * publishes_limit, storage_full, busy, price_above_max, not_enough_credits, daily_cap, paused.
 */
export async function startBuild(ctx: AppContext, caller: Caller, wanted: PublishAppRequest): Promise<StoredResponse> {
  const prompt = promptOf(wanted.prompt)
  const named = toAppFields(ctx, wanted)
  const input = { prompt, kind: named.kind, store: wanted.store ?? false }
  return begin(ctx, caller, { wanted, input, page: '' }, async (db) =>
    insertBuilding(ctx, db, caller.agent, named),
  )
}

/** Starts the build of an app's next version from what is to change. Refuses as `build` does. */
export async function startChange(
  ctx: AppContext,
  caller: Caller,
  id: string,
  wanted: PublishVersionRequest,
): Promise<StoredResponse> {
  const app = await apps.getOwnApp(ctx, caller.agent, id)
  apps.checkBuilt(app)
  const prompt = promptOf(wanted.prompt)
  const old = await pages.readPage(ctx, await apps.getVersion(ctx, id, app.version))
  const page = new TextDecoder().decode(old.identity)
  const note = checkNote(wanted.note)
  const input = { prompt, kind: app.kind, store: false, version: app.version, note }
  return begin(ctx, caller, { wanted: { id, ...wanted }, input, page }, async () => app)
}

function promptOf(prompt = ''): string {
  if (prompt.trim() !== '' && isPlainText(prompt, buildPromptCharsMax)) return prompt
  const problem = `"prompt" is plain text of 1 to ${buildPromptCharsMax} characters.`
  throw new ApiError('bad_request', { problem, param: 'prompt' })
}

interface Wanted {
  wanted: { dryRun?: boolean; maxCredits?: number; ref?: string; id?: string }
  input: Omit<BuildInput, 'free'>
  /** The page that is changed; empty for a new app. */
  page: string
}

async function begin(
  ctx: AppContext,
  caller: Caller,
  { wanted, input, page }: Wanted,
  open: (db: Db) => Promise<apps.App>,
): Promise<StoredResponse> {
  const { price } = budgetOf(ctx, theBuilder(ctx, input.kind), { prompt: input.prompt, page })
  const { dryRun, ref, ...same } = wanted
  const { maxCredits } = wanted
  if (dryRun) return { status: 200, body: { price: toCredits(price) } }
  const answer = await ctx.idempotency
    .run(caller.agent.id, ref, same, async (keepAnswer) => {
      const max = maxCredits === undefined ? price : fromCredits(maxCredits)
      if (price > max) throw new ApiError('price_above_max', { price, max })
      // What lands then may need more; where there is none at all, no model is asked.
      await apps.checkPublishQuota(ctx, caller.agent, 1)
      return ctx.db.tx(async (db) => {
        await jobs.lockOwner(db, agentAccount(caller.agent.id))
        await checkBuilds(ctx, db, caller)
        const app = await open(db)
        const job = await start(ctx, db, caller, { app, input, price })
        const held = toCredits(price)
        const { id } = app
        const body = { job: presentJob(ctx, job), app: { id, link: appUrl(ctx, id) } }
        const accepted = { status: 202, body: { ...body, price: held, held } }
        await keepAnswer(db, accepted)
        return accepted
      })
    })
    .catch((error: unknown) => {
      throw isWriteUnavailable(error) ? new ApiError('no_studio') : error
    })
  ctx.jobs.wake()
  return answer
}

/** The builds of the last hour. Refuses builds_limit. */
async function checkBuilds(ctx: AppContext, db: Db, { agent }: Caller): Promise<void> {
  const { used, max, retryAfter } = await getBuildUsage(ctx, db, agent.id)
  if (max > 0 && used >= max) throw new ApiError('builds_limit', { max, retryAfter })
}

/** Builds that an agent began in the last hour, the bound (0: none), and when one is free again. */
export async function getBuildUsage(ctx: AppContext, db: Db, agent: string) {
  const now = ctx.clock.now()
  const owner = agentAccount(agent)
  const { count: used, oldest = now } = await jobs.countSince(db, owner, kind, now - hour + 1)
  const retryAfter = secondsUntil(oldest + hour, now)
  return { used, max: ctx.config.buildsPerHour, retryAfter }
}

const allSpent = 'Free credits have paid for what they may today (until 00:00 UTC).'

/** The job and its hold. One build of each kind runs at a time: else busy. */
async function start(
  ctx: AppContext,
  db: Db,
  caller: Caller,
  { app, input, price }: { app: apps.App; input: Wanted['input']; price: NanoUsd },
): Promise<Job> {
  const { agent } = caller
  const cap = capFor(caller, price)
  const owner = agentAccount(agent.id)
  const slot = `${kind}:${input.kind}:${owner}`
  // In the order in which a build ends: its job, its agent, its account, what is free today.
  await jobs.checkSlot(db, { kind, slot })
  // Whose account is closing, and all its work with it, begins none.
  await lockAgent(ctx, db, agent.id)
  await lockAccounts(db, [owner])
  const free = await takeFree(ctx, db, owner, price)
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
  const wanted = { account: owner, amount: price, funds, ...more } as const
  await hold(ctx, db, wanted).catch((error: unknown) => {
    const isShort = isApiError(error, 'not_enough_credits') && funds === 'paid'
    throw isShort ? new ApiError('no_builder', { why: allSpent }) : error
  })
  return job
}
