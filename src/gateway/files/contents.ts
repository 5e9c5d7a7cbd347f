import { contentReferences } from '../../db/content-references.ts'
import { gatewayFiles } from './tables.ts'

/** The stored bytes of files. */
export const contents = contentReferences(gatewayFiles.sha256)

/** The stored words that were read out of them. */
export const words = contentReferences(gatewayFiles.wordsSha256)
