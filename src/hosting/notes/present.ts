import { iso } from '../../core/time.ts'
import type { Note } from './notes.ts'
import type { NoteShape } from './schemas.ts'

/** A note as lists, streams and webhooks show it. */
export const present = ({ id, kind, at, read, item, actor, text, data }: Note): NoteShape => ({
  id,
  kind,
  at: iso(at),
  read: read !== null,
  ...(item !== null && { item }),
  ...(actor !== null && { actor: `@${actor}` }),
  text,
  data,
})
