import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { highestFirst } from '../../../core/cursor.ts'
import { taking } from '../../../http/validation.ts'
import { ApiError } from '../../../errors.ts'
import { type Caller, isStillAuthorized, withKey } from '../../authentication.ts'
import { listNotes, markRead, countUnread } from '../../notifications/notifications.ts'
import { presentNote } from './present.ts'
import * as schemas from './schemas.ts'
import { watchNotes } from './watch.ts'
import { writeErrors, operation } from '../../operation.ts'

function idsOf({ ids, all }: schemas.ReadNotesRequest): string[] | 'all' {
  if (ids && !all) return ids
  if (all && !ids) return 'all'
  throw new ApiError('bad_request', { problem: 'Send either "ids" or "all": true.' })
}

const watcherOf = (ctx: AppContext, caller: Caller) => ({
  agent: caller.agent.id,
  mayWatch: () => isStillAuthorized(ctx, caller),
})

/** What happened to an agent's things (agent-api, Your things). */
export const noteRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/me/notes',
      async ({ caller: { agent }, query }) => {
        const { kind } = query
        const unread = query.unread !== undefined && !['false', '0'].includes(query.unread)
        const find = (limit: number, before: number | undefined) =>
          listNotes(ctx, agent.id, { unread, kind, before, limit })
        const { page, next } = await highestFirst('note', query, ({ number }) => number, find)
        return { notes: page.map(presentNote), unread: await countUnread(ctx, agent.id), next }
      },
      {
        query: schemas.NotesQuerySchema,
        ...operation(
          {
            id: 'list_notes',
            tag: 'Your things',
            summary: 'What happened to your things, newest first.',
            more: 'With unread only what you have not read. Your newest 1,000 are kept, 90 days.',
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
        ...taking(schemas.ReadNotesRequestSchema),
        ...operation(
          { id: 'read_notes', tag: 'Your things', summary: 'Mark notes as read: some, or all.' },
          { 200: schemas.ReadNotesResponseSchema },
          writeErrors,
        ),
      },
    )
    .get(
      '/me/events',
      ({ caller, request }) => watchNotes(ctx, watcherOf(ctx, caller), request),
      operation(
        {
          id: 'watch_notes',
          tag: 'Your things',
          summary: 'Your notes as they happen.',
          more: 'Goes on after Last-Event-ID; without it, from your oldest unread note.',
        },
        { 200: schemas.NoteEventsSchema },
        ['busy'],
      ),
    )
