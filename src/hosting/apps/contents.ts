import { contentsOf } from '../../db/contents.ts'
import { apps, versions } from './tables.ts'

/** The stored pages of versions. */
export const packs = contentsOf(versions.pack)

/** The stored pictures of apps. */
export const icons = contentsOf(apps.icon)
