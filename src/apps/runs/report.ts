import { and, count, eq, gt, min } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { fetchGuarded, GuardedFetchError, publicUrl } from '../../kernel/fetch.ts'
import { created } from '../../kernel/http/outcome.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { replyCharsMax } from '../../kernel/limits.ts'
import { hour, iso, secondsUntil, utcDay } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import type { StoreResponse } from '../../money/idempotency/idempotency.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { type App, findApp, getVersion } from '../apps.ts'
import type { Share, Step } from '../folders/folder.ts'
import { isPackKind } from '../kinds.ts'
import { notOnExplore } from '../listings.ts'
import { getPack, readFiles } from '../packs/packs.ts'
import { excerpt, validateText } from '../reviews/reviews.ts'
import { isCounted, isOfMaker, ownerOf, type Runner, weightOf } from './counting.ts'
import * as limits from './limits.ts'
import { goalCharsMax, runsPerHour } from './limits.ts'
import { addEndedRun, addStartedRun, changeShares, isVerified } from './record.ts'
import {
  findRun,
  getOwnRun,
  lockPack,
  lockRun,
  notifyMaker,
  presentRun,
  type Reporter,
  requireOpen,
  type Run,
  updateRun,
} from './runs.ts'
import {
  type Evidence,
  evidencePatterns,
  type EvidenceRequest,
  type ReportRequest,
  type RunStarted,
  type StartRunRequest,
  type StepRequest,
} from './schemas.ts'
import { dueUnits, formatUnits, nonceText, shareBase } from './share.ts'
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

type Check = (ctx: AppContext, agent: Agent, value: string) => Promise<boolean>

/** Returns whether evidence is verified. Each throws `bad_evidence` for a malformed value. */
const checks: Record<Evidence['kind'], Check> = {
  app: async (ctx, agent, id) => {
    const app = evidencePatterns.app.test(id) ? await findApp(ctx, id) : undefined
    if (app?.maker !== agent.id || app.closed !== null)
      throw badEvidence('An app must be the id of one of your apps on this server.')
    return app.takenDown === null && app.version > 0
  },
  url: async (ctx, _agent, value) => {
    const url = publicUrl(value)
    if (!url) throw badEvidence('A url must be a public http or https address.')
    return ctx.config.evidenceUrls ? isReachable(ctx, url.href) : false
  },
  tx: async (ctx, _agent, value) => {
    if (evidencePatterns.tx.test(value)) return isOnChain(ctx, value)
    throw badEvidence('A tx must be a transaction hash: 0x and 64 hexadecimal digits.')
  },
  hash: async (_ctx, _agent, value) => {
    if (evidencePatterns.hash.test(value)) return false
    throw badEvidence('A hash must be a SHA-256: 64 hexadecimal digits in lower case.')
  },
  text: async (_ctx, _agent, value) => {
    validateText(value, limits.evidenceCharsMax)
    return false
  },
}

const badEvidence = (problem: string): ApiError<'bad_evidence'> =>
  new ApiError('bad_evidence', { problem })

/** Fetches a URL once. A name that resolves to a private address throws `bad_evidence`. */
async function isReachable({ log }: AppContext, url: string): Promise<boolean> {
  const bounds = { bytesMax: limits.evidenceBytesMax, ms: limits.evidenceFetchMs }
  try {
    const { ok } = await fetchGuarded(url, {}, bounds, undefined)
    return ok
  } catch (error) {
    if (error instanceof GuardedFetchError && /^(?:address|inside)$/.test(error.reason))
      throw badEvidence('A url must be a public http or https address.')
    log.info('evidence.unreachable', { why: error instanceof Error ? error.name : 'unknown' })
    return false
  }
}

/** Returns whether a transaction is confirmed on the chain of payments; false where none is set. */
async function isOnChain({ x402, log }: AppContext, tx: string): Promise<boolean> {
  if (!x402) return false
  try {
    return await x402.isConfirmed(tx)
  } catch (error) {
    log.info('evidence.chain_unavailable', { why: error instanceof Error ? error.name : 'unknown' })
    return false
  }
}

/**
 * Checks the evidence of a report. Evidence that cannot be checked now is not verified. Throws
 * `bad_evidence`, `bad_request` and `text_blocked`.
 */
const checkEvidence = (
  ctx: AppContext,
  agent: Agent,
  list: EvidenceRequest[] = [],
): Promise<Evidence[]> =>
  Promise.all(
    list.map(async ({ kind, value, note }) => ({
      kind,
      value,
      note: note === undefined ? null : validateText(note, limits.evidenceCharsMax),
      verified: await checks[kind](ctx, agent, value),
    })),
  )

/**
 * Stores the state of a step, in place of an earlier one. Throws `run_not_found`, `run_closed`,
 * `bad_request`, `bad_evidence` and `text_blocked`.
 */
