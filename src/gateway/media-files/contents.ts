import { contentReferences } from '../../db/content-references.ts'
import { mediaFiles } from './tables.ts'

/** The stored bytes of what was made. */
export const contents = contentReferences(mediaFiles.sha256)
