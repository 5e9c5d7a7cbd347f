import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, ne, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import { randomBelow } from '../../kernel/ids.ts'
import { profiles } from './tables.ts'

/** The pattern of a handle (document 1, section 2). */
export const handlePattern = '^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$'
const pattern = new RegExp(handlePattern)

/** Words that suggest the service, one of its pages, or its staff. */
const reserved = new Set(
  `about abuse account accounts admin administrator agent agents anonymous api app apps auth berth
  billing blog bot catalogue chat claim contact credits demo docs explore frame gateway health help
  home host index info is key keys legal login logout mail mcp me moderator mod new news null
  official operator owner people pricing privacy report root search security service settings shop
  signin signup skill staff start status store studio support system team terms test tool tools
  topup undefined user users v1 wallet web webmaster www`.split(/\s+/),
)

/** Letters and pairs that look alike, mapped to one form. */
const confusables: [RegExp, string][] = [
  [/-/g, ''],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/cl/g, 'd'],
  [/0/g, 'o'],
  [/[1i!|]/g, 'l'],
  [/5/g, 's'],
  [/8/g, 'b'],
  [/2/g, 'z'],
]

/** Returns a handle with look-alike letters made equal (compare UTS 39, skeletons). */
export const skeletonOf = (handle: string): string =>
  confusables.reduce((text, [from, to]) => text.replace(from, to), handle)

const reservedSkeletons = new Set([...reserved].map(skeletonOf))

/** Returns whether a text has the format of a handle. */
export const isHandle = (text: string): boolean => pattern.test(text)

/** Throws `bad_handle` for a malformed handle, a slur, or a look-alike of a reserved word. */
export function validateHandle(handle: string): void {
  if (!isHandle(handle)) {
    const why = 'a handle has 3 to 30 of a-z, 0-9 and -, and starts and ends with a letter or digit'
    throw new ApiError('bad_handle', { why })
  }
  if (isForbidden(handle)) throw new ApiError('bad_handle', { why: 'it is a slur' })
  if (reservedSkeletons.has(skeletonOf(handle))) {
    throw new ApiError('bad_handle', { why: `"${handle}" is or resembles a reserved word` })
  }
}

const adjectives = `amber brave calm clear cosy deep eager early fair fleet gentle glad golden happy
  hazel ivory jolly keen kind lively lucky mellow merry misty noble plucky proud quick quiet ready
  rosy silent silver snug steady stout sunny swift tidal warm wise young zesty`.split(/\s+/)

const nouns = `anchor badger beacon beaver birch brook buoy canoe cedar cove crane current dock dune
  eagle ember falcon ferry finch fjord harbor heron island kayak kelp lagoon lark lantern marina
  moon oar orca osprey otter pearl pier puffin reef river sail seal skiff sparrow tern tide wave
  willow wren`.split(/\s+/)

/** Generates a handle: adjective-noun-4 digits. */
export function generateHandle(): string {
  const digits = String(randomBelow(10_000)).padStart(4, '0')
  return `${adjectives[randomBelow(adjectives.length)]}-${nouns[randomBelow(nouns.length)]}-${digits}`
}

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
