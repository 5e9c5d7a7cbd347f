import { stopwatch } from '../core/time.ts'
import { Connection, type Statements } from './connection.ts'
import { Deadline } from './deadline.ts'
import type { Db } from './engine.ts'
import { Busy, faultOf } from './error.ts'

const queuedUnitsMax = 10_000
const groupUnitsMax = 256
const lockRetryMsMax = 50

/** How long a unit of work may take, and how long another process may hold the lock. */
export interface Patience {
  unitMs: number
  lockWaitMs: number
}

/** Answers the caller of one unit. Kept until the commit, so that nobody is told too early. */
type Answer = () => void

interface Unit {
  run(db: Db): Promise<Answer>
  reject(error: unknown): void
}

/**
 * The one writer of a SQLite database. All units that wait when a turn of the event loop comes are
 * run one after the other, each in its own SAVEPOINT, under ONE durable commit.
 */
export class Writer {
  commits = 0
  #queue: Unit[] = []
  #draining: Promise<void> | undefined
  #closed = false
  #lane: Connection
  #db: Db

  constructor(
    readonly statements: Statements,
    readonly open: (lane: Connection) => Db,
    readonly patience: Patience = { unitMs: 5_000, lockWaitMs: 2_000 },
  ) {
    this.#lane = new Connection(statements)
    this.#db = open(this.#lane)
  }

  /** See Engine.tx. Rejects with Busy when the queue is full or the lock is not had in time. */
  tx<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (this.#closed) reject(new Error('The database is closed.'))
    else if (this.#queue.length >= queuedUnitsMax) reject(new Busy('Too many writes wait.'))
    else {
      const run = async (db: Db): Promise<Answer> => {
        const result = await work(db)
        return () => resolve(result)
      }
      this.#queue.push({ run, reject })
      this.#draining ??= this.#drain()
    }
    return promise
  }

  /** Finishes what waits, takes nothing more. */
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
    try {
      await this.#begin()
    } catch (error) {
      for (const unit of this.#queue.splice(0)) unit.reject(error)
      return
    }
    const group = this.#queue.splice(0, groupUnitsMax)
    try {
      const answers = await this.#runAll(group)
      this.#do('commit')
      this.commits += 1
      for (const answer of answers) answer()
    } catch (error) {
      this.#replaceLane()
      if (this.statements.database.inTransaction) this.#do('rollback')
      for (const unit of group) unit.reject(error)
    }
  }

  /** Takes the write lock without ever blocking the event loop. */
  async #begin(): Promise<void> {
    const since = stopwatch()
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, lockRetryMsMax)) {
      try {
        this.#do('begin immediate')
        return
      } catch (error) {
        if (faultOf(error) !== 'busy') throw error
        if (stopwatch() - since >= this.patience.lockWaitMs) {
          throw new Busy('Another process holds the database.', { cause: error })
        }
      }
      await Bun.sleep(waitMs)
    }
  }

  /** Throws only when the whole transaction is lost. */
  async #runAll(group: Unit[]): Promise<Answer[]> {
    const answers: Answer[] = []
    let deadline = new Deadline(this.patience.unitMs)
    try {
      for (const unit of group) {
        this.#do('savepoint unit')
        try {
          deadline.restart()
          const answer = await Promise.race([unit.run(this.#db), deadline.passed])
          this.#lane.throwIfBroken()
          answers.push(answer)
          this.#do('release unit')
        } catch (error) {
          if (!this.statements.database.inTransaction) throw error
          this.#do('rollback to unit')
          this.#do('release unit')
          this.#replaceLane()
          deadline.stop()
          deadline = new Deadline(this.patience.unitMs)
          answers.push(() => unit.reject(error))
        }
      }
    } finally {
      deadline.stop()
    }
    return answers
  }

  #replaceLane(): void {
    this.#lane.retire()
    this.#lane = new Connection(this.statements)
    this.#db = this.open(this.#lane)
  }

  #do(text: string): void {
    this.statements.get(text).run()
  }
}
