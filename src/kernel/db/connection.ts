import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'

import { castTo } from './columns.ts'
import type { Db } from './engine.ts'

const statementsMax = 500

/** A SQLite connection with a bounded cache of prepared statements. The oldest is evicted first. */
export class Statements {
  readonly #known = new Map<string, Statement<unknown, SQLQueryBindings[]>>()

  /** `onRun` observes the text of each statement before it runs. */
  constructor(
    readonly database: Database,
    readonly onRun?: (text: string) => void,
  ) {}

  get(text: string): Statement<unknown, SQLQueryBindings[]> {
    const known = this.#known.get(text)
    if (known) return known
    // SQLite replans a query for each new value of some parameters (limits, terms of a partial
    // index), which costs 3 to 35 us. The unary plus keeps one plan.
    const planned = text.replaceAll('?', '+?')
    const statement = this.database.prepare<unknown, SQLQueryBindings[]>(planned)
    this.#known.set(text, statement)
    if (this.#known.size > statementsMax) this.#drop()
    return statement
  }

  /** Finalizes the statements: otherwise SQLite keeps the files open until garbage collection. */
  close(): void {
    for (const statement of this.#known.values()) statement.finalize()
    this.#known.clear()
    this.database.close()
  }

  #drop(): void {
    for (const [text, statement] of this.#known) {
      statement.finalize()
      this.#known.delete(text)
      return
    }
  }
}

/**
 * The connection that drizzle's driver sees. A retired connection throws, so the rest of a failed
 * transaction can never write into the next one.
 */
export class Connection {
  #live = true
  #broken: unknown

  /**
   * In a transaction, statements behind a failed one throw its error, as on PostgreSQL: SQLite may
   * have rolled all back, and would commit them by themselves.
   */
  constructor(
    readonly statements: Statements,
    readonly isTransaction = false,
  ) {}

  retire(): void {
    this.#live = false
  }

  /** Throws when any statement failed, even if the error was caught: PostgreSQL does the same. */
  throwIfBroken(): void {
    if (this.#broken) throw this.#broken
  }

  prepare(text: string) {
    this.statements.get(text)
    const run = <Result>(act: (statement: Statement<unknown, SQLQueryBindings[]>) => Result) => {
      if (!this.#live)
        throw new Error('This transaction has ended. Do not use its database handle any more.')
      if (this.isTransaction) this.throwIfBroken()
      this.statements.onRun?.(text)
      try {
        return act(this.statements.get(text))
      } catch (error) {
        this.#broken ??= error
        throw error
      }
    }
    return {
      run: (...values: SQLQueryBindings[]) => run((statement) => statement.run(...values)),
      all: (...values: SQLQueryBindings[]) => run((statement) => statement.all(...values)),
      values: (...values: SQLQueryBindings[]) => run((statement) => statement.values(...values)),
    }
  }

  /** Throws: drizzle's own transactions lose atomicity on this driver. */
  transaction(): never {
    throw new Error('Use Engine.tx: transactions of drizzle are unsafe on this driver.')
  }
}

/** Returns the connection of a database that drizzle created over one. */
export const connectionOf = (db: Db): Connection => castTo<{ $client: Connection }>(db).$client
