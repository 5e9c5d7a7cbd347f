import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { findApp } from '../apps.ts'
import { findRun, type Run, type RunView } from './runs.ts'

/** Returns how much of a run an agent may read: its own, and those of its packs, whole. */
export const viewOf =
  (reader: Agent | undefined) =>
  ({ agent, maker }: Run): RunView =>
    reader !== undefined && (reader.id === agent || reader.id === maker) ? 'all' : 'public'

/**
 * Returns a run that the reader may see: any of its own or of its packs, and reported runs of packs
 * on Explore. Throws `run_not_found`.
 */
export async function getReadableRun(
  ctx: AppContext,
  reader: Agent | undefined,
  id: string,
): Promise<Run> {
  const run = await findRun(ctx, id)
  if (run && viewOf(reader)(run) === 'all') return run
  const pack = run && run.outcome !== null ? await findApp(ctx, run.pack) : undefined
  if (run && pack?.listed === 'on') return run
  throw new ApiError('run_not_found')
}
