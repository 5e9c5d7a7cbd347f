import { SQL, type TransactionSQL } from 'bun'
import { drizzle } from 'drizzle-orm/bun-sql'

import { pick } from '../core/ids.ts'
import { seenAs } from './columns.ts'
import { Deadline } from './deadline.ts'
import type { Db, Engine } from './engine.ts'
import { Busy, sqlState } from './error.ts'
import { sessionName } from './process.ts'

const writeConnections = 16
const readConnections = 8
const unitsMax = 10_000
const closeSeconds = 5
const attemptsMax = 8
const retryMs = 10

/** serialization_failure and deadlock_detected: PostgreSQL's manual says to run these again. */
const runAgain = ['40001', '40P01']

/**
 * One transaction as drizzle's driver sees it. Lanes are used again, so that queries built
 * for one stay built; after a failure a lane is left behind with whatever still holds it.
 */
class Lane {
  readonly db: Db = seenAs<Db>(drizzle(seenAs<SQL>(this)))
  #transaction: TransactionSQL | undefined
  #broken: unknown

  unsafe(text: string, values: unknown[]) {
    if (!this.#transaction) {
      throw new Error('This unit of work has ended; its database takes no more.')
    }
    const query = this.#transaction.unsafe(text, values)
    return {
      values: () => this.#watch(query.values()),
      // drizzle awaits the query itself where it wants rows as objects.
      then: (...both: Parameters<Promise<unknown>['then']>) => this.#watch(query).then(...both),
    }
  }

  async run<T>(
    transaction: TransactionSQL,
    unitMs: number,
    work: (db: Db) => Promise<T>,
  ): Promise<T> {
    // Mostly it has waited for the rows of others.
    const deadline = new Deadline(unitMs, Busy)
    this.#transaction = transaction
    try {
      const result = await Promise.race([work(this.db), deadline.passed])
      // After a failed statement COMMIT would quietly undo everything and call it success.
      if (this.#broken) throw this.#broken
      return result
    } finally {
      this.#transaction = undefined
      deadline.stop()
    }
  }

  async #watch(query: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await query
    } catch (error) {
      this.#broken ??= error
      throw error
    }
  }
}

/** Runs units of work in transactions of READ COMMITTED; whoever reads to write locks the rows. */
class Units {
  readonly #idle: Lane[] = []
  #running = 0

  constructor(
    readonly sql: SQL,
    readonly unitMs: number,
  ) {}

  async tx<T>(work: (db: Db) => Promise<T>): Promise<T> {
    if (this.#running >= unitsMax) throw new Busy('Too many writes wait.')
    this.#running++
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#once(work)
        } catch (error) {
          if (!runAgain.includes(sqlState(error))) throw error
          if (attempt === attemptsMax) throw new Busy('Others kept the rows.', { cause: error })
        }
        await Bun.sleep(pick(retryMs * 2 ** attempt) + 1)
      }
    } finally {
      this.#running--
    }
  }

  async #once<T>(work: (db: Db) => Promise<T>): Promise<T> {
    let lane: Lane | undefined
    let isWorked = false
    try {
      const result = await this.sql.begin(async (transaction) => {
        lane = this.#idle.pop() ?? new Lane()
        const done = await lane.run(transaction, this.unitMs, work)
        isWorked = true
        return done
      })
      if (lane) this.#idle.push(lane)
      return result
    } catch (error) {
      if (!isWorked || runAgain.includes(sqlState(error))) throw error
      // It may count: nobody is to be told that nothing was kept.
      throw new Error(`It is not known whether a commit counts: ${String(error)}`)
    }
  }
}

/** Opens a PostgreSQL database: postgres://user:password@host:port/name. */
export async function openPostgres(url: string, unitMs = 5_000): Promise<Engine> {
  const session = {
    application_name: sessionName,
    statement_timeout: unitMs,
    idle_in_transaction_session_timeout: 2 * unitMs,
  }
  const writing = new SQL(url, { max: writeConnections, connection: session })
  const reading = new SQL(url, {
    max: readConnections,
    connection: { ...session, default_transaction_read_only: true },
  })
  const units = new Units(writing, unitMs)
  return {
    kind: 'postgres',
    file: undefined,
    read: seenAs<Db>(drizzle(reading)),
    tx: (work) => units.tx(work),
    commits: () => undefined,
    ping: async () => void (await reading`select 1`),
    close: async () => {
      await Promise.all([writing, reading].map((sql) => sql.close({ timeout: closeSeconds })))
    },
  }
}
