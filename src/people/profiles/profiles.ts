import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, ne, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { skeletonOf } from './handles.ts'
import { profiles } from './tables.ts'

type Row = typeof profiles.$inferSelect
export type Profile = Omit<Row, 'avatarBytes'>

/** All columns but the bytes of the picture. */
const { avatarBytes, ...columns } = getTableColumns(profiles)

/** Returns the profile of a person, also one that is private or hidden. */
export async function findProfile(db: Db, person: string): Promise<Profile | undefined> {
  const [found] = await db.select(columns).from(profiles).where(eq(profiles.person, person))
  return found
}

/** Returns the profile with this handle, now or before, also one that is private or hidden. */
export async function findProfileByHandle(
  { db }: AppContext,
  handle: string,
): Promise<Profile | undefined> {
  const rows = await db.read
    .select(columns)
    .from(profiles)
    .where(or(eq(profiles.handle, handle), eq(profiles.formerHandle, handle)))
  return rows.find((row) => row.handle === handle) ?? rows[0]
}

/** Returns the profiles of pages that are public and not hidden, by handle, those after one. */
export const listPublicProfiles = (
  { db }: AppContext,
  after: string,
  limit: number,
): Promise<Profile[]> =>
  db.read
    .select(columns)
    .from(profiles)
    .where(and(eq(profiles.isPublic, true), isNull(profiles.hidden), gt(profiles.handle, after)))
    .orderBy(asc(profiles.handle))
    .limit(limit)

/** Returns a handle of another person that equals or resembles this one. */
export async function findSimilarProfile(
  db: Db,
  handle: string,
  except = '',
): Promise<string | undefined> {
  const skeleton = skeletonOf(handle)
  const isSimilar = or(eq(profiles.skeleton, skeleton), eq(profiles.formerSkeleton, skeleton))
  const [found] = await db
    .select({ handle: profiles.handle, former: profiles.formerHandle })
    .from(profiles)
    .where(and(isSimilar, ne(profiles.person, except)))
    .limit(1)
  return found?.former === handle ? handle : found?.handle
}

/** Writes a profile. The caller has reserved the handle. */
export async function writeProfile(db: Db, row: Profile): Promise<void> {
  const { person, ...values } = row
  const target = profiles.person
  await db.insert(profiles).values(row).onConflictDoUpdate({ target, set: values })
}

/** Sets or removes the picture of a person who has a profile. */
export async function setAvatar(
  db: Db,
  person: string,
  avatar: { name: string; webp: Uint8Array } | null,
): Promise<void> {
  const values = {
    avatar: avatar?.name ?? null,
    avatarBytes: avatar ? Buffer.from(avatar.webp).toString('base64') : null,
  }
  await db.update(profiles).set(values).where(eq(profiles.person, person))
}

/** Returns the WebP of the picture of a person. */
export async function readAvatar(
  { db }: AppContext,
  person: string,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const [found] = await db.read
    .select({ avatarBytes })
    .from(profiles)
    .where(eq(profiles.person, person))
  const text = found?.avatarBytes
  return text == null ? undefined : Buffer.from(text, 'base64')
}

/** Hides a page from everyone else, or shows it again. Returns whether that changed it. */
export async function setHidden(
  db: Db,
  person: string,
  hidden: { at: number; reason: string } | null,
): Promise<boolean> {
  const wouldChange = hidden ? isNull(profiles.hidden) : isNotNull(profiles.hidden)
  const changed = await db
    .update(profiles)
    .set({ hidden: hidden?.at ?? null, hiddenFor: hidden?.reason ?? null })
    .where(and(eq(profiles.person, person), wouldChange))
    .returning({ person: profiles.person })
  return changed.length > 0
}

export async function deleteProfile(db: Db, person: string): Promise<void> {
  await db.delete(profiles).where(eq(profiles.person, person))
}
