import { second } from '../../kernel/time.ts'
import type { AppContext } from '../context.ts'

/** The delay before the first run, so that the first requests do not wait for it. */
const startDelayMs = second

/**
 * Starts jobs and periodic work after a second. Of several servers on a database one does the work
 * that is not for every process. Returns the function that stops the work.
 */
export function startMaintenance(ctx: AppContext): () => void {
  const start = async (): Promise<void> => {
    const { tasks } = await import('./maintenance-tasks.ts')
    if (isStopped) return
    void ctx.jobs.start()
    for (const [name, everyMs, run, where] of tasks) {
      let isRunning = false
      const runTask = async (): Promise<void> => {
        if (isRunning || (where !== 'everywhere' && !ctx.presence.isLeader)) return
        isRunning = true
        await run(ctx).catch((error: unknown) => ctx.log.error('maintenance', error, { name }))
        isRunning = false
      }
      void runTask()
      timers.push(setInterval(runTask, everyMs).unref())
    }
  }
  let isStopped = false
  const timers: Timer[] = [setTimeout(start, startDelayMs).unref()]
  return () => {
    isStopped = true
    timers.forEach((timer) => clearTimeout(timer))
  }
}