export async function reportStep(
  ctx: AppContext,
  agent: Agent,
  id: string,
  { step, state, note, evidence }: StepRequest,
): Promise<Run> {
  const run = requireOpen(await getOwnRun(ctx, agent, id))
  const { folder } = await getVersion(ctx, run.pack, run.version)
  checkStep(folder?.steps ?? [], step)
  const entry = {
    step,
    state,
    note: note === undefined ? null : validateText(note, limits.stepNoteCharsMax),
    evidence: await checkEvidence(ctx, agent, evidence),
    at: iso(ctx.clock.now()),
  }
  return ctx.db.tx(async (db) => {
    const open = requireOpen(await lockRun(db, run))
    const others = open.steps.filter((one) => one.step !== step)
    if (others.length >= limits.ownStepsMax)
      rejectRequest(`A run has at most ${limits.ownStepsMax} steps.`, 'step')
    return updateRun(db, id, { steps: [...others, entry] })
  })
}

/** Throws `bad_request` unless the pack has the step, or has no numbered steps. */
function checkStep(steps: Step[], step: string): void {
  if (steps.length === 0 || steps.some(({ id }) => id === step)) return
  const ids = steps.map(({ id }) => id).join(', ')
  rejectRequest(`"step" must be one of the steps of this pack: ${ids}.`, 'step')
}

/**
 * Stores the outcome of a run and adds it to the record of its pack, in one transaction. Throws
 * `run_not_found`, `run_closed`, `bad_request`, `bad_evidence` and `text_blocked`.
 */
export async function reportRun(
  ctx: AppContext,
  { agent, network }: Reporter,
  id: string,
  report: ReportRequest,
): Promise<Run> {
  const run = requireOpen(await getOwnRun(ctx, agent, id))
  const summary = validateText(report.summary, limits.summaryCharsMax)
  const evidence = await checkEvidence(ctx, agent, report.evidence)
  const share = await findShareDue(ctx, agent, run, report)
  return ctx.db.tx(async (db) => {
    const open = requireOpen(await lockRun(db, run))
    const { outcome, minutes = null, costCredits = null, profit = null, revenue = null } = report
    const runner = { agent, network, pack: run.pack, maker: run.maker }
    const counted = open.counted && !(await isOfMaker(ctx, db, runner))
    const closed = ctx.clock.now()
    const content = { outcome, summary, minutes, costCredits, profit, revenue, evidence }
    const reported = await updateRun(db, id, { ...content, ...share, counted, closed })
    const end = { outcome, at: closed, minutes, isVerified: isVerified(reported) }
    await addEndedRun(db, reported, end)
    if (share.shareVerdict) await changeShares(db, reported, { from: null, to: share.shareVerdict })
    await notifyMaker(ctx, db, reported, {
      kind: 'run.reported',
      agent,
      text: sentence('{actor} reported a run: {outcome}. “{summary}”', {
        actor: `@${agent.handle}`,
        outcome,
        summary: excerpt(summary),
      }),
    })
    return reported
  })
}

/**
 * Stores the maker's only answer to a report. Throws `run_not_found` (to all other agents, too),
 * `bad_request`, `text_blocked` and `already_answered`.
 */
export async function replyToRun(
  ctx: AppContext,
  maker: Agent,
  id: string,
  input: string,
): Promise<Run> {
  const run = await findRun(ctx, id)
  if (run?.maker !== maker.id || run.outcome === null) throw new ApiError('run_not_found')
  const reply = validateText(input, replyCharsMax)
  return ctx.db.tx(async (db) => {
    if ((await lockRun(db, run)).answer !== null) throw new ApiError('already_answered')
    return updateRun(db, id, { answer: reply, answered: ctx.clock.now() })
  })
}

type ShareFields = Pick<Run, 'state'> & Partial<Pick<Run, 'shareDue' | 'shareVerdict' | 'dueBy'>>

/**
 * Returns the state of a reported run and the share that is due. A maker owes no share to itself.
 * Throws `bad_request` for a report without the amount that the share is of.
 */
async function findShareDue(
  ctx: AppContext,
  agent: Agent,
  { id, pack, share, maker: makerId }: Run,
  report: ReportRequest,
): Promise<ShareFields> {
  if (!share) return { state: 'reported' }
  const { money, problem } = shareBase(share, report)
  if (problem !== undefined) rejectRequest(problem, share.of)
  const units = money ? dueUnits(money, share.percent) : 0n
  const maker = await findAgent(ctx, makerId)
  const isOwn = maker?.id === agent.id || (agent.owner !== null && maker?.owner === agent.owner)
  if (units === 0n || isOwn) return { state: 'settled' }
  // The hash of Ethereum is loaded with the first share that is due.
  const { keccak256, toBytes } = await import('viem')
  const dueBy = ctx.clock.now() + limits.shareDueMs
  const { payTo, network, asset } = share
  const nonce = keccak256(toBytes(nonceText(pack, id)))
  const shareDue = { amount: formatUnits(units), asset, network, payTo, nonce, dueBy: iso(dueBy) }
  return { state: 'share_due', shareDue, shareVerdict: 'no_proof', dueBy }
}
