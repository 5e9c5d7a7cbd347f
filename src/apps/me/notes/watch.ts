import { ApiError } from '../../../kernel/errors.ts'
import { Events } from '../../../kernel/http/outcome.ts'
import { jobWatchMs, listPageMax, noteHeartbeatMs, noteStreamsMax } from '../../../kernel/limits.ts'
import { messageOf } from '../../../kernel/text.ts'
import { minute, second, stopwatch } from '../../../kernel/time.ts'
import {
  findNoteNumber,
  listNotes,
  listNotesAfter,
  listRecentNumbers,
  type Note,
} from '../../../people/notifications/notifications.ts'
import type { AppContext } from '../../../server/context.ts'
import { presentNote } from './present.ts'

const encoder = new TextEncoder()
/** Interval of the poll that all streams of a process share. */
const pollMs = second / 2
/** Processes of one database may differ by this time, and a transaction may take half of it. */
const recentMs = 10 * second
/** Interval at which a stream without notes reads and checks its key. Each note checks it too. */
const checkMs = 5 * minute

interface Watcher {
  /** The id of the agent. */
  agent: string
  /** Returns whether the caller's key is still valid. */
  isAuthorized(): Promise<boolean>
}

/**
 * Streams the notes of an agent as server-sent events: first those after Last-Event-ID, or from
 * the oldest unread note, then new notes for at most ten minutes. Throws `busy` past the streams
 * that an agent may open.
 */
export async function watchNotes(
  ctx: AppContext,
  watcher: Watcher,
  headers: Headers,
): Promise<Events> {
  const start = await findStart(ctx, watcher.agent, headers.get('last-event-id'))
  return new Events((onEnd) => {
    const end = ctx.state.limits.noteStreams.begin(watcher.agent)
    if (end) return streamNotes(ctx, watcher, start, () => [end, onEnd].forEach((one) => one()))
    onEnd()
    throw new ApiError('busy', { what: 'streams', max: noteStreamsMax })
  })
}

/** Returns the number of the note before the first event. */
async function findStart(ctx: AppContext, agent: string, lastId: string | null): Promise<number> {
  const known = lastId === null ? undefined : await findNoteNumber(ctx, agent, lastId)
  if (known !== undefined) return known
  const unread = await listNotes(ctx, agent, { unread: true, limit: listPageMax })
  const oldest = unread.at(-1)
  if (oldest) return oldest.number - 1
  const [newest] = await listNotes(ctx, agent, { unread: false, limit: 1 })
  return newest?.number ?? 0
}

function streamNotes(ctx: AppContext, watcher: Watcher, start: number, onEnd: () => void) {
  const { agent, isAuthorized } = watcher
  const deadline = stopwatch() + jobWatchMs
  const closed = new AbortController()
  const sleeper = new Sleeper()
  const { noteSignals } = ctx.state
  const unsubscribe = noteSignals.subscribe(agent, () => sleeper.wake(), pollFor(ctx), pollMs)
  closed.signal.addEventListener('abort', () => {
    unsubscribe()
    sleeper.wake()
    onEnd()
  })
  let last = start
  let checkAt = stopwatch() + checkMs
  // Sent at once, so that the client knows that the stream is open.
  let pending = ': notes\n\n'
  const next = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const heartbeat = stopwatch() + noteHeartbeatMs
    while (pending === '') {
      const isWoken = await sleeper.sleep(heartbeat - stopwatch())
      if (closed.signal.aborted) return
      const isOver = ctx.jobs.isClosed || stopwatch() > deadline
      const isCheck = stopwatch() >= checkAt
      const isRead = !isOver && (isWoken || isCheck)
      const notes = isRead ? await listNotesAfter(ctx, agent, last, listPageMax) : []
      const isDue = isCheck || notes.length > 0
      if (isOver || (isDue && !(await isAuthorized()))) {
        closed.abort()
        return out.close()
      }
      if (isCheck) checkAt = stopwatch() + checkMs
      if (notes.length === listPageMax) sleeper.wake()
      last = notes.at(-1)?.number ?? last
      pending = notes.map(formatEvent).join('')
      if (pending === '' && stopwatch() >= heartbeat) pending = ': keep-alive\n\n'
    }
    if (closed.signal.aborted) return
    out.enqueue(encoder.encode(pending))
    pending = ''
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

/**
 * Returns the poll that all streams share: it wakes them when the server stops, and on PostgreSQL
 * those whose notes another process wrote, while its signals do not arrive.
 */
function pollFor(ctx: AppContext): () => void {
  let known = new Map<string, number>()
  let isRunning = false
  const poll = async (): Promise<void> => {
    const recent = await listRecentNumbers(ctx, ctx.clock.now() - recentMs)
    for (const [agent, number] of recent) {
      if (number > (known.get(agent) ?? 0)) ctx.state.noteSignals.notify(agent)
    }
    known = recent
  }
  return () => {
    if (ctx.jobs.isClosed) return ctx.state.noteSignals.notifyAll()
    const { isLive } = ctx.state.noteSignals
    if (ctx.db.kind === 'sqlite' || isLive || isRunning) return
    isRunning = true
    poll()
      .catch((error: unknown) => ctx.log.warn('notes.poll', { why: messageOf(error) }))
      .finally(() => void (isRunning = false))
  }
}

/** Sleeps until it is woken. A call of `wake` between two sleeps ends the next one at once. */
class Sleeper {
  /** The stream may have missed notes before its subscription. */
  private isWoken = true
  private end: (() => void) | undefined

  wake(): void {
    this.isWoken = true
    this.end?.()
  }

  /** Sleeps at most `ms` milliseconds. Returns whether it was woken. */
  async sleep(ms: number): Promise<boolean> {
    if (!this.isWoken && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      this.end = resolve
      await promise
      clearTimeout(timer)
      this.end = undefined
    }
    const isWoken = this.isWoken
    this.isWoken = false
    return isWoken
  }
}

const formatEvent = (note: Note): string =>
  `id: ${note.id}\ndata: ${JSON.stringify(presentNote(note))}\n\n`
