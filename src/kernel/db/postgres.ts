import { SQL, type TransactionSQL } from 'bun'
import { drizzle } from 'drizzle-orm/bun-sql'

import { randomBelow } from '../ids.ts'
import { castTo } from './columns.ts'
import { type Channel, type Db, type Engine, withEffects } from './engine.ts'
import { DatabaseBusy, sqlState } from './error.ts'
import { sessionName } from './replicas/presence.ts'
import { Deadline } from './writer.ts'

const writeConnections = 16
const readConnections = 8
const unitsMax = 10_000
const closeSeconds = 5
const attemptsMax = 8
const retryMs = 10

/** serialization_failure and deadlock_detected, which PostgreSQL's manual says to retry. */
const retryStates = ['40001', '40P01']

/**
 * The transaction that drizzle's driver sees. Slots are reused, so that queries prepared for one
 * stay prepared. A slot is dropped after a failure, with any code that still refers to it.
 */
class TransactionSlot {
  readonly db: Db = castTo<Db>(drizzle(castTo<SQL>(this)))
  #transaction: TransactionSQL | undefined
  #broken: unknown

  unsafe(text: string, values: unknown[]) {
    if (!this.#transaction) {
      throw new Error('This transaction has ended. Do not use its database handle any more.')
    }
    const query = this.#transaction.unsafe(text, values)
    return {
      values: () => this.#watch(query.values()),
      // drizzle awaits the query itself to get rows as objects.
      then: (...both: Parameters<Promise<unknown>['then']>) => this.#watch(query).then(...both),
    }
  }

  async run<T>(
    transaction: TransactionSQL,
    unitMs: number,
    work: (db: Db) => Promise<T>,
  ): Promise<T> {
    // A slow transaction has usually waited for row locks, so this is DatabaseBusy.
    const deadline = new Deadline(unitMs, DatabaseBusy)
    this.#transaction = transaction
    try {
      const result = await Promise.race([work(this.db), deadline.passed])
      // After a failed statement, COMMIT would roll back silently and report success.
      if (this.#broken) throw this.#broken
      return result
    } finally {
      this.#transaction = undefined
      deadline.stop()
    }
  }

  /** Statements behind a failed one fail for it, and throw its error. */
  async #watch(query: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await query
    } catch (error) {
      throw (this.#broken ??= error)
    }
  }
}

/** Runs transactions at READ COMMITTED. Code that reads before it writes locks the rows. */
class Units {
  readonly #idle: TransactionSlot[] = []
  #running = 0

  constructor(
    readonly sql: SQL,
    readonly unitMs: number,
  ) {}

  async tx<T>(work: (db: Db) => Promise<T>, isSoft = false): Promise<T> {
    if (this.#running >= unitsMax) throw new DatabaseBusy('Too many writes are queued.')
    this.#running++
    const unit = withEffects(work)
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const result = await this.#attempt(unit.work, isSoft)
          unit.runEffects()
          return result
        } catch (error) {
          if (!retryStates.includes(sqlState(error))) throw error
          if (attempt === attemptsMax)
            throw new DatabaseBusy('Other transactions kept the rows locked.', { cause: error })
        }
        await Bun.sleep(randomBelow(retryMs * 2 ** attempt) + 1)
      }
    } finally {
      this.#running--
    }
  }

  async #attempt<T>(work: (db: Db) => Promise<T>, isSoft: boolean): Promise<T> {
    let slot: TransactionSlot | undefined
    let isWorked = false
    try {
      const result = await this.sql.begin(async (transaction) => {
        const taken = (slot = this.#idle.pop() ?? new TransactionSlot())
        const done = await taken.run(transaction, this.unitMs, async (db) => {
          const soft = isSoft && taken.unsafe('set local synchronous_commit = off', []).values()
          const [result] = await Promise.all([work(db), soft])
          return result
        })
        isWorked = true
        return done
      })
      if (slot) this.#idle.push(slot)
      return result
    } catch (error) {
      if (!isWorked || retryStates.includes(sqlState(error))) throw error
      // The commit may have succeeded, so this must not look like a rollback.
      throw new Error(`The result of a commit is unknown: ${String(error)}`)
    }
  }
}

const channelName = 'berth'
const publishText = `select pg_notify('${channelName}', value)
  from json_array_elements_text($1::text::json)`

/** Sends on a pooled connection, and listens on a connection that no pooler shares. */
const openChannel = (sending: SQL, listening: SQL | undefined): Channel => ({
  publish: async (payloads) => void (await sending.unsafe(publishText, [JSON.stringify(payloads)])),
  listen: async (onPayload, onListen) => {
    const subscription = await listening?.listen(channelName, onPayload, onListen)
    return subscription && (() => subscription.unlisten())
  },
})

/**
 * Opens a PostgreSQL database: postgres://user:password@host:port/name. `directUrl` is its address
 * where `url` is a pooler in transaction mode: then no query depends on its session, statements
 * have no names, and the timeouts are those of the role.
 */
export async function openPostgres(
  url: string,
  unitMs = 5_000,
  directUrl?: string,
): Promise<Engine> {
  const named = { application_name: sessionName }
  const isPooled = directUrl !== undefined
  const timeouts = { statement_timeout: unitMs, idle_in_transaction_session_timeout: 2 * unitMs }
  const session = isPooled ? named : { ...named, ...timeouts }
  const isReadOnly = isPooled ? {} : { default_transaction_read_only: true }
  const writing = new SQL(url, { max: writeConnections, connection: session, prepare: !isPooled })
  const reading = new SQL(url, {
    max: readConnections,
    connection: { ...session, ...isReadOnly },
    prepare: !isPooled,
  })
  const listening = new SQL(directUrl ?? url, { max: 1, connection: named })
  const units = new Units(writing, unitMs)
  const pools = [writing, reading, listening]
  return {
    kind: 'postgres',
    file: undefined,
    read: castTo<Db>(drizzle(reading)),
    tx: (work, isSoft) => units.tx(work, isSoft),
    commits: () => undefined,
    channel: openChannel(writing, listening),
    ping: async () => void (await reading`select 1`),
    close: async () => {
      await Promise.all(pools.map((sql) => sql.close({ timeout: closeSeconds })))
    },
  }
}
