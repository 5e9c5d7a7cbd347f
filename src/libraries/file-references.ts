import { contentReferences } from '../db/content-references.ts'
import { libraryFiles, libraryUses } from './tables.ts'

export const files = contentReferences(libraryFiles.sha256)

export const uses = contentReferences(libraryUses.sha256)
