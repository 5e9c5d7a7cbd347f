import type { AppContext } from '../../../context.ts'
import { second, stopwatch } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import { eventStream } from '../../../http/event-stream.ts'
import { heartbeatMs, jobWatchMs, listPageMax, noteStreamsMax } from '../../../limits.ts'
import {
  findNoteNumber,
  listNotes,
  listNotesAfter,
  type Note,
} from '../../notifications/notifications.ts'
import { presentNote } from './present.ts'

const encoder = new TextEncoder()
const pollMs = second / 2

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
  request: Request,
): Promise<Response> {
  const start = await findStart(ctx, watcher.agent, request.headers.get('last-event-id'))
  return eventStream(request, () => {
    const end = ctx.state.noteStreams.begin(watcher.agent)
    if (!end) throw new ApiError('busy', { what: `Each of your ${noteStreamsMax} streams` })
    return streamNotes(ctx, watcher, start, end)
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
  closed.signal.addEventListener('abort', onEnd)
  let last = start
  // Sent at once, so that the client knows that the stream is open.
  let pending = ': notes\n\n'
  const next = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const heartbeat = stopwatch() + heartbeatMs
    while (pending === '') {
      await Bun.sleep(pollMs)
      if (closed.signal.aborted) return
      const isOver = ctx.jobs.isClosed || stopwatch() > deadline
      const notes = isOver ? [] : await listNotesAfter(ctx, agent, last, listPageMax)
      const isDue = notes.length > 0 || stopwatch() > heartbeat
      if (isOver || (isDue && !(await isAuthorized()))) {
        closed.abort()
        return out.close()
      }
      last = notes.at(-1)?.number ?? last
      pending = notes.map(formatEvent).join('')
      if (pending === '' && isDue) pending = ': keep-alive\n\n'
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

const formatEvent = (note: Note): string =>
  `id: ${note.id}\ndata: ${JSON.stringify(presentNote(note))}\n\n`
