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

/** A table of this page, as the server changes it. */
class Table {
  entries: Entry[] = []
  readonly listeners = new Set<() => void>()
  readonly loaded: Promise<void>

  constructor(collection: string) {
    this.loaded = new Promise((resolve, reject) => {
      db.collection(collection).onSnapshot(({ docs }) => {
        this.entries = docs.map((doc) => [
          decodeURIComponent(doc.id),
          field(doc.data(), 'value') ?? null,
        ])
        resolve()
        for (const listener of [...this.listeners]) listener()
      }, reject)
    })
    this.loaded.catch(() => tables.delete(collection))
  }
}

const tables = new Map<string, Table>()

/**
 * Calls `next` with what `read` returns, now and after each change of the tables that it read.
 * Returns the function that ends it.
 */
export function watchTables<Result>(
  read: (reader: Reader) => Promise<Result>,
  next: (result: Result) => void,
): () => void {
  const used = new Set<Table>()
  const open = async (collection: string): Promise<Table> => {
    const table = tables.get(collection) ?? new Table(collection)
    tables.set(collection, table)
    await table.loaded
    used.add(table)
    table.listeners.add(run)
    return table
  }
  const reader: Reader = {
    async find(collection, key) {
      const found = (await open(collection)).entries.find(([one]) => one === key)
      return found && { value: structuredClone(found[1]) }
    },
    list: async (collection) => structuredClone((await open(collection)).entries),
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
