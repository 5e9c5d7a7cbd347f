import { and, asc, gt, inArray } from 'drizzle-orm'

import { contains, countRows } from '../kernel/db/query.ts'
import type { AppContext } from '../server/context.ts'
import type { Person } from './people.ts'
import { people } from './tables.ts'

/** Lists people whose name contains `q`, by name, after the name `after`. */
export const listPeople = (
  { db }: AppContext,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: string | undefined },
): Promise<Person[]> => {
  const words = q.toLowerCase().replace(/\p{Cc}/gu, '')
  const matches = words === '' ? undefined : contains(people.name, words)
  return db.read
    .select()
    .from(people)
    .where(and(matches, after === undefined ? undefined : gt(people.name, after)))
    .orderBy(asc(people.name))
    .limit(limit)
}

/** Counts the people with an account. */
export const countPeople = ({ db }: AppContext): Promise<number> => countRows(db.read, people)

const namesBy =
  (column: typeof people.id | typeof people.wallet) =>
  async ({ db }: AppContext, values: string[]): Promise<Map<string, string>> => {
    const rows = await db.read
      .select({ value: column, name: people.name })
      .from(people)
      .where(inArray(column, values))
    return new Map(rows.map(({ value, name }) => [value, name]))
  }

/** Returns the names of people by id. */
export const namesOf = namesBy(people.id)

/** Returns the names of people by their wallets. */
export const namesOfWallets = namesBy(people.wallet)
