import { contentsOf } from '../../db/contents.ts'
import { gatewayFiles } from './tables.ts'

/** The stored bytes of files. */
export const contents = contentsOf(gatewayFiles.sha256)

/** The stored words that were read out of them. */
export const words = contentsOf(gatewayFiles.wordsSha256)
