import { contentReferences } from '../../db/content-references.ts'
import { apps, versions } from './tables.ts'

/** Stored pages of versions. */
export const packs = contentReferences(versions.pack)

/** Stored icons of apps. */
export const icons = contentReferences(apps.icon)
