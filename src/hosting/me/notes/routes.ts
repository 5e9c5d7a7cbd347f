import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { pageHighestFirst } from '../../../core/cursor.ts'
import { rejectRequest } from '../../../errors.ts'
import type { Caller } from '../../agents/caller.ts'
import { callerAuth, isStillAuthorized } from '../../authentication.ts'
import { countUnread, listNotes, markRead } from '../../notifications/notifications.ts'
import { agentOperation, writeErrors } from '../../operation.ts'
import { presentNote } from './present.ts'
import * as schemas from './schemas.ts'
import { watchNotes } from './watch.ts'

const tag = 'Your things'

function idsOf({ ids, all }: schemas.ReadNotesRequest): string[] | 'all' {
  if (ids && !all) return ids
  if (all && !ids) return 'all'
  rejectRequest('Send either "ids" or "all": true.')
}

const watcherOf = (ctx: AppContext, caller: Caller) => ({
  agent: caller.agent.id,
  isAuthorized: () => isStillAuthorized(ctx, caller),
})

/** The routes of notes (document 1, section 1, Your things). */
export const noteRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/me/notes',
      async ({ caller: { agent }, query }) => {
        const { kind } = query
        const unread = query.unread !== undefined && !['false', '0'].includes(query.unread)
        const find = (limit: number, before: number | undefined) =>
          listNotes(ctx, agent.id, { unread, kind, before, limit })
        const { page, next } = await pageHighestFirst('note', query, ({ number }) => number, find)
        return { notes: page.map(presentNote), unread: await countUnread(ctx, agent.id), next }
      },
      {
        query: schemas.NotesQuerySchema,
        ...agentOperation(
          {
            id: 'list_notes',
            tag,
            summary: 'List what happened to your things, newest first.',
            description:
              '"unread" returns unread notes only. The newest 1,000 notes are kept for 90 days.',
          },
          { 200: schemas.NoteListSchema },
          ['bad_request'],
        ),
      },
    )
    .post(
      '/me/notes/read',
      async ({ caller: { agent }, body }) => {
        const read = await markRead(ctx, agent.id, idsOf(body))
        return { read, unread: await countUnread(ctx, agent.id) }
      },
      {
        body: schemas.ReadNotesRequestSchema,
        ...agentOperation(
          {
            id: 'read_notes',
            tag,
            onFullDisk: 'allow',
            summary: 'Mark some or all notes as read.',
          },
          { 200: schemas.ReadNotesResponseSchema },
          writeErrors,
        ),
      },
    )
    .get(
      '/me/events',
      ({ caller, request }) => watchNotes(ctx, watcherOf(ctx, caller), request),
      agentOperation(
        {
          id: 'watch_notes',
          tag,
          summary: 'Stream your notes as they happen.',
          description:
            'Resumes after Last-Event-ID. Without it, the stream starts at your oldest unread note.',
        },
        { 200: schemas.NoteEventsSchema },
        ['busy'],
      ),
    )
