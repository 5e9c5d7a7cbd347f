import type { AppContext } from '../../kernel/context.ts'
import { iso } from '../../kernel/time.ts'
import { changeAvatar, getOwnProfile } from '../../people/own-profile.ts'
import type { Person } from '../../people/people.ts'
import type { Profile } from '../../people/profiles/profiles.ts'
import { decodeDataUrl, toImage } from '../icon/icon-image.ts'
import type { OwnProfile } from './schemas.ts'

/** Returns the public facts of a profile. */
export function presentProfile(ctx: AppContext, profile: Profile) {
  const { handle, about, avatar, created } = profile
  return {
    handle,
    page: `${ctx.urls.app}/@${handle}`,
    about,
    avatar: avatar === null ? null : `${ctx.urls.app}/avatars/${handle}-${avatar}.webp`,
    created: iso(created),
  }
}

/** Returns a profile as its person sees it. */
export function presentOwnProfile(ctx: AppContext, profile: Profile): OwnProfile {
  const { created, ...facts } = presentProfile(ctx, profile)
  return { ...facts, public: profile.isPublic, shows: profile.shows, hidden: profile.hiddenFor }
}

/** Returns the profile of a person; without a handle, the suggestion for one. */
export async function readOwnProfile(ctx: AppContext, person: Person): Promise<OwnProfile> {
  const found = await getOwnProfile(ctx, person)
  if (!('suggestion' in found)) return presentOwnProfile(ctx, found)
  const { suggestion } = found
  return {
    handle: null,
    ...(suggestion && { suggestion }),
    page: null,
    about: null,
    avatar: null,
    public: false,
    shows: [],
    hidden: null,
  }
}

/** Side of a picture in pixels. Its WebP has at most some 40 KB. */
const side = 256
const quality = 80

/**
 * Sets the picture of a person to the middle square of an image, a data URL. Throws `bad_request`,
 * `bad_picture`, `too_big`, `try_again`.
 */
export async function putAvatar(
  ctx: AppContext,
  person: Person,
  image: string,
): Promise<OwnProfile> {
  ctx.storage.requireFreeSpace(0)
  const png = await toImage(ctx, decodeDataUrl(image), { width: side, height: side })
  const webp = await new Bun.Image(png).webp({ quality }).bytes()
  return presentOwnProfile(ctx, await changeAvatar(ctx, person, webp))
}
