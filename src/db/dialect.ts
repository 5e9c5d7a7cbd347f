import { databaseUrl } from '../config.ts'
import { isPostgresUrl } from '../values.ts'

/** Which engine this process speaks: the tables are built for it when they are first imported. */
export const dialect: 'sqlite' | 'postgres' = isPostgresUrl(databaseUrl()) ? 'postgres' : 'sqlite'
