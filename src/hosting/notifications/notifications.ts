import { and, asc, desc, eq, gt, inArray, isNull, lt, lte, sql } from 'drizzle-orm'

import { newId } from '../../core/ids.ts'
import { type Clock, day } from '../../core/time.ts'
import type { Db, Engine } from '../../db/engine.ts'
import { countRows } from '../../db/query.ts'
import { noteDaysMax, notesPerAgentMax } from '../../limits.ts'
import type { NoteKind } from './kinds.ts'
import { noteCounts, notes } from './tables.ts'

export type Note = typeof notes.$inferSelect

/** What an agent is told: one sentence, and the same as data. */
export interface Notification {
  /** The agent's id. */
  to: string
  kind: NoteKind
  text: string
  /** The app, game, skill or framework it is about. */
  item?: string
  /** The handle of who did it, without @. */
  actor?: string
  data?: Record<string, unknown>
}

/**
 * Writes a note in the transaction of what it tells of, so that there is never one without the
 * other. An agent keeps its newest 1,000.
 */
export async function notify({ clock }: { clock: Clock }, db: Db, news: Notification): Promise<void> {
  const { to: agent, kind, text, item = null, actor = null, data = {} } = news
  const [counted] = await db
    .insert(noteCounts)
    .values({ agent, last: 1 })
    .onConflictDoUpdate({ target: noteCounts.agent, set: { last: sql`${noteCounts.last} + 1` } })
    .returning()
  const number = counted?.last ?? 1
  const row = { agent, number, id: newId(), kind, item, actor, text, data, at: clock.now() }
  await db.insert(notes).values(row)
  const past = lte(notes.number, number - notesPerAgentMax)
  await db.delete(notes).where(and(eq(notes.agent, agent), past))
}

/** Which notes of an agent, newest first, going on before a number. */
export interface NoteFilter {
  unread: boolean
  kind?: NoteKind | undefined
  before?: number | undefined
  limit: number
}

/** An agent's notes, newest first. */
export const listNotes = ({ db }: { db: Engine }, agent: string, wanted: NoteFilter): Promise<Note[]> => {
  const { unread, kind, before, limit } = wanted
  const chosen = and(
    eq(notes.agent, agent),
    unread ? isNull(notes.read) : undefined,
    kind && eq(notes.kind, kind),
    before === undefined ? undefined : lt(notes.number, before),
  )
  return db.read.select().from(notes).where(chosen).orderBy(desc(notes.number)).limit(limit)
}

/** How many of its notes an agent has not read. */
export const countUnread = ({ db }: { db: Engine }, agent: string): Promise<number> =>
  countRows(db.read, notes, and(eq(notes.agent, agent), isNull(notes.read)))

/** Marks an agent's notes as read, all or those with these ids. Answers how many it marked. */
export async function markRead(
  { db, clock }: { db: Engine; clock: Clock },
  agent: string,
  ids: string[] | 'all',
): Promise<number> {
  const mine = and(eq(notes.agent, agent), isNull(notes.read))
  const chosen = ids === 'all' ? mine : and(mine, inArray(notes.id, ids))
  const marked = await db.tx((tx) =>
    tx.update(notes).set({ read: clock.now() }).where(chosen).returning({ id: notes.id }),
  )
  return marked.length
}

/** An agent's notes after a number, oldest first: what it is told next. */
export const listNotesAfter = (
  { db }: { db: Engine },
  agent: string,
  after: number,
  limit: number,
): Promise<Note[]> =>
  db.read
    .select()
    .from(notes)
    .where(and(eq(notes.agent, agent), gt(notes.number, after)))
    .orderBy(asc(notes.number))
    .limit(limit)

/** The number of an agent's note; undefined when it keeps none with this id. */
export async function findNoteNumber(
  { db }: { db: Engine },
  agent: string,
  id: string,
): Promise<number | undefined> {
  const [row] = await db.read
    .select({ number: notes.number })
    .from(notes)
    .where(and(eq(notes.agent, agent), eq(notes.id, id)))
  return row?.number
}

const sweptAtOnce = 500

/** Forgets notes of more than 90 days ago, some at a time. */
export async function deleteOldNotes({ db, clock }: { db: Engine; clock: Clock }): Promise<void> {
  const before = clock.now() - noteDaysMax * day
  for (let gone = sweptAtOnce; gone === sweptAtOnce;) {
    const old = await db.read
      .select({ id: notes.id })
      .from(notes)
      .where(lt(notes.at, before))
      .orderBy(asc(notes.at))
      .limit(sweptAtOnce)
    const ids = old.map(({ id }) => id)
    gone = ids.length
    if (gone > 0) await db.tx((tx) => tx.delete(notes).where(inArray(notes.id, ids)))
  }
}
