import type { DocumentSnapshot } from '../bridge/documents.ts'
import { db } from './bridge-calls.ts'

type Fields = Record<string, unknown>

/** Returns a name for a player, who has none here. */
export const usernameOf = (player: string): string => `player_${player.slice(0, 6).toLowerCase()}`

/** A record of websim: its fields, and who created it when. */
export interface WebsimRecord extends Fields {
  id: string
  username: string
  created_at: string
}

type Listener = (records: WebsimRecord[]) => void

const recordOf = (document: DocumentSnapshot): WebsimRecord => ({
  ...document.data(),
  id: document.id,
  username: usernameOf(document.author ?? ''),
  created_at: document.created ?? '',
})

/** The records of a type, which all players of the app see. They load with the first use. */
class RecordList {
  /** Newest first; undefined until they are loaded. */
  records: WebsimRecord[] | undefined
  readonly listeners = new Set<() => void>()
  readonly loaded: Promise<void>

  constructor(type: string) {
    this.loaded = new Promise((resolve) => {
      db.collection(type).onSnapshot(
        ({ docs }) => {
          this.records = docs.map(recordOf).reverse()
          resolve()
          for (const listener of [...this.listeners]) listener()
        },
        () => resolve(),
      )
    })
  }
}

const lists = new Map<string, RecordList>()

function listOf(type: string): RecordList {
  const list = lists.get(type) ?? new RecordList(type)
  lists.set(type, list)
  return list
}

/** The records of a type that have certain fields. */
class Filtered {
  #from: WebsimRecord[] | undefined
  #found: WebsimRecord[] = []

  constructor(
    private readonly type: string,
    private readonly fields: Fields,
  ) {}

  /** Returns the same list until a record changes, as React needs it. */
  #select(): WebsimRecord[] {
    const { records } = listOf(this.type)
    if (records !== this.#from) {
      this.#from = records
      this.#found = (records ?? []).filter((record) =>
        Object.entries(this.fields).every(([name, value]) => record[name] === value),
      )
    }
    return this.#found
  }

  /** Returns what is loaded. The list can be awaited until the first records are there. */
  readonly getList = (): WebsimRecord[] => {
    const list = listOf(this.type)
    if (list.records) return this.#select()
    const waiting = list.loaded.then(() => this.#select())
    return Object.defineProperty([...this.#select()], 'then', { value: waiting.then.bind(waiting) })
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    const list = listOf(this.type)
    let before = list.records ? this.#select() : undefined
    const tell = (): void => {
      const now = this.#select()
      if (now !== before) listener((before = now))
    }
    list.listeners.add(tell)
    if (before) listener(before)
    return () => void list.listeners.delete(tell)
  }
}

const filters = new Map<string, Filtered>()

/** Equal filters of a page are one, so that its lists stay the same. */
function filterOf(type: string, fields: Fields): Filtered {
  const key = JSON.stringify([type, fields])
  const known = filters.get(key) ?? new Filtered(type, fields)
  if (filters.size < 1_000) filters.set(key, known)
  return known
}

const opened = new Map<string, ReturnType<typeof createRecords>>()

/** `room.collection(type)`: the same object for a type, as hooks need it. */
export function openRecords(type: string) {
  const records = opened.get(type) ?? createRecords(type)
  opened.set(type, records)
  return records
}

/** Players change only records that they created. */
function createRecords(type: string) {
  const { getList, subscribe } = filterOf(type, {})
  const write = async (written: Promise<DocumentSnapshot>): Promise<WebsimRecord> =>
    recordOf(await written)
  const update = (id: string, data: Fields): Promise<WebsimRecord> =>
    write(db.doc(`${type}/${id}`).update(data))
  return {
    getList,
    subscribe,
    filter: (fields: Fields) => filterOf(type, fields),
    create: (data: Fields) => write(db.collection(type).add(data, { own: true })),
    update,
    upsert: ({ id, ...data }: Fields) =>
      typeof id === 'string'
        ? write(db.doc(`${type}/${id}`).set(data, { own: true }))
        : write(db.collection(type).add(data, { own: true })),
    delete: async (id: string) => void (await db.doc(`${type}/${id}`).delete()),
  }
}
