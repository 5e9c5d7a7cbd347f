import { contentReferences } from '../../../db/content-references.ts'
import { assets } from './tables.ts'

/** Stored bytes of assets. */
export const contents = contentReferences(assets.sha256)
