import { contentReferences } from '../kernel/db/query.ts'
import { apps, versions } from './tables.ts'

export const packs = contentReferences(versions.pack)

export const icons = contentReferences(apps.icon)

export const covers = [apps.cover, apps.coverSmall, versions.cover, versions.coverSmall].map(
  contentReferences,
)
