import { contentsOf } from '../../db/contents.ts'
import { made } from './tables.ts'

/** The stored bytes of what was made. */
export const contents = contentsOf(made.sha256)
