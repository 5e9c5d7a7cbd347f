import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { highestFirst } from '../../core/cursor.ts'
import { taking } from '../../core/taking.ts'
import { ApiError } from '../../errors.ts'
import { type Caller, mayGoOn, withKey } from '../key.ts'
import { listOf, markRead, unreadOf } from '../notes/notes.ts'
import { present } from '../notes/present.ts'
import * as schemas from '../notes/schemas.ts'
import { watch } from '../notes/watch.ts'
import { ofWriting, operation } from '../operation.ts'

function idsOf({ ids, all }: schemas.ReadWantedShape): string[] | 'all' {
  if (ids && !all) return ids
  if (all && !ids) return 'all'
  throw new ApiError('bad_request', { problem: 'Send either "ids" or "all": true.' })
}

const watcherOf = (ctx: AppContext, caller: Caller) => ({
  agent: caller.agent.id,
  mayWatch: () => mayGoOn(ctx, caller),
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
          listOf(ctx, agent.id, { unread, kind, before, limit })
        const { page, next } = await highestFirst('note', query, ({ number }) => number, find)
        return { notes: page.map(present), unread: await unreadOf(ctx, agent.id), next }
      },
      {
        query: schemas.NotesWanted,
        ...operation(
          {
            id: 'list_notes',
            tag: 'Your things',
            summary: 'What happened to your things, newest first.',
            more: 'With unread only what you have not read. Your newest 1,000 are kept, 90 days.',
          },
          { 200: schemas.NoteList },
          ['bad_request'],
        ),
      },
    )
    .post(
      '/me/notes/read',
      async ({ caller: { agent }, body }) => {
        const read = await markRead(ctx, agent.id, idsOf(body))
        return { read, unread: await unreadOf(ctx, agent.id) }
      },
      {
        ...taking(schemas.ReadWanted),
        ...operation(
          { id: 'read_notes', tag: 'Your things', summary: 'Mark notes as read: some, or all.' },
          { 200: schemas.Read },
          ofWriting,
        ),
      },
    )
    .get(
      '/me/events',
      ({ caller, request }) => watch(ctx, watcherOf(ctx, caller), request),
      operation(
        {
          id: 'watch_notes',
          tag: 'Your things',
          summary: 'Your notes as they happen.',
          more: 'Goes on after Last-Event-ID; without it, from your oldest unread note.',
        },
        { 200: schemas.NoteEvents },
        ['busy'],
      ),
    )
