import { and, asc, gt, inArray, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { countRows } from '../../db/query.ts'
import type { Person } from './people.ts'
import { people } from './tables.ts'

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)

/** People whose name has this in it, by name, after that name where it is given. */
export const listPeople = (
  { db }: AppContext,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: string | undefined },
): Promise<Person[]> => {
  const words = q.toLowerCase().replace(/\p{Cc}/gu, '')
  const isAlike =
    words === '' ? undefined : sql`${people.name} like ${`%${escaped(words)}%`} escape '\\'`
  return db.read
    .select()
    .from(people)
    .where(and(isAlike, after === undefined ? undefined : gt(people.name, after)))
    .orderBy(asc(people.name))
    .limit(limit)
}

/** How many people have an account. */
export const countPeople = ({ db }: AppContext): Promise<number> => countRows(db.read, people)

/** The names of these people, by their ids. */
export async function namesOf({ db }: AppContext, ids: string[]): Promise<Map<string, string>> {
  const rows = await db.read
    .select({ id: people.id, name: people.name })
    .from(people)
    .where(inArray(people.id, ids))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
