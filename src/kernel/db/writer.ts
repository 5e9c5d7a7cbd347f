import { stopwatch } from '../time.ts'
import { Connection, type Statements } from './connection.ts'
import { type Db, withEffects } from './engine.ts'
import { DatabaseBusy, databaseErrorKind } from './error.ts'

/** A restartable timer. `passed` rejects with `Late` after `ms` milliseconds without `restart`. */
export class Deadline {
  readonly passed: Promise<never>
  readonly #timer: Timer

  constructor(
    readonly ms: number,
    Late: new (text: string) => Error = Error,
  ) {
    const { promise, reject } = Promise.withResolvers<never>()
    this.passed = promise
    this.#timer = setTimeout(() => {
      reject(new Late(`A transaction did not finish in ${ms} ms and was rolled back.`))
    }, ms)
  }

  restart(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

const queuedUnitsMax = 10_000
const groupUnitsMax = 256
const lockRetryMsMax = 50
/** SQLite's number of `synchronous = full`. */
const fullSync = '2'

/** Milliseconds that a transaction may take, and that another process may keep the write lock. */
export interface WriterTimeouts {
  unitMs: number
  lockWaitMs: number
}

/** Resolves the promise of one transaction's caller, after the commit. */
type Acknowledge = () => void

interface Unit {
  isSoft: boolean
  run(db: Db): Promise<Acknowledge>
  reject(error: unknown): void
}

/**
 * The single writer of a SQLite database, with group commit: the transactions that are queued at
 * one turn of the event loop run in order under one durable commit. Each has its own SAVEPOINT,
 * unless it is alone.
 */
export class Writer {
  commits = 0
  #queue: Unit[] = []
  #draining: Promise<void> | undefined
  #closed = false
  #isSoft = false
  /** Databases of tests are never synced. */
  readonly #isDurable: boolean
  #connection: Connection
  #db: Db

  constructor(
    readonly statements: Statements,
    readonly open: (connection: Connection) => Db,
    readonly timeouts: WriterTimeouts = { unitMs: 5_000, lockWaitMs: 2_000 },
  ) {
    this.#connection = new Connection(statements, true)
    this.#db = open(this.#connection)
    this.#isDurable = String(statements.get('pragma synchronous').values()) === fullSync
  }

  /** See Engine.tx. Rejects with DatabaseBusy when the queue is full or the lock is not free. */
  tx<T>(work: (db: Db) => Promise<T>, isSoft = false): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (this.#closed) reject(new Error('The database is closed.'))
    else if (this.#queue.length >= queuedUnitsMax)
      reject(new DatabaseBusy('Too many writes are queued.'))
    else {
      const unit = withEffects(work)
      const run = async (db: Db): Promise<Acknowledge> => {
        const result = await unit.work(db)
        return () => {
          unit.runEffects()
          resolve(result)
        }
      }
      this.#queue.push({ isSoft, run, reject })
      this.#draining ??= this.#drain()
    }
    return promise
  }

  /** Commits the queue and rejects later transactions. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
  }

  async #drain(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#queue.length === 0) break
      await this.#commitGroup()
    }
    this.#draining = undefined
  }

  async #commitGroup(): Promise<void> {
    const group = this.#queue.splice(0, groupUnitsMax)
    try {
      this.#setSoft(group.every(({ isSoft }) => isSoft))
      await this.#begin()
    } catch (error) {
      for (const unit of [...group, ...this.#queue.splice(0)]) unit.reject(error)
      return
    }
    try {
      const acknowledgements = await this.#runAll(group)
      this.#do('commit')
      this.commits += 1
      for (const acknowledge of acknowledgements) acknowledge()
    } catch (error) {
      this.#replaceConnection()
      if (this.statements.database.inTransaction) this.#do('rollback')
      for (const unit of group) unit.reject(error)
    }
  }

  /** The commit of soft units alone is not synced. The next durable commit syncs it too. */
  #setSoft(isSoft: boolean): void {
    if (isSoft === this.#isSoft || !this.#isDurable) return
    this.#do(`pragma synchronous = ${isSoft ? 'normal' : 'full'}`)
    this.#isSoft = isSoft
  }

  /** Takes the write lock without blocking the event loop. */
  async #begin(): Promise<void> {
    const since = stopwatch()
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, lockRetryMsMax)) {
      try {
        this.#do('begin immediate')
        return
      } catch (error) {
        if (databaseErrorKind(error) !== 'busy') throw error
        if (stopwatch() - since >= this.timeouts.lockWaitMs) {
          throw new DatabaseBusy('Another process has locked the database.', { cause: error })
        }
      }
      await Bun.sleep(waitMs)
    }
  }

  /** Runs a group. Throws only when the whole group is lost. */
  async #runAll(group: Unit[]): Promise<Acknowledge[]> {
    const acknowledgements: Acknowledge[] = []
    const isAlone = group.length === 1
    let deadline = new Deadline(this.timeouts.unitMs)
    try {
      for (const unit of group) {
        if (!isAlone) this.#do('savepoint unit')
        try {
          deadline.restart()
          const acknowledge = await Promise.race([unit.run(this.#db), deadline.passed])
          this.#connection.throwIfBroken()
          acknowledgements.push(acknowledge)
          if (!isAlone) this.#do('release unit')
        } catch (error) {
          if (isAlone || !this.statements.database.inTransaction) throw error
          this.#do('rollback to unit')
          this.#do('release unit')
          this.#replaceConnection()
          deadline.stop()
          deadline = new Deadline(this.timeouts.unitMs)
          acknowledgements.push(() => unit.reject(error))
        }
      }
    } finally {
      deadline.stop()
    }
    return acknowledgements
  }

  #replaceConnection(): void {
    this.#connection.retire()
    this.#connection = new Connection(this.statements, true)
    this.#db = this.open(this.#connection)
  }

  #do(text: string): void {
    this.statements.get(text).run()
  }
}
