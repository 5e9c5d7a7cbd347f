import type { AppContext } from '../../kernel/context.ts'
import { Events } from '../../kernel/http/outcome.ts'
import { jobWatchMs, noteHeartbeatMs } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import type { HostedApp } from './app-source.ts'

/** Interval at which an open page is compared with its app. */
const checkMs = second

/** Finds the app as a browser may open it now; undefined when it no longer may. */
type FindOpen = () => Promise<HostedApp | undefined>

/**
 * Streams the version of an app to an open page: at once, after each change, and "closed" when the
 * browser may no longer open it. Ends after ten minutes, after which browsers connect again.
 */
export const watchApp = (ctx: AppContext, find: FindOpen): Events =>
  new Events((ended) => versionsOf(ctx, find, ended))

async function* versionsOf(
  ctx: AppContext,
  find: FindOpen,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const deadline = stopwatch() + jobWatchMs
  let sent = ''
  let heartbeat = stopwatch() + noteHeartbeatMs
  while (!ended.aborted) {
    const app = await find()
    const isOver = ctx.jobs.isClosed || stopwatch() > deadline
    const state = app ? `${app.version}${app.live ? ' live' : ''}` : 'closed'
    if (ended.aborted) return
    if (!isOver && state === sent && stopwatch() < heartbeat) {
      await wait(checkMs, ended)
      continue
    }
    yield state === sent ? ': keep-alive\n\n' : `data: ${state}\n\n`
    if (isOver || !app) return
    sent = state
    heartbeat = stopwatch() + noteHeartbeatMs
  }
}

/** Waits, unless the stream ends first. */
const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
