import type { AppContext } from '../../server/context.ts'
import type { App, Version } from '../apps.ts'
import type { CoverBody } from './schemas.ts'

/** Characters of the hash in the name of an image. */
export const nameChars = 16

/** Returns the URL of a cover or screenshot. It contains its hash and never changes. */
export const imageUrl = ({ urls }: AppContext, app: string, sha256: string): string =>
  `${urls.app}/covers/${app}-${sha256.slice(0, nameChars)}.webp`

type CoverColumns = Pick<App, 'id' | 'cover' | 'coverSmall' | 'coverColor'>

export function presentCover(
  ctx: AppContext,
  { id, cover, coverSmall, coverColor: color }: CoverColumns,
): CoverBody | null {
  if (cover === null || coverSmall === null || color === null) return null
  return { large: imageUrl(ctx, id, cover), small: imageUrl(ctx, id, coverSmall), color }
}

/** Returns the cover of a version for those who may preview it: /covers/<app>/<version>-<hash>. */
export const presentVersionCover = (ctx: AppContext, row: Version): CoverBody | null =>
  presentCover(ctx, { ...row, id: `${row.app}/${row.version}` })
