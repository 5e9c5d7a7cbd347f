import { contentReferences } from '../../../db/content-references.ts'
import { assets } from './tables.ts'

export const contents = contentReferences(assets.sha256)
