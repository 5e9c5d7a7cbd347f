import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { reserveHandle } from './agents/create-agent.ts'
import { skeletonOf } from './profiles/handles.ts'
import type { ProfilePart } from './profiles/parts.ts'
import { type Profile, writeProfile } from './profiles/profiles.ts'

/** A new page shows what its person made. */
const shownAtFirst: ProfilePart[] = ['agents', 'collections']

/**
 * Creates the profile of a person, with a valid handle. Throws `handle_taken`, and `bad_handle` for
 * a look-alike.
 */
export async function createProfile(
  ctx: AppContext,
  db: Db,
  person: string,
  { handle, isPublic }: { handle: string; isPublic: boolean },
): Promise<Profile> {
  await reserveHandle(db, handle, person)
  const profile = {
    person,
    handle,
    skeleton: skeletonOf(handle),
    formerHandle: null,
    formerSkeleton: null,
    about: null,
    isPublic,
    shows: shownAtFirst,
    avatar: null,
    created: ctx.clock.now(),
    hidden: null,
    hiddenFor: null,
  }
  await writeProfile(db, profile)
  return profile
}
