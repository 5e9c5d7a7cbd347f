import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { rejectRequest } from '../kernel/errors.ts'
import { sha256 } from '../kernel/ids.ts'
import { validateAbout } from './agents/agents.ts'
import { reserveHandle } from './agents/create-agent.ts'
import {
  createProfile,
  displayName,
  findByName,
  findPerson,
  findSuspended,
  lockActivePerson,
  type Person,
} from './people.ts'
import type { ProfilePart } from './profiles/parts.ts'
import * as profiles from './profiles/profiles.ts'
import { isHandle, type Profile, skeletonOf, validateHandle } from './profiles/profiles.ts'

/** The profile of a person who has chosen no handle yet. */
export interface NoProfile {
  /** A handle like the name with which the person signs in, unless that is an email address. */
  suggestion: string
}

/** Returns the profile of a person, or what is suggested for one. */
export async function getOwnProfile(ctx: AppContext, person: Person): Promise<Profile | NoProfile> {
  const found = await profiles.findProfile(ctx.db.read, person.id)
  if (found) return found
  const name = person.name.includes('@') ? '' : displayName(person).replace(/[._]/g, '-')
  return { suggestion: isHandle(name) ? name : '' }
}

export interface ProfileChange {
  handle?: string | undefined
  about?: string | null | undefined
  public?: boolean | undefined
  shows?: ProfilePart[] | undefined
}

const noHandle = 'Choose a handle first: send "handle".'

/**
 * Changes the public self of a person, and creates it with the first handle. The handle before
 * stays theirs. Throws `bad_request`, `bad_handle` and `handle_taken`.
 */
export async function changeProfile(
  ctx: AppContext,
  person: Person,
  change: ProfileChange,
): Promise<Profile> {
  if (change.handle !== undefined) validateHandle(change.handle)
  const { about, public: isPublic, shows } = change
  const changes = {
    ...(about !== undefined && { about: validateAbout(about) }),
    ...(isPublic !== undefined && { isPublic }),
    ...(shows !== undefined && { shows }),
  }
  return ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    const changed = { ...(await withHandle(ctx, db, person.id, change.handle)), ...changes }
    await profiles.writeProfile(db, changed)
    return changed
  })
}

/** Returns the profile of a locked person with this handle, or with the one that it has. */
async function withHandle(
  ctx: AppContext,
  db: Db,
  person: string,
  handle: string | undefined,
): Promise<Profile> {
  const before = await profiles.findProfile(db, person)
  if (!before) {
    if (handle === undefined) rejectRequest(noHandle)
    return createProfile(ctx, db, person, { handle, isPublic: false })
  }
  if (handle === undefined || handle === before.handle) return before
  await reserveHandle(db, handle, person)
  return {
    ...before,
    handle,
    skeleton: skeletonOf(handle),
    formerHandle: before.handle,
    formerSkeleton: before.skeleton,
  }
}

/** Sets or removes the picture of a person, a WebP. Throws `bad_request` without a handle. */
export async function changeAvatar(
  ctx: AppContext,
  person: Person,
  webp: Uint8Array | null,
): Promise<Profile> {
  return ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    const avatar = webp && { name: sha256(webp).slice(0, 32), webp }
    await profiles.setAvatar(db, person.id, avatar)
    return (await profiles.findProfile(db, person.id)) ?? rejectRequest(noHandle)
  })
}

/** Returns the public profile with this handle, now or before, and its person. */
export async function findPublicProfile(
  ctx: AppContext,
  handle: string,
): Promise<{ profile: Profile; person: Person } | undefined> {
  const profile = isHandle(handle) ? await profiles.findProfileByHandle(ctx, handle) : undefined
  return profile && asPublic(ctx, profile)
}

async function asPublic(ctx: AppContext, profile: Profile) {
  if (!profile.isPublic || profile.hidden !== null) return undefined
  const person = await findPerson(ctx, profile.person)
  return person?.suspended === null ? { profile, person } : undefined
}

/** Yields the handles of all public pages in batches, without those of suspended people. */
export async function* listPublicHandles(ctx: AppContext, batch: number): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const found = await profiles.listPublicProfiles(ctx, after, batch)
    const last = found.at(-1)
    if (!last) return
    after = last.handle
    const ids = found.map(({ person }) => person)
    const suspended = await findSuspended(ctx, ids)
    yield found.filter(({ person }) => !suspended.has(person)).map(({ handle }) => handle)
  }
}

/** Returns the handle of the person who shows that they own an agent. */
export async function findShownOwner(
  ctx: AppContext,
  { owner }: { owner: string | null },
): Promise<string | undefined> {
  const profile = owner === null ? undefined : await profiles.findProfile(ctx.db.read, owner)
  if (!profile?.shows.includes('agents')) return undefined
  return (await asPublic(ctx, profile))?.profile.handle
}

/**
 * Hides the page of a person from everyone else; a null reason shows it again. Returns the person;
 * undefined for an unknown one, one without a page, and an unchanged state.
 */
export async function setPageHidden(
  ctx: AppContext,
  db: Db,
  name: string,
  reason: string | null,
): Promise<Person | undefined> {
  const person = await findByName(ctx, name)
  const hidden = reason === null ? null : { at: ctx.clock.now(), reason }
  return person && (await profiles.setHidden(db, person.id, hidden)) ? person : undefined
}
