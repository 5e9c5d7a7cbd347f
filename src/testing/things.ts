import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { nano as brand } from '../core/money.ts'
import { check, flag, integer, json, nano, table, text, time } from '../db/columns.ts'
import { dialect } from '../db/dialect.ts'
import type { Engine } from '../db/engine.ts'
import { migratePostgres, migrateSqlite } from '../db/migrate.ts'
import { openSqlite } from '../db/sqlite.ts'
import { lender } from './databases.ts'

/** A table of every kind of column, for the data layer's own tests. */
export const things = table(
  'things',
  {
    id: text('id').primaryKey(),
    handle: text('handle').notNull().unique(),
    held: nano('held').notNull(),
    count: integer('count').notNull().default(0),
    made: time('made'),
    closed: flag('closed').notNull().default(false),
    notes: json<string[]>('notes'),
  },
  (t) => [check('things_held', sql`${t.held} >= 0`)],
)

/** Rows that need a thing, which is checked only at the commit. */
export const parts = table('parts', { id: text('id').primaryKey(), thing: text('thing').notNull() })

/** Its migrations, as migrate.ts takes them; the same text does in both engines. */
export const thingsMigrations = [
  {
    tag: '0000_things',
    hash: 'first',
    statements: [
      'create table things (id text primary key, handle text not null, held bigint not null, ' +
        'count bigint not null default 0, made bigint, closed boolean not null default false, ' +
        'notes text, constraint things_handle unique (handle), ' +
        'constraint things_held check (held >= 0))',
      'create table parts (id text primary key, thing text not null ' +
        'references things (id) deferrable initially deferred)',
    ],
  },
]

export const laterMigrations = [
  ...thingsMigrations,
  { tag: '0001_later', hash: 'second', statements: ['alter table things add column later text'] },
]

/** A row of things. */
export const thing = (id: string, held = 0n) => ({ id, handle: `h-${id}`, held: brand(held) })

/** A path for a database file of one test. */
export const freshFile = (): string => join(tmpdir(), `berth-${newId()}.sqlite`)

const lend = lender((url) => migratePostgres(url, thingsMigrations))

/** A lasting database of this process's engine with these tables, for one test, which closes it. */
export async function openThings(): Promise<Engine> {
  if (dialect === 'postgres') return lend()
  const file = freshFile()
  migrateSqlite(file, thingsMigrations)
  const engine = await openSqlite(file)
  return { ...engine, close: () => engine.close().then(() => rmSync(file)) }
}
