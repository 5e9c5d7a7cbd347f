import type { AppContext } from '../../../kernel/context.ts'
import { pageHighestFirst } from '../../../kernel/cursor.ts'
import { ApiError, rejectRequest } from '../../../kernel/errors.ts'
import { Events } from '../../../kernel/http/outcome.ts'
import { jobWatchMs, listPageMax, noteHeartbeatMs, noteStreamsMax } from '../../../kernel/limits.ts'
import { messageOf } from '../../../kernel/text.ts'
import { minute, second, stopwatch } from '../../../kernel/time.ts'
import type { Caller } from '../../../people/agents/spending.ts'
import { agent, agentKey, isStillAuthorized } from '../../../people/authentication.ts'
import * as notifications from '../../../people/notifications/notifications.ts'
import {
  findNoteNumber,
  listNotes as findNotes,
  listNotesAfter,
  listRecentNumbers,
  type Note,
} from '../../../people/notifications/notifications.ts'
import { operationsOf, writeErrors } from '../../../people/operation.ts'
import { presentNote } from './schemas.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Your things')

function idsOf({ ids, all }: schemas.ReadNotesRequest): string[] | 'all' {
  if (ids && !all) return ids
  if (all && !ids) return 'all'
  rejectRequest('Send either "ids" or "all": true.')
}

const watcherOf = (ctx: AppContext, caller: Caller) => ({
  agent: caller.agent.id,
  isAuthorized: () => isStillAuthorized(ctx, caller),
})

const listNotes = operation({
  id: 'list_notes',
  route: 'GET /me/notes',
  summary: 'List what happened to your items, newest first.',
  description: '"unread" returns unread notes only. The newest 1,000 notes are kept for 90 days.',
  access: agent,
  input: { query: schemas.NotesQuerySchema },
  output: { 200: schemas.NoteListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller: { agent }, query }) {
    const kinds = query.kind && [query.kind]
    const unread = query.unread !== undefined && !['false', '0'].includes(query.unread)
    const find = (limit: number, before: number | undefined) =>
      notifications.listNotes(ctx, agent.id, { unread, kinds, before, limit })
    const { page, next } = await pageHighestFirst('note', query, ({ number }) => number, find)
    return {
      notes: page.map(presentNote),
      unread: await notifications.countUnread(ctx, agent.id),
      next,
    }
  },
})

const readNotes = operation({
  id: 'read_notes',
  route: 'POST /me/notes/read',
  onFullDisk: 'allow',
  summary: 'Mark some or all notes as read.',
  access: agent,
  input: { body: schemas.ReadNotesRequestSchema },
  output: { 200: schemas.ReadNotesResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller: { agent }, body }) {
    const read = await notifications.markRead(ctx, agent.id, idsOf(body))
    return { read, unread: await notifications.countUnread(ctx, agent.id) }
  },
})

const watchNotes = operation({
  id: 'watch_notes',
  route: 'GET /me/events',
  summary: 'Stream your notes as they happen.',
  description:
    'Resumes after Last-Event-ID. Without it, the stream starts at your oldest unread note.',
  access: agentKey,
  output: { 200: schemas.NoteEventsSchema },
  errors: ['busy'],
  run: (ctx, { caller, headers }) => streamNotes(ctx, watcherOf(ctx, caller), headers),
})

/** The routes of notes (document 1, section 1, Your things). */
export const noteOperations = [listNotes, readNotes, watchNotes]

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
export async function streamNotes(
  ctx: AppContext,
  watcher: Watcher,
  headers: Headers,
): Promise<Events> {
  const start = await findStart(ctx, watcher.agent, headers.get('last-event-id'))
  return new Events((ended) => {
    const end = ctx.state.limits.noteStreams.begin(watcher.agent)
    if (!end) throw new ApiError('busy', { what: 'streams', max: noteStreamsMax })
    ended.addEventListener('abort', end)
    return notesOf(ctx, watcher, start, ended)
  })
}

/** Returns the number of the note before the first event. */
async function findStart(ctx: AppContext, agent: string, lastId: string | null): Promise<number> {
  const known = lastId === null ? undefined : await findNoteNumber(ctx, agent, lastId)
  if (known !== undefined) return known
  const unread = await findNotes(ctx, agent, { unread: true, limit: listPageMax })
  const oldest = unread.at(-1)
  if (oldest) return oldest.number - 1
  const [newest] = await findNotes(ctx, agent, { unread: false, limit: 1 })
  return newest?.number ?? 0
}

async function* notesOf(
  ctx: AppContext,
  { agent, isAuthorized }: Watcher,
  start: number,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const deadline = stopwatch() + jobWatchMs
  const sleeper = new Sleeper()
  const { noteSignals } = ctx.state
  const unsubscribe = noteSignals.subscribe(agent, () => sleeper.wake(), pollFor(ctx), pollMs)
  ended.addEventListener('abort', () => {
    unsubscribe()
    sleeper.wake()
  })
  let last = start
  let checkAt = stopwatch() + checkMs
  // Sent at once, so that the client knows that the stream is open.
  yield ': notes\n\n'
  for (let heartbeat = stopwatch() + noteHeartbeatMs; ;) {
    const isWoken = await sleeper.sleep(heartbeat - stopwatch())
    if (ended.aborted) return
    const isOver = ctx.jobs.isClosed || stopwatch() > deadline
    const isCheck = stopwatch() >= checkAt
    const isRead = !isOver && (isWoken || isCheck)
    const notes = isRead ? await listNotesAfter(ctx, agent, last, listPageMax) : []
    const isDue = isCheck || notes.length > 0
    if (isOver || (isDue && !(await isAuthorized()))) return
    if (isCheck) checkAt = stopwatch() + checkMs
    if (notes.length === listPageMax) sleeper.wake()
    last = notes.at(-1)?.number ?? last
    if (notes.length === 0 && stopwatch() < heartbeat) continue
    yield notes.map(formatEvent).join('') || ': keep-alive\n\n'
    heartbeat = stopwatch() + noteHeartbeatMs
  }
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
