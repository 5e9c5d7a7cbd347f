import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, max, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { afterCommit, type Db, type Engine } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { newId } from '../../kernel/ids.ts'
import { lowCredits, noteDaysMax, notesPerAgentMax } from '../../kernel/limits.ts'
import { formatCredits, fromCredits, type NanoUsd, toCredits } from '../../kernel/money.ts'
import { type Clock, day } from '../../kernel/time.ts'
import { englishOf, type Sentence, sentence } from '../../kernel/words/message.ts'
import { agentOf } from '../../money/ledger/accounts.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import type { PaymentRow } from '../../money/payments/x402/rows.ts'
import type { NoteKind } from './kinds.ts'
import { noteCounts, notes } from './tables.ts'

export type Note = typeof notes.$inferSelect

/** A note to an agent: one or a few messages, and the same facts as data. */
export interface Notification {
  /** The id of the agent. */
  to: string
  kind: NoteKind
  text: Sentence | Sentence[]
  /** The id of the app that it is about. */
  item?: string
  /** The handle of the agent that caused it, without @. */
  actor?: string
  data?: Record<string, unknown>
}

/**
 * Writes a note in the transaction of the event, so neither is stored without the other. Deletes
 * all but the newest 1,000 notes of the agent.
 */
export async function notify(
  { clock, state }: Pick<AppContext, 'clock' | 'state'>,
  db: Db,
  notification: Notification,
): Promise<void> {
  const { to: agent, kind, item = null, actor = null, data = {} } = notification
  const messages = [notification.text].flat()
  const [counted] = await db
    .insert(noteCounts)
    .values({ agent, last: 1 })
    .onConflictDoUpdate({ target: noteCounts.agent, set: { last: sql`${noteCounts.last} + 1` } })
    .returning()
  const number = counted?.last ?? 1
  const about = { agent, number, id: newId(), kind, item, actor, data, at: clock.now() }
  await db.insert(notes).values({ ...about, text: englishOf(messages), messages })
  const old = lte(notes.number, number - notesPerAgentMax)
  await db.delete(notes).where(and(eq(notes.agent, agent), old))
  afterCommit(db, () => state.noteSignals.send(agent))
}

/** Inserts the first notes of a new agent, oldest first, without telling anybody. */
export async function insertFirstNotes(
  db: Db,
  agent: string,
  rows: Pick<Note, 'kind' | 'item' | 'text' | 'data' | 'at' | 'read'>[],
): Promise<void> {
  const kept = rows.slice(-notesPerAgentMax)
  if (kept.length === 0) return
  await db.insert(noteCounts).values({ agent, last: kept.length })
  const numbered = kept.map((row, at) => {
    return { ...row, agent, number: at + 1, id: newId(), actor: null }
  })
  for (let from = 0; from < numbered.length; from += rowsPerStatement) {
    await db.insert(notes).values(numbered.slice(from, from + rowsPerStatement))
  }
}

export interface NoteFilter {
  unread: boolean
  /** Default: all kinds. */
  kinds?: readonly NoteKind[] | undefined
  /** Only notes with a smaller number. */
  before?: number | undefined
  limit: number
}

/** Lists notes of an agent, newest first. */
export const listNotes = (
  { db }: { db: Engine },
  agent: string,
  { unread, kinds, before, limit }: NoteFilter,
): Promise<Note[]> => {
  const matches = and(
    eq(notes.agent, agent),
    unread ? isNull(notes.read) : undefined,
    kinds && inArray(notes.kind, [...kinds]),
    before === undefined ? undefined : lt(notes.number, before),
  )
  return db.read.select().from(notes).where(matches).orderBy(desc(notes.number)).limit(limit)
}

export const countUnread = ({ db }: { db: Engine }, agent: string): Promise<number> =>
  countRows(db.read, notes, and(eq(notes.agent, agent), isNull(notes.read)))

/** Marks unread notes of an agent as read and returns how many. */
export async function markRead(
  { db, clock }: { db: Engine; clock: Clock },
  agent: string,
  ids: string[] | 'all',
): Promise<number> {
  const own = and(eq(notes.agent, agent), isNull(notes.read))
  const matches = ids === 'all' ? own : and(own, inArray(notes.id, ids))
  const marked = await db.tx((tx) =>
    tx.update(notes).set({ read: clock.now() }).where(matches).returning({ id: notes.id }),
  )
  return marked.length
}

/** Lists notes of an agent with a greater number than `after`, oldest first. */
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

/** Returns the number of the newest note of each agent that has one since `at`. */
export async function listRecentNumbers(
  { db }: { db: Engine },
  at: number,
): Promise<Map<string, number>> {
  const found = await db.read
    .select({ agent: notes.agent, last: max(notes.number) })
    .from(notes)
    .where(gte(notes.at, at))
    .groupBy(notes.agent)
  return new Map(found.map(({ agent, last }) => [agent, last ?? 0]))
}

/** Returns a subquery of the number of each agent's newest note, to join with. */
export const latestNoteNumbers = (db: Db) =>
  db.select({ agent: noteCounts.agent, last: noteCounts.last }).from(noteCounts).as('latest')

/** Returns the number of an agent's newest note, deleted ones included; 0 without notes. */
export async function findLatestNoteNumber(db: Db, agent: string): Promise<number> {
  const [row] = await db.select().from(noteCounts).where(eq(noteCounts.agent, agent))
  return row?.last ?? 0
}

/** Returns the number of an agent's note; undefined when the note is not stored. */
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

const rowsPerStatement = 500

/** Deletes notes older than 90 days, 500 in one transaction. */
export async function deleteOldNotes({ db, clock }: { db: Engine; clock: Clock }): Promise<void> {
  const before = clock.now() - noteDaysMax * day
  for (let count = rowsPerStatement; count === rowsPerStatement;) {
    const old = await db.read
      .select({ id: notes.id })
      .from(notes)
      .where(lt(notes.at, before))
      .orderBy(asc(notes.at))
      .limit(rowsPerStatement)
    const ids = old.map(({ id }) => id)
    count = ids.length
    if (count > 0) await db.tx((tx) => tx.delete(notes).where(inArray(notes.id, ids)))
  }
}

/** Notifies an agent in the transaction that credits its payment. */
export async function notifyOfPayment(
  ctx: Pick<AppContext, 'clock' | 'state'>,
  db: Db,
  { account, amount, hash, network, payer }: PaymentRow,
): Promise<void> {
  const to = agentOf(account)
  if (to === undefined) return
  const text = sentence('Your payment of {credits} credits was confirmed and added.', {
    credits: formatCredits(amount),
  })
  const data = { credits: toCredits(amount), tx: hash, network, payer }
  await notify(ctx, db, { to, kind: 'topup.settled', text, data })
}

const low = fromCredits(lowCredits)

/** Notifies an agent in the transaction of a charge that takes its credits below 50. */
export function notifyIfLow(
  ctx: Pick<AppContext, 'clock' | 'state'>,
  db: Db,
  { account, charged }: Hold,
  left: NanoUsd,
): Promise<void> | undefined {
  const to = agentOf(account)
  if (to === undefined || left >= low || left + charged < low) return undefined
  const credits = toCredits(left)
  const text = sentence(
    'You have {credits} credits left. A person who claims you (POST /me/claim) can send you credits. Publishing html is always free.',
    { credits },
  )
  return notify(ctx, db, { to, kind: 'credits.low', text, data: { credits } })
}
