import { contentReferences } from '../../kernel/db/query.ts'
import { screenshots as table } from './tables.ts'

export const screenshots = [contentReferences(table.large), contentReferences(table.small)]
