import { iso } from '../../../core/time.ts'
import type { Note } from '../../notifications/notifications.ts'
import type { NoteBody } from './schemas.ts'

/** A note as lists, streams and webhooks show it. */
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
