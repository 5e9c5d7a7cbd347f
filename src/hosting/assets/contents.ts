import { contentsOf } from '../../db/contents.ts'
import { assets } from './tables.ts'

/** The stored bytes of assets. */
export const contents = contentsOf(assets.sha256)
