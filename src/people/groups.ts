import { and, asc, count, eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import { afterCommit, type Db } from '../kernel/db/engine.ts'
import { lock } from '../kernel/db/query.ts'
import { rejectRequest } from '../kernel/errors.ts'
import { groupMembersMax, groupsMax } from '../kernel/limits.ts'
import { recordAudit } from './audit/audit.ts'
import { findByName } from './people.ts'
import { isGroupName } from './schemas.ts'
import { groupMembers as members, people } from './tables.ts'

export interface Group {
  name: string
  people: string[]
  /** Number of members whom the sign-in provider names. */
  provided: number
}

/** Lists all groups by name, with the members whom the operator added. */
export async function listGroups({ db }: AppContext): Promise<Group[]> {
  const rows = await db.read
    .select({ group: members.group, source: members.source, name: people.name })
    .from(members)
    .innerJoin(people, eq(people.id, members.person))
    .orderBy(asc(members.group), asc(people.name))
    .limit(groupsMax * groupMembersMax)
  return [...Map.groupBy(rows, ({ group }) => group)].map(([name, all]) => ({
    name,
    people: all.filter(({ source }) => source === 'operator').map((row) => row.name),
    provided: all.filter(({ source }) => source === 'provider').length,
  }))
}

/** Returns the ids of people by their names. Throws `bad_request` for an unknown name. */
export async function findPeople(ctx: AppContext, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => findByName(ctx, name)))
  const missing = names.filter((_, at) => !found[at])
  if (missing.length > 0)
    rejectRequest(
      `These people have no account here: ${missing.join(', ')}. Check their names.`,
      'people',
    )
  return [...new Set(found.flatMap((person) => person?.id ?? []))]
}

/**
 * Sets the members that the operator adds to a group; none deletes them. Members whom the provider
 * names stay. Throws `bad_request`.
 */
export async function setGroup(
  ctx: AppContext,
  group: string,
  names: readonly string[],
  by: string,
): Promise<void> {
  if (!isGroupName(group))
    rejectRequest('A group needs a name of 1 to 100 letters, digits and . _ : / @ - or spaces.')
  const ids = await findPeople(ctx, names)
  await ctx.db.tx(async (db) => {
    await lock(db, 'groups')
    const [row] = await db
      .select({ rows: count() })
      .from(members)
      .where(eq(members.source, 'operator'))
    if ((row?.rows ?? 0) + ids.length > groupsMax * groupMembersMax)
      rejectRequest('There are too many members of groups. Remove some first.')
    const before = await db
      .delete(members)
      .where(and(eq(members.group, group), eq(members.source, 'operator')))
      .returning({ person: members.person })
    const removed = before.filter(({ person }) => !ids.includes(person))
    for (const { person } of removed) announceRemoval(ctx, db, person)
    const rows = ids.map((person) => ({ group, person, source: 'operator' as const }))
    if (rows.length > 0) await db.insert(members).values(rows)
    await recordAudit(ctx, db, { by, did: 'group', item: group, why: names.join(', ') })
  })
}

/** Tells open pages of a person, once the transaction is durable, that the person left a group. */
const announceRemoval = ({ state }: AppContext, db: Db, person: string): void =>
  afterCommit(db, () => state.accessChanges.announce(person))

/** Replaces the groups that the sign-in provider names for a person. */
export async function setProvidedGroups(
  ctx: AppContext,
  person: string,
  groups: readonly string[],
): Promise<void> {
  await ctx.db.tx(async (db) => {
    const before = await db
      .delete(members)
      .where(and(eq(members.person, person), eq(members.source, 'provider')))
      .returning({ group: members.group })
    if (before.some(({ group }) => !groups.includes(group))) announceRemoval(ctx, db, person)
    const rows = groups.map((group) => ({ group, person, source: 'provider' as const }))
    if (rows.length > 0) await db.insert(members).values(rows)
  })
}

/** Returns which of these groups a person is in. */
export async function findGroupsOf(
  db: Db,
  person: string,
  groups: readonly string[],
): Promise<string[]> {
  if (groups.length === 0) return []
  const rows = await db
    .selectDistinct({ group: members.group })
    .from(members)
    .where(and(eq(members.person, person), inArray(members.group, [...groups])))
  return rows.map(({ group }) => group)
}

/** Returns which of these groups exist. */
export async function findKnownGroups(db: Db, groups: readonly string[]): Promise<Set<string>> {
  if (groups.length === 0) return new Set()
  const rows = await db
    .selectDistinct({ group: members.group })
    .from(members)
    .where(inArray(members.group, [...groups]))
  return new Set(rows.map(({ group }) => group))
}
