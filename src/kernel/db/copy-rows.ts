import { Database } from 'bun:sqlite'

/**
 * Copies all rows between SQLite and PostgreSQL, which have the same tables: see columns.ts. Rows
 * travel as texts, and what was written is read back and compared before the commit.
 */
import { SQL, type TransactionSQL } from 'bun'

import { sha256 } from '../ids.ts'

/** A value as text: numbers in decimal, as JavaScript writes them, and booleans as 0 and 1. */
type Row = (string | null)[]

type ColumnType = 'text' | 'bigint' | 'boolean' | 'double precision'

interface Column {
  name: string
  /** The type on PostgreSQL. */
  type: ColumnType
}

type Tables = Map<string, Column[]>

/** The rows of a table, whatever their order: their number, and the sum of their hashes. */
interface Digest {
  rows: number
  hash: string
}

export interface CopiedTable extends Digest {
  table: string
}

/** Rows that belong to running processes, and to the record of migrations. */
const skipped = new Set([
  'schema_migrations',
  'replicas',
  'leases',
  'limit_windows',
  'shared_values',
])

const batchRows = 500
const batchChars = 1_000_000

const quoted = (name: string): string => `"${name}"`
const listOf = (columns: Column[]): string => columns.map(({ name }) => quoted(name)).join(', ')

/** One end of a copy. */
interface Side {
  read(table: string, columns: Column[]): AsyncGenerator<Row> | Generator<Row>
  write(table: string, columns: Column[], rows: Row[]): Promise<void> | void
}

/** The value of a text in SQLite. */
const fromTexts: Record<ColumnType, (text: string) => string | bigint | number> = {
  text: (text) => text,
  bigint: BigInt,
  boolean: BigInt,
  'double precision': Number,
}

const sqliteSide = (database: Database): Side => ({
  *read(table, columns) {
    const all = database.query<Record<string, string | bigint | null>, []>(
      `select ${listOf(columns)} from ${quoted(table)}`,
    )
    for (const row of all.iterate()) {
      yield columns.map(({ name }) => {
        const value = row[name] ?? null
        return value === null ? null : String(value)
      })
    }
  },
  write(table, columns, rows) {
    const places = columns.map(() => '?').join(', ')
    const insert = database.query(
      `insert into ${quoted(table)} (${listOf(columns)}) values (${places})`,
    )
    for (const row of rows) {
      insert.run(
        ...row.map((value, at) =>
          value === null ? value : fromTexts[columns[at]?.type ?? 'text'](value),
        ),
      )
    }
  },
})

/** The expression of a text as the value of a column. */
const fromText: Record<ColumnType, string> = {
  text: '',
  bigint: '::bigint',
  boolean: '::int::boolean',
  'double precision': '::double precision',
}
const toText: Record<ColumnType, string> = {
  text: '',
  bigint: '::text',
  boolean: '::int::text',
  // Read as a number: PostgreSQL writes 1e+15 where JavaScript writes all digits.
  'double precision': '',
}
const isKnown = (type: string): type is ColumnType => Object.hasOwn(toText, type)

const postgresSide = (tx: TransactionSQL): Side => ({
  async *read(table, columns) {
    const list = columns.map(({ name, type }) => quoted(name) + toText[type]).join(', ')
    await tx.unsafe(`declare copied no scroll cursor for select ${list} from ${quoted(table)}`)
    for (;;) {
      const rows: (string | number | null)[][] = await tx
        .unsafe(`fetch ${batchRows} from copied`)
        .values()
      for (const row of rows) yield row.map((value) => (value === null ? null : String(value)))
      if (rows.length < batchRows) break
    }
    await tx.unsafe('close copied')
  },
  async write(table, columns, rows) {
    const values = columns.map(({ type }, at) => `(row ->> ${at})${fromText[type]}`).join(', ')
    await tx.unsafe(
      `insert into ${quoted(table)} (${listOf(columns)})
        select ${values} from json_array_elements($1::text::json) as row`,
      [JSON.stringify(rows)],
    )
  },
})

/** Returns the tables of a PostgreSQL database with the columns that are not computed. */
async function readTables(tx: TransactionSQL): Promise<Tables> {
  const found: { table: string; name: string; type: string }[] = await tx.unsafe(
    `select table_name as table, column_name as name, data_type as type
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER'
      order by table_name, ordinal_position`,
  )
  const tables: Tables = new Map()
  for (const { table, name, type } of found) {
    if (skipped.has(table)) continue
    if (!isKnown(type))
      throw new Error(`"${table}"."${name}" has the type ${type}, which cannot be copied.`)
    tables.set(table, [...(tables.get(table) ?? []), { name, type }])
  }
  return tables
}

const mask = (1n << 256n) - 1n

/** Adds the hashes of rows, so that neither order nor memory matters. */
class Digester {
  rows = 0
  private sum = 0n

  add(row: Row): void {
    this.rows += 1
    this.sum = (this.sum + BigInt(`0x${sha256(JSON.stringify(row))}`)) & mask
  }

  get digest(): Digest {
    return { rows: this.rows, hash: this.sum.toString(16).padStart(64, '0') }
  }
}

async function digestOf(side: Side, table: string, columns: Column[]): Promise<Digest> {
  const digester = new Digester()
  for await (const row of side.read(table, columns)) digester.add(row)
  return digester.digest
}

async function copyTable(
  from: Side,
  to: Side,
  table: string,
  columns: Column[],
): Promise<CopiedTable> {
  if ((await digestOf(to, table, columns)).rows > 0) {
    throw new Error(`The target has rows in "${table}". Copy into an empty database.`)
  }
  const digester = new Digester()
  let batch: Row[] = []
  let chars = 0
  for await (const row of from.read(table, columns)) {
    digester.add(row)
    batch.push(row)
    chars += row.reduce((sum, value) => sum + (value?.length ?? 0), 0)
    if (batch.length < batchRows && chars < batchChars) continue
    await to.write(table, columns, batch)
    batch = []
    chars = 0
  }
  if (batch.length > 0) await to.write(table, columns, batch)
  const copied = digester.digest
  const written = await digestOf(to, table, columns)
  if (written.rows !== copied.rows || written.hash !== copied.hash) {
    throw new Error(`"${table}" differs after the copy. Nothing was stored.`)
  }
  return { table, ...copied }
}

async function copyAll(from: Side, to: Side, tables: Tables): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = []
  for (const [table, columns] of tables) copied.push(await copyTable(from, to, table, columns))
  return copied
}

/**
 * Copies all rows into an empty database of the other engine, both migrated to this schema, in one
 * transaction. Throws an Error where the target has rows or would differ; then nothing is stored.
 */
export async function copyRows(
  file: string,
  url: string,
  to: 'sqlite' | 'postgres',
): Promise<CopiedTable[]> {
  const database = new Database(file, { readwrite: true, safeIntegers: true })
  const sql = new SQL(url, { max: 1 })
  database.run('begin immediate')
  try {
    const copied = await sql.begin('isolation level repeatable read', async (tx) => {
      const [sqlite, postgres] = [sqliteSide(database), postgresSide(tx)]
      const tables = await readTables(tx)
      return to === 'postgres'
        ? copyAll(sqlite, postgres, tables)
        : copyAll(postgres, sqlite, tables)
    })
    database.run('commit')
    return copied
  } catch (error) {
    database.run('rollback')
    throw error
  } finally {
    database.close()
    await sql.end()
  }
}
