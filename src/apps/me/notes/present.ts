import { iso } from '../../../kernel/time.ts'
import type { Note } from '../../../people/notifications/notifications.ts'
import type { NoteBody } from './schemas.ts'

/** Returns a note as lists, streams and webhooks contain it. */
export const presentNote = ({ id, kind, at, read, item, actor, text, data }: Note): NoteBody => ({
  id,
  kind,
  at: iso(at),
  read: read !== null,
  ...(item !== null && { item }),
  ...(actor !== null && { actor: `@${actor}` }),
  text,
  data,
})
