import { contentReferences } from '../../db/content-references.ts'
import { apps, versions } from './tables.ts'

export const packs = contentReferences(versions.pack)

export const icons = contentReferences(apps.icon)

export const covers = [contentReferences(apps.cover), contentReferences(apps.coverSmall)]
