import { databaseUrl } from '../config/load.ts'
import { isPostgresUrl } from '../config/values.ts'

/** Which engine this process speaks: the tables are built for it when they are first imported. */
export const dialect: 'sqlite' | 'postgres' = isPostgresUrl(databaseUrl()) ? 'postgres' : 'sqlite'
