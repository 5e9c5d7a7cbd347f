import { desc, getTableName, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { Log } from '../log.ts'
import type { Db, Engine } from './engine.ts'
import { isWriteUnavailable } from './error.ts'

/** A table with its primary key. */
export interface KeyedTable {
  table: SQLiteTable
  key: SQLiteColumn[]
}

const rowsPerRead = 20_000

declare module '../context.ts' {
  interface AppContext {
    /** Finds damaged tables among those that decide on credits. */
    readonly damage: DamageCheck
  }
}

/** Finds damaged tables, and remembers the first one. */
export class DamageCheck {
  /** The table that cannot be read; undefined while none is known. */
  table: string | undefined

  constructor(
    private readonly ctx: { db: Engine; log: Log },
    private readonly tables: KeyedTable[],
  ) {}

  /** Reads the first and the last row of every table. */
  probe(): Promise<void> {
    return this.read(async (db, { table, key: [first] }) => {
      if (!first) return
      await db.select().from(table).orderBy(first).limit(1)
      await db.select().from(table).orderBy(desc(first)).limit(1)
    })
  }

  /** Reads the rows of every table, in pieces that do not stop the process for long. */
  scan(): Promise<void> {
    return this.read(async (db, { table, key }) => {
      const columns = Object.fromEntries(key.map((column, index) => [`key${index}`, column]))
      const names = sql.join(key, sql`, `)
      for (let after: unknown[] | undefined; ;) {
        const values = after?.map((value) => sql`${value}`)
        const [last] = await db
          .select(columns)
          .from(table)
          .where(values && sql`(${names}) > (${sql.join(values, sql`, `)})`)
          .orderBy(...key)
          .limit(1)
          .offset(rowsPerRead)
        if (!last) return
        after = Object.values(last)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  }

  private async read(work: (db: Db, one: KeyedTable) => Promise<void>): Promise<void> {
    const { db, log } = this.ctx
    for (const one of this.tables) {
      if (this.table !== undefined) return
      try {
        await work(db.read, one)
      } catch (error) {
        // A database that is down is not damaged.
        if (isWriteUnavailable(error)) return
        this.table = getTableName(one.table)
        const why = 'Stop the server and restore a backup: berth restore.'
        log.error('ledger.damaged', error, { table: this.table, why })
      }
    }
  }
}
