/**
 * One schema for two engines: the column types of every `tables.ts`. The engine is chosen when the
 * process starts, and all other code sees drizzle's SQLite types.
 */
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'

import { databaseUrl } from '../config/load.ts'
import { isPostgresUrl } from '../config/setting-types.ts'
import { nano as brand, type NanoUsd } from '../money.ts'

/** The engine of this process. Tables are built for it when their module is first imported. */
export const dialect: 'sqlite' | 'postgres' = isPostgresUrl(databaseUrl()) ? 'postgres' : 'sqlite'

type Kit = Pick<
  typeof sqlite,
  'sqliteTable' | 'text' | 'customType' | 'index' | 'uniqueIndex' | 'primaryKey' | 'check'
>

/**
 * Views a PostgreSQL or synchronous SQLite object of drizzle through the asynchronous SQLite type.
 * It holds for the awaitable forms, and the code uses only those. Other files of db/ call this
 * function, because scripts/tidy/style.ts allows casts to other types than brands only here.
 */
export const castTo = <T>(value: unknown): T => value as T

const onPostgres = dialect === 'postgres'
const kit: Kit = onPostgres ? castTo<Kit>({ ...pg, sqliteTable: pg.pgTable }) : sqlite

export const table = kit.sqliteTable
export const { index, uniqueIndex, primaryKey, check } = kit

/** Text, stored unchanged. PostgreSQL rejects U+0000. */
export const text = (name: string) => kit.text(name)

/** An integer within 2^53, 64 bits wide in the database. */
export const integer = kit.customType<{ data: number; driverData: number | bigint | string }>({
  dataType: () => (onPostgres ? 'bigint' : 'integer'),
  fromDriver: Number,
})

/** A finite number of 64 bits, as JavaScript has it. */
export const real = kit.customType<{ data: number }>({
  dataType: () => (onPostgres ? 'double precision' : 'real'),
})

/** Milliseconds since 1970, UTC. */
export const time = integer

/** Money in NanoUsd, exact over 64 bits. */
export const nano = kit.customType<{ data: NanoUsd; driverData: bigint | string }>({
  dataType: () => (onPostgres ? 'bigint' : 'integer'),
  fromDriver: (stored) => brand(BigInt(stored)),
})

export const flag = kit.customType<{ data: boolean; driverData: boolean | number | bigint }>({
  dataType: () => (onPostgres ? 'boolean' : 'integer'),
  toDriver: (value) => (onPostgres ? value : Number(value)),
  fromDriver: (stored) => stored === true || Number(stored) === 1,
})

/** A JSON value, stored as text on both engines. Its schema is checked on write. */
export const json = <T>(name: string) =>
  kit.customType<{ data: T; driverData: string }>({
    dataType: () => 'text',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (stored) => JSON.parse(stored),
  })(name)
