import { and, count, eq, gt, min } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { hour, secondsUntil, utcDay } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import type { StoreResponse } from '../../money/idempotency/idempotency.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type App, findApp } from '../apps.ts'
import type { Share } from '../folders/folder.ts'
import { isPackKind } from '../kinds.ts'
import { notOnExplore } from '../listings.ts'
import { getPack, readFiles } from '../packs/packs.ts'
import { validateText } from '../reviews/reviews.ts'
import { isCounted, ownerOf, type Runner, weightOf } from './counting.ts'
import { goalCharsMax, runsPerHour } from './limits.ts'
import { addStartedRun } from './record.ts'
import { getOwnRun, lockPack, notifyMaker, presentRun, type Reporter, type Run } from './runs.ts'
import type { RunStarted, StartRunRequest } from './schemas.ts'
import { runs } from './tables.ts'

/** Returns a pack on Explore, or an own one. Throws `not_found` and `taken_down`. */
async function findRunPack(
  ctx: AppContext,
  agent: Agent,
  { pack: id, version }: { pack: string; version?: number | undefined },
) {
  const item = await findApp(ctx, id)
  if (!item || !isPackKind(item.kind)) throw notOnExplore()
  const { row, folder } = await getPack(ctx, agent, { id, kind: item.kind, version })
  const [skill] = await readFiles(ctx, row)
  const instructions = new TextDecoder().decode(skill?.bytes)
  const { steps = [], share } = folder
  return { item, version: row.version, instructions, steps, share }
}

/** Returns a pack whose record and reports are public. Throws `not_found`. */
export async function getPublicPack(
  ctx: AppContext,
  id: string,
  reader: Agent | undefined,
): Promise<App> {
  const item = idPattern.test(id) ? await findApp(ctx, id) : undefined
  if (!item || !isPackKind(item.kind) || item.closed !== null) throw noPack()
  if (item.listed === 'on' || item.maker === reader?.id) return item
  throw noPack()
}

const noPack = () =>
  new ApiError('not_found', { what: 'pack on Explore', see: 'GET /explore?kind=skill lists some.' })

/**
 * Starts a run of a pack on Explore or of an own one. The same `ref` starts one run. Throws
 * `not_found`, `taken_down`, `bad_request`, `text_blocked`, `runs_limit` and `ref_conflict`.
 */
export async function startRun(
  ctx: AppContext,
  reporter: Reporter,
  request: StartRunRequest,
): Promise<RunStarted> {
  const { agent } = reporter
  const goal = request.goal === undefined ? null : validateText(request.goal, goalCharsMax)
  const { item, version, instructions, steps, share } = await findRunPack(ctx, agent, request)
  const fingerprint = { startRun: { ...request } }
  const { value } = await ctx.idempotency.run(agent.id, request.ref, fingerprint, async (store) => {
    const run = await insertRun(ctx, { ...reporter, item, version, goal, share, store })
    return created({ id: run.id })
  })
  const run = await getOwnRun(ctx, agent, String(Object(value).id))
  const presented = await presentRun(ctx, run, 'all')
  return { run: presented, instructions, steps, ...(share && { share }) }
}

interface NewRun extends Reporter {
  item: App
  version: number
  goal: string | null
  share: Share | undefined
  store: StoreResponse
}

const insertRun = (
  ctx: AppContext,
  { agent, network, item, version, goal, share, store }: NewRun,
): Promise<Run> =>
  ctx.db.tx(async (db) => {
    await lockPack(db, item.id)
    // Runs of other packs count too.
    await lock(db, `runs by ${agent.id}`)
    await checkRate(ctx, db, agent)
    const now = ctx.clock.now()
    const runner: Runner = { agent, network, pack: item.id, maker: item.maker }
    const [run] = await db
      .insert(runs)
      .values({
        id: newId(),
        pack: item.id,
        version,
        maker: item.maker,
        agent: agent.id,
        owner: ownerOf(ctx, runner),
        goal,
        share: share ?? null,
        state: 'open',
        counted: await isCounted(ctx, db, runner),
        weight: weightOf(agent, now),
        day: utcDay(now),
        steps: [],
        evidence: [],
        created: now,
      })
      .returning()
    if (!run) throw new Error('inserting the run returned no row')
    await addStartedRun(db, run)
    await store(db, created({ id: run.id }))
    await notifyMaker(ctx, db, run, {
      kind: 'run.started',
      agent,
      text: sentence('{actor} started a run of “{title}”.', {
        actor: `@${agent.handle}`,
        title: item.title,
      }),
    })
    return run
  })

/** Throws `runs_limit` past the runs that an agent may start in an hour. */
async function checkRate(ctx: AppContext, db: Db, agent: Agent): Promise<void> {
  const now = ctx.clock.now()
  const isRecent = and(eq(runs.agent, agent.id), gt(runs.created, now - hour))
  const [row] = await db
    .select({ started: count(), oldest: min(runs.created).mapWith(Number) })
    .from(runs)
    .where(isRecent)
  if ((row?.started ?? 0) < runsPerHour) return
  const retryAfter = secondsUntil((row?.oldest ?? now) + hour, now)
  throw new ApiError('runs_limit', { max: runsPerHour, retryAfter })
}
