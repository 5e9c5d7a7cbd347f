import type { AppContext } from '../../../kernel/context.ts'
import { pageHighestFirst } from '../../../kernel/cursor.ts'
import { rejectRequest } from '../../../kernel/errors.ts'
import type { Caller } from '../../../people/agents/spending.ts'
import { agent, agentKey, isStillAuthorized } from '../../../people/authentication.ts'
import * as notifications from '../../../people/notifications/notifications.ts'
import { operationsOf, writeErrors } from '../../../people/operation.ts'
import { presentNote } from './schemas.ts'
import * as schemas from './schemas.ts'
import * as watch from './watch.ts'

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
    const { kind } = query
    const unread = query.unread !== undefined && !['false', '0'].includes(query.unread)
    const find = (limit: number, before: number | undefined) =>
      notifications.listNotes(ctx, agent.id, { unread, kind, before, limit })
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
  run: (ctx, { caller, headers }) => watch.watchNotes(ctx, watcherOf(ctx, caller), headers),
})

/** The routes of notes (document 1, section 1, Your things). */
export const noteOperations = [listNotes, readNotes, watchNotes]
