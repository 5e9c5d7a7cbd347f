import type { AppContext } from '../../../context.ts'
import { eventStream } from '../../../http/event-stream.ts'
import { second, stopwatch } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import { heartbeatMs, jobWatchMs, listPageMax, noteStreamsMax } from '../../../limits.ts'
import { listNotesAfter, listNotes, type Note, findNoteNumber } from '../../notifications/notifications.ts'
import { presentNote } from './present.ts'

const encoder = new TextEncoder()
/** Between two looks for news. */
const lookMs = second / 2

/** Whose notes are watched, and whether that may go on. */
interface Watcher {
  agent: string
  mayWatch(): Promise<boolean>
}

/**
 * An agent's notes as server-sent events: those after Last-Event-ID, else from the oldest unread
 * one on, and then what happens, for at most ten minutes; the client comes again with
 * Last-Event-ID. Refuses busy past the streams that an agent may keep open.
 */
export async function watchNotes(
  ctx: AppContext,
  watcher: Watcher,
  request: Request,
): Promise<Response> {
  const last = await startOf(ctx, watcher.agent, request.headers.get('last-event-id'))
  return eventStream(request, () => eventsOf(ctx, watcher, last, openStream(ctx, watcher.agent)))
}

/** Counts one more stream of an agent until the returned function is called. Throws `busy`. */
function openStream(ctx: AppContext, agent: string): () => void {
  const end = ctx.state.noteStreams.begin(agent)
  if (end) return end
  throw new ApiError('busy', { what: `Each of your ${noteStreamsMax} streams` })
}

/** The number of the note that comes before the first event. */
async function startOf(ctx: AppContext, agent: string, seen: string | null): Promise<number> {
  const known = seen === null ? undefined : await findNoteNumber(ctx, agent, seen)
  if (known !== undefined) return known
  const unread = await listNotes(ctx, agent, { unread: true, limit: listPageMax })
  const oldest = unread.at(-1)
  if (oldest) return oldest.number - 1
  const [newest] = await listNotes(ctx, agent, { unread: false, limit: 1 })
  return newest?.number ?? 0
}

function eventsOf(ctx: AppContext, { agent, mayWatch }: Watcher, after: number, left: () => void) {
  const until = stopwatch() + jobWatchMs
  const gone = new AbortController()
  gone.signal.addEventListener('abort', left)
  let last = after
  // Said at once, so that a client knows that it is heard.
  let said = ': notes\n\n'
  const next = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const heartbeat = stopwatch() + heartbeatMs
    while (said === '') {
      await Bun.sleep(lookMs)
      if (gone.signal.aborted) return
      const isOver = ctx.jobs.isClosed || stopwatch() > until
      const news = isOver ? [] : await listNotesAfter(ctx, agent, last, listPageMax)
      if (isOver || ((news.length > 0 || stopwatch() > heartbeat) && !(await mayWatch()))) {
        gone.abort()
        return out.close()
      }
      last = news.at(-1)?.number ?? last
      said = news.map(eventText).join('')
      if (said === '' && stopwatch() > heartbeat) said = ': keep-alive\n\n'
    }
    if (gone.signal.aborted) return
    out.enqueue(encoder.encode(said))
    said = ''
  }
  return new ReadableStream<Uint8Array>({
    pull: (out) =>
      next(out).catch((error: unknown) => {
        gone.abort()
        throw error
      }),
    cancel: () => gone.abort(),
  })
}

const eventText = (note: Note): string =>
  `id: ${note.id}\ndata: ${JSON.stringify(presentNote(note))}\n\n`
