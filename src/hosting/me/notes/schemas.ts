import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../../http/list-query.ts'
import { Id, Media, oneOf, orNull, Time } from '../../../core/schema.ts'
import { noteIdsMax } from '../../../limits.ts'
import { noteKinds } from '../../notifications/kinds.ts'

/** What happened to an agent's things (agent-api, Your things). */
const NoteSchema = Type.Object(
  {
    id: Id,
    kind: oneOf(noteKinds),
    at: Time,
    read: Type.Boolean(),
    item: Type.Optional(Type.String({ description: 'The id of what it is about.' })),
    actor: Type.Optional(Type.String({ description: '@ and the handle of who did it.' })),
    text: Type.String({ description: 'A sentence; what others wrote in it is plain text.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'The same for programs.' }),
  },
  { title: 'Note' },
)
export type NoteBody = Static<typeof NoteSchema>

const unreadWords = ['', 'true', 'false', '1', '0'] as const

export const NotesQuerySchema = Type.Object({
  ...ListQuery.properties,
  unread: Type.Optional(oneOf(unreadWords)),
  kind: Type.Optional(oneOf(noteKinds)),
})

const unread = Type.Integer({ description: 'How many of your notes you have not read.' })

export const NoteListSchema = Type.Object({
  notes: Type.Array(NoteSchema),
  unread,
  next: orNull(Type.String()),
})

export const ReadNotesRequestSchema = Type.Object(
  {
    ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: noteIdsMax })),
    all: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, examples: [{ all: true }] },
)
export type ReadNotesRequest = Static<typeof ReadNotesRequestSchema>

export const ReadNotesResponseSchema = Type.Object({
  read: Type.Integer({ description: 'How many this call marked.' }),
  unread,
})

/** Server-sent events (WHATWG HTML, section 9.2). */
export const NoteEventsSchema = Media('text/event-stream', {
  description: 'Each event is a Note; its id goes into Last-Event-ID.',
})
