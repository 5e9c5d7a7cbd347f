import type { AppContext } from '../../kernel/context.ts'
import { iso } from '../../kernel/time.ts'
import { findHandles } from '../../people/agents/agents.ts'
import { openMs } from './limits.ts'
import type { Run } from './runs.ts'
import type { RunBody } from './schemas.ts'
import { weightUnits } from './wilson.ts'

/** `public` leaves out the goal and the steps. */
export type RunView = 'all' | 'public'

/** Returns the wire form of runs, in order. */
export async function presentRuns(
  ctx: AppContext,
  rows: Run[],
  viewOf: (run: Run) => RunView,
): Promise<RunBody[]> {
  const handles = await findHandles(
    ctx,
    rows.map(({ agent }) => agent),
  )
  return rows.map((run) => ({
    id: run.id,
    pack: run.pack,
    version: run.version,
    agent: `@${handles.get(run.agent)}`,
    state: run.state,
    counted: run.counted,
    weight: run.weight / weightUnits,
    ...(viewOf(run) === 'all' && {
      goal: run.goal,
      steps: run.steps,
      profit: run.profit,
      revenue: run.revenue,
    }),
    share: presentShare(run, viewOf(run)),
    outcome: run.outcome,
    summary: run.summary,
    minutes: run.minutes,
    costCredits: run.costCredits,
    evidence: run.evidence,
    answer: run.answer === null ? null : { text: run.answer, at: iso(run.answered ?? run.created) },
    started: iso(run.created),
    closed: run.closed === null ? null : iso(run.closed),
    expires: iso(run.created + openMs),
  }))
}

/** Returns the state of the share; null for a pack without one. */
const presentShare = (
  { share, shareVerdict, shareDue, payment }: Run,
  view: RunView,
): RunBody['share'] =>
  share && {
    verdict: shareVerdict,
    ...(view === 'all' && { due: shareDue, payment }),
  }

/** Returns the wire form of one run. */
export async function presentRun(ctx: AppContext, run: Run, view: RunView): Promise<RunBody> {
  const [body] = await presentRuns(ctx, [run], () => view)
  if (!body) throw new Error('presenting one run returned none')
  return body
}
