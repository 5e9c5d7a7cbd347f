import { databaseUrl } from '../config/load.ts'
import { isPostgresUrl } from '../config/setting-types.ts'

/** The engine of this process. Tables are built for it when their module is first imported. */
export const dialect: 'sqlite' | 'postgres' = isPostgresUrl(databaseUrl()) ? 'postgres' : 'sqlite'
