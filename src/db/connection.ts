import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'

const statementsMax = 500

/** A connection and its compiled statements: of too many, the one compiled first goes. */
export class Statements {
  readonly #known = new Map<string, Statement<unknown, SQLQueryBindings[]>>()

  constructor(readonly database: Database) {}

  get(text: string): Statement<unknown, SQLQueryBindings[]> {
    const known = this.#known.get(text)
    if (known) return known
    // SQLite plans a query by the values that stand in it alone, and compiles it again with each of
    // them, for 3 to 35 us: limits, and those beside a partial index or an order.
    const planned = text.replaceAll('?', '+?')
    const statement = this.database.prepare<unknown, SQLQueryBindings[]>(planned)
    this.#known.set(text, statement)
    if (this.#known.size > statementsMax) this.#drop()
    return statement
  }

  /** Without this, SQLite keeps the files open until the collector finds the statements. */
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
 * The connection as drizzle's driver sees it. A lane that was retired refuses: what is left of
 * a unit of work that failed can never write into somebody else's.
 */
export class Connection {
  #live = true
  #broken: unknown

  constructor(readonly statements: Statements) {}

  retire(): void {
    this.#live = false
  }

  /** PostgreSQL keeps nothing of a transaction once a statement failed, even if caught: so here. */
  throwIfBroken(): void {
    if (this.#broken) throw this.#broken
  }

  prepare(text: string) {
    this.statements.get(text)
    const run = <Result>(act: (statement: Statement<unknown, SQLQueryBindings[]>) => Result) => {
      if (!this.#live) throw new Error('This unit of work has ended; its database takes no more.')
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

  /** drizzle's own transactions lose atomicity on this driver; `Engine.tx` is the only one. */
  transaction(): never {
    throw new Error('Use Engine.tx: drizzle has no safe transactions on this driver.')
  }
}
