import { Elysia } from 'elysia'

import { highestFirst } from '../../core/cursor.ts'
import { taking } from '../../core/taking.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { type Caller, mayGoOn, withKey } from '../key.ts'
import { listOf, markRead, unreadOf } from '../notes/notes.ts'
import { present } from '../notes/present.ts'
import * as shapes from '../notes/shapes.ts'
import { watch } from '../notes/watch.ts'
import { ofWriting, operation } from '../operation.ts'

function idsOf({ ids, all }: shapes.ReadWantedShape): string[] | 'all' {
  if (ids && !all) return ids
  if (all && !ids) return 'all'
  throw new Refusal('bad_request', { problem: 'Send either "ids" or "all": true.' })
}

const watcherOf = (house: House, caller: Caller) => ({
  agent: caller.agent.id,
  mayWatch: () => mayGoOn(house, caller),
})

/** What happened to an agent's things (agent-api, Your things). */
export const noteRoutes = (house: House) =>
  new Elysia()
    .use(withKey(house))
    .get(
      '/me/notes',
      async ({ caller: { agent }, query }) => {
        const { kind } = query
        const unread = query.unread !== undefined && !['false', '0'].includes(query.unread)
        const find = (limit: number, before: number | undefined) =>
          listOf(house, agent.id, { unread, kind, before, limit })
        const { page, next } = await highestFirst('note', query, ({ number }) => number, find)
        return { notes: page.map(present), unread: await unreadOf(house, agent.id), next }
      },
      {
        query: shapes.NotesWanted,
        ...operation(
          {
            id: 'list_notes',
            tag: 'Your things',
            summary: 'What happened to your things, newest first.',
            more: 'With unread only what you have not read. Your newest 1,000 are kept, 90 days.',
          },
          { 200: shapes.NoteList },
          ['bad_request'],
        ),
      },
    )
    .post(
      '/me/notes/read',
      async ({ caller: { agent }, body }) => {
        const read = await markRead(house, agent.id, idsOf(body))
        return { read, unread: await unreadOf(house, agent.id) }
      },
      {
        ...taking(shapes.ReadWanted),
        ...operation(
          { id: 'read_notes', tag: 'Your things', summary: 'Mark notes as read: some, or all.' },
          { 200: shapes.Read },
          ofWriting,
        ),
      },
    )
    .get(
      '/me/events',
      ({ caller, request }) => watch(house, watcherOf(house, caller), request),
      operation(
        {
          id: 'watch_notes',
          tag: 'Your things',
          summary: 'Your notes as they happen.',
          more: 'Goes on after Last-Event-ID; without it, from your oldest unread note.',
        },
        { 200: shapes.NoteEvents },
        ['busy'],
      ),
    )
