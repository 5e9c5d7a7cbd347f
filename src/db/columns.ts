/**
 * One schema, two engines. Everything a `tables.ts` needs comes from here; the engine is chosen
 * when the process starts and everyone else sees drizzle's SQLite types.
 */
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'

import { nano as brand, type NanoUsd } from '../core/money.ts'
import { dialect } from './dialect.ts'

type Kit = Pick<
  typeof sqlite,
  'sqliteTable' | 'text' | 'customType' | 'index' | 'uniqueIndex' | 'primaryKey' | 'check'
>

/**
 * The one cast: a thing of drizzle's PostgreSQL side, or of its synchronous SQLite side, seen
 * through the asynchronous SQLite type. True for the awaitable forms, which is all the rooms use.
 */
export const seenAs = <T>(thing: unknown): T => thing as T

const onPostgres = dialect === 'postgres'
const kit: Kit = onPostgres ? seenAs<Kit>({ ...pg, sqliteTable: pg.pgTable }) : sqlite

export const table = kit.sqliteTable
export const { index, uniqueIndex, primaryKey, check } = kit

/** Text, exactly as given. PostgreSQL refuses the character U+0000 in it. */
export const text = (name: string) => kit.text(name)

/** A whole number within 2^53, 64 bits wide in the database. */
export const integer = kit.customType<{ data: number; driverData: number | bigint | string }>({
  dataType: () => (onPostgres ? 'bigint' : 'integer'),
  fromDriver: Number,
})

/** Milliseconds since 1970, UTC. */
export const time = integer

/** Money: exact over all 64 bits. */
export const nano = kit.customType<{ data: NanoUsd; driverData: bigint | string }>({
  dataType: () => (onPostgres ? 'bigint' : 'integer'),
  fromDriver: (stored) => brand(BigInt(stored)),
})

/** True or false. */
export const flag = kit.customType<{ data: boolean; driverData: boolean | number | bigint }>({
  dataType: () => (onPostgres ? 'boolean' : 'integer'),
  toDriver: (value) => (onPostgres ? value : Number(value)),
  fromDriver: (stored) => stored === true || Number(stored) === 1,
})

/** A JSON value, kept as text in both engines. Its shape is checked where it is written. */
export const json = <T>(name: string) =>
  kit.customType<{ data: T; driverData: string }>({
    dataType: () => 'text',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (stored) => JSON.parse(stored),
  })(name)
