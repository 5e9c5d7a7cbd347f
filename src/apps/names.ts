import { and, eq, isNotNull, isNull, like, or } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { lockAgent } from '../people/agents/storage-quota.ts'
import type { AppContext } from '../server/context.ts'
import { apps } from './tables.ts'

/**
 * Locks the maker and checks that none of its packs has this name. Apps have no name. Throws
 * `skill_name_taken`, and what `lockAgent` throws.
 */
export async function reserveName(
  ctx: AppContext,
  db: Db,
  maker: string,
  name: string | null | undefined,
): Promise<void> {
  if (name === null || name === undefined) return
  await lockAgent(ctx, db, maker)
  if ((await namesLike(db, maker, name)).has(name)) throw new ApiError('skill_name_taken', { name })
}

/** Returns the name, or with the lowest number from 2 that is free for this maker. */
export async function findFreeName(
  { db }: AppContext,
  maker: string,
  name: string,
  charsMax: number,
): Promise<string> {
  const numbered = (number: number): string =>
    number === 1 ? name : `${name.slice(0, charsMax - 5).replace(/-$/, '')}-${number}`
  const taken = await namesLike(db.read, maker, name.slice(0, charsMax - 5).replace(/-$/, ''))
  let number = 1
  while (taken.has(numbered(number))) number += 1
  return numbered(number)
}

/** Returns the names of a maker's packs that begin with a text, and the text itself. */
async function namesLike(db: Db, maker: string, start: string): Promise<Set<string>> {
  const rows = await db
    .select({ name: apps.name })
    .from(apps)
    .where(
      and(
        eq(apps.maker, maker),
        isNull(apps.closed),
        isNotNull(apps.name),
        or(eq(apps.name, start), like(apps.name, `${start}%`)),
      ),
    )
  return new Set(rows.flatMap(({ name }) => name ?? []))
}
