import { and, desc, eq, ne } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { utcDay } from '../../kernel/time.ts'
import type { Person } from '../../people/people.ts'
import type { Use } from '../uses/uses.ts'
import { consents } from './tables.ts'

export type Consent = typeof consents.$inferSelect
type ConsentTerms = Pick<Consent, 'uses' | 'dailyCap' | 'margin' | 'isRemembered'>

/** The name of what one player has spent in one app, for the cap of a day. */
export const playerCounter = (app: string, person: string): string => `app:${app}:${person}`

/** The same of an agent in a chat, whose key counts it as well. */
export const chatCounter = (app: string, agent: string): string => `chat:${app}:${agent}`

const of = (app: string, person: string) => and(eq(consents.app, app), eq(consents.person, person))

/** Keeps what a player has agreed to, instead of what they agreed to before. */
export async function giveConsent(
  { db, clock }: AppContext,
  app: string,
  { id: person }: Pick<Person, 'id'>,
  terms: ConsentTerms,
): Promise<Consent> {
  const row = { app, person, ...terms, at: clock.now() }
  const { app: _, person: __, ...changed } = row
  await db.tx((tx) =>
    tx
      .insert(consents)
      .values(row)
      .onConflictDoUpdate({
        target: [consents.app, consents.person],
        set: changed,
      }),
  )
  return row
}

/** Finds a consent that still holds for these uses and this margin. */
export async function findConsent(
  { db, clock }: AppContext,
  app: string,
  { id: person }: Pick<Person, 'id'>,
  { uses, margin }: { uses: readonly Use[]; margin: number },
): Promise<Consent | undefined> {
  const [row] = await db.read.select().from(consents).where(of(app, person))
  if (!row) return undefined
  const isCurrent = row.isRemembered || utcDay(row.at) === utcDay(clock.now())
  const isEnough = margin <= row.margin && uses.every((use) => row.uses.includes(use))
  return isCurrent && isEnough ? row : undefined
}

/**
 * Ends a consent. Calls that run are not stopped. Its row stays without uses, so that the person
 * still sees what the app spent. Returns whether there was one.
 */
export async function revokeConsent(
  { db, clock }: AppContext,
  app: string,
  { id: person }: Pick<Person, 'id'>,
): Promise<boolean> {
  const ended = { uses: [], isRemembered: false, at: clock.now() }
  const revoked = await db.tx((tx) =>
    tx
      .update(consents)
      .set(ended)
      .where(and(of(app, person), ne(consents.uses, [])))
      .returning({ app: consents.app }),
  )
  return revoked.length > 0
}

/** Returns whether a consent was revoked. */
export const isRevoked = ({ uses }: Pick<Consent, 'uses'>): boolean => uses.length === 0

/**
 * Lists the newest consents of a person, also revoked ones. Those that last come first, so that
 * ended ones never push them off the list.
 */
export const listConsents = ({ db }: AppContext, { id }: Pick<Person, 'id'>): Promise<Consent[]> =>
  db.read
    .select()
    .from(consents)
    .where(eq(consents.person, id))
    .orderBy(eq(consents.uses, []), desc(consents.isRemembered), desc(consents.at))
    .limit(listPageMax)

/** Deletes the consents of a person, or of an agent in chats, whose account ends. */
export const deleteConsents = async (db: Db, player: string): Promise<unknown> =>
  db.delete(consents).where(eq(consents.person, player))
