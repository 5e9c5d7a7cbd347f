import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { RunningWork } from '../../kernel/state/backup-work.ts'
import { type CommandResult, failedWith } from './command-result.ts'

/** Starts work on a backup, one at a time. `listBackups` returns its result. Throws `busy`. */
export function startWork(
  ctx: AppContext,
  { what, name }: Pick<RunningWork, 'what' | 'name'>,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const state = ctx.state.backupWork
  if (state.running) throw new ApiError('busy', { what: 'Another backup' })
  state.running = { what, name, since: ctx.clock.now() }
  return work()
    .catch((error: unknown) => {
      ctx.log.error('backup', error, { name })
      return failedWith(error)
    })
    .then((result) => {
      state.results.set(name, result)
      state.running = undefined
      return result
    })
}
