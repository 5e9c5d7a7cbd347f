import type { AppContext } from '../../kernel/context.ts'
import { Events } from '../../kernel/http/outcome.ts'
import { jobWatchMs, noteHeartbeatMs } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import type { HostedApp } from './app-source.ts'

const encoder = new TextEncoder()
/** Interval at which an open page is compared with its app. */
const checkMs = second

/** Finds the app as a browser may open it now; undefined when it no longer may. */
type FindOpen = () => Promise<HostedApp | undefined>

/**
 * Streams the version of an app to an open page: at once, after each change, and "closed" when the
 * browser may no longer open it. Ends after ten minutes, after which browsers connect again.
 */
export const watchApp = (ctx: AppContext, find: FindOpen): Events =>
  new Events((onEnd) => streamVersions(ctx, find, onEnd))

function streamVersions(ctx: AppContext, find: FindOpen, onEnd: () => void) {
  const closed = new AbortController()
  closed.signal.addEventListener('abort', onEnd)
  const deadline = stopwatch() + jobWatchMs
  let sent = ''
  const next = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const heartbeat = stopwatch() + noteHeartbeatMs
    while (!closed.signal.aborted) {
      const app = await find()
      const isOver = ctx.jobs.isClosed || stopwatch() > deadline
      const state = app ? `${app.version}${app.live ? ' live' : ''}` : 'closed'
      if (closed.signal.aborted) return
      if (!isOver && state === sent && stopwatch() < heartbeat) {
        await wait(checkMs, closed.signal)
        continue
      }
      const text = state === sent ? ': keep-alive\n\n' : `data: ${state}\n\n`
      sent = state
      out.enqueue(encoder.encode(text))
      if (!isOver && app) return
      closed.abort()
      return out.close()
    }
  }
  return new ReadableStream<Uint8Array>({
    pull: (out) =>
      next(out).catch((error: unknown) => {
        closed.abort()
        throw error
      }),
    cancel: () => closed.abort(),
  })
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
