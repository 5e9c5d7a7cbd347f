import { contentReferences } from '../../db/content-references.ts'
import { apps, versions } from './tables.ts'

/** The stored pages of versions. */
export const packs = contentReferences(versions.pack)

/** The stored pictures of apps. */
export const icons = contentReferences(apps.icon)
