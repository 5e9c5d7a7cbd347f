import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { replyCharsMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { getVersion } from '../apps.ts'
import type { Step } from '../folders/folder.ts'
import { excerpt, validateText } from '../reviews/text.ts'
import { isOfMaker } from './counting.ts'
import { checkEvidence } from './evidence.ts'
import * as limits from './limits.ts'
import { shareDueMs } from './limits.ts'
import { notifyMaker } from './notifications.ts'
import { addEndedRun, changeShares, isVerified } from './record.ts'
import {
  findRun,
  getOwnRun,
  lockRun,
  type Reporter,
  requireOpen,
  type Run,
  updateRun,
} from './runs.ts'
import type { ReportRequest, StepRequest } from './schemas.ts'
import { dueUnits, formatUnits, nonceText, shareBase } from './share-terms.ts'

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
      text: `@${agent.handle} reported a run: ${outcome}. “${excerpt(summary)}”`,
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
  const dueBy = ctx.clock.now() + shareDueMs
  const { payTo, network, asset } = share
  const nonce = keccak256(toBytes(nonceText(pack, id)))
  const shareDue = { amount: formatUnits(units), asset, network, payTo, nonce, dueBy: iso(dueBy) }
  return { state: 'share_due', shareDue, shareVerdict: 'no_proof', dueBy }
}
