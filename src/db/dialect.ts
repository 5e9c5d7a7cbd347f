import { databaseUrl } from '../config.ts'

export const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

/** Which engine this process speaks: the tables are built for it when they are first imported. */
export const dialect: 'sqlite' | 'postgres' = isPostgresUrl(databaseUrl()) ? 'postgres' : 'sqlite'
