import { field } from '../frame/messages.ts'
import { db } from './bridge-calls.ts'

/** The value of a row. It may be any JSON, and a document is an object. */
export interface Row {
  value: unknown
}

export type Entry = [itemKey: string, value: unknown]

/** Reads rows of tables, each of which is a collection. */
export interface Reader {
  find(collection: string, key: string): Promise<Row | undefined>
  list(collection: string): Promise<Entry[]>
}

/** Returns the path of a row. Keys may have characters that an id cannot have. */
export const rowPath = (collection: string, key: string): string =>
  `${collection}/${encodeURIComponent(key).replaceAll('.', '%2E')}`

/** The rows that a mutation writes. Null removes one. */
export class Writes {
  readonly written = new Map<string, Map<string, Row | null>>()

  write(collection: string, key: string, row: Row | null): void {
    const rows = this.written.get(collection) ?? new Map<string, Row | null>()
    this.written.set(collection, rows.set(key, row))
  }

  /** Returns the entries of a table with these rows. */
  merge(collection: string, entries: Entry[]): Entry[] {
    const rows = new Map(entries.map(([key, value]): [string, Row | null] => [key, { value }]))
    for (const [key, row] of this.written.get(collection) ?? []) rows.set(key, row)
    return [...rows].flatMap(([key, row]): Entry[] => (row ? [[key, row.value]] : []))
  }
}

/** A table of this page, as the server changes it. */
class Table {
  entries: Entry[] = []
  versions = new Map<string, number | undefined>()
  readonly listeners = new Set<() => void>()
  readonly loaded: Promise<void>

  constructor(readonly collection: string) {
    this.loaded = new Promise((resolve, reject) => {
      db.collection(collection).onSnapshot(({ docs }) => {
        const keyOf = ({ id }: { id: string }): string => decodeURIComponent(id)
        this.entries = docs.map((doc) => [keyOf(doc), field(doc.data(), 'value') ?? null])
        this.versions = new Map(docs.map((doc) => [keyOf(doc), doc.version]))
        resolve()
        for (const draft of [...drafts]) draft.check()
        this.tell()
      }, reject)
    })
    this.loaded.catch(() => tables.delete(collection))
  }

  /** Returns the rows as this page shows them, with what the server does not have yet. */
  shown(): Entry[] {
    const all = [...drafts].reduce(
      (entries, draft) => draft.merge(this.collection, entries),
      this.entries,
    )
    return structuredClone(all)
  }

  tell(): void {
    for (const listener of [...this.listeners]) listener()
  }
}

const tables = new Map<string, Table>()

async function openTable(collection: string): Promise<Table> {
  const table = tables.get(collection) ?? new Table(collection)
  tables.set(collection, table)
  await table.loaded
  return table
}

/** Mutations that the page shows before the server has them, in their order. */
const drafts = new Set<Draft>()
/** The longest wait for the rows of a confirmed mutation. */
const settleMs = 2_000

/** A mutation that the page shows at once. Its mutator reads what the page shows. */
export class Draft extends Writes implements Reader {
  #before: [table: Table, key: string, version: number | undefined][] = []
  #onEnd: (() => void) | undefined

  async find(collection: string, key: string): Promise<Row | undefined> {
    const found = (await this.list(collection)).find(([one]) => one === key)
    return found && { value: found[1] }
  }

  async list(collection: string): Promise<Entry[]> {
    return this.merge(collection, (await openTable(collection)).shown())
  }

  show(): void {
    drafts.add(this)
    this.#tell()
  }

  /** Remembers its rows as the server has them before the mutation runs there. */
  begin(): void {
    for (const [collection, rows] of this.written) {
      const table = tables.get(collection)
      if (!table) continue
      for (const [key, row] of rows) {
        const version = table.versions.get(key)
        if (row || version !== undefined) this.#before.push([table, key, version])
      }
    }
  }

  /** Resolves when the page has the rows from the server, after it confirmed the mutation. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onEnd = resolve
      setTimeout(resolve, settleMs)
      this.check()
    })
  }

  check(): void {
    if (this.#before.every(([{ versions }, key, old]) => versions.get(key) !== old)) this.#onEnd?.()
  }

  end(): void {
    drafts.delete(this)
    this.#tell()
  }

  #tell(): void {
    for (const collection of this.written.keys()) tables.get(collection)?.tell()
  }
}

/**
 * Calls `next` with what `read` returns, now and after each change of the tables that it read.
 * Returns the function that ends it.
 */
export function watchTables<Result>(
  read: (reader: Reader) => Promise<Result>,
  next: (result: Result) => void,
): () => void {
  const used = new Set<Table>()
  const list = async (collection: string): Promise<Entry[]> => {
    const table = await openTable(collection)
    used.add(table)
    table.listeners.add(run)
    return table.shown()
  }
  const reader: Reader = {
    async find(collection, key) {
      const found = (await list(collection)).find(([one]) => one === key)
      return found && { value: found[1] }
    },
    list,
  }
  let isOpen = true
  let isRunning = false
  let isDue = false
  const run = (): void => {
    isDue = true
    if (!isRunning) void runDue()
  }
  const runDue = async (): Promise<void> => {
    isRunning = true
    while (isDue && isOpen) {
      isDue = false
      try {
        const result = await read(reader)
        if (isOpen) next(result)
      } catch (error) {
        console.warn(error)
      }
    }
    isRunning = false
  }
  run()
  return () => {
    isOpen = false
    for (const table of used) table.listeners.delete(run)
  }
}
