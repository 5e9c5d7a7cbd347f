import type { Change, Saved } from './messages.ts'
import {
  apply,
  charsMax,
  journalKey,
  readEntries,
  readJournal,
  readSaves,
  type StoredSaves,
} from './saves.ts'

const writeMs = 200

/**
 * The saves of one app, stored in this browser by app id, so that a new version finds them. A
 * preview of a version has separate saves.
 */
export interface Saves {
  all(): Saved
  change(changes: Change[]): void
}

const isCommitted = ({ transaction }: IDBObjectStore): Promise<boolean> =>
  new Promise((resolve) => {
    transaction.oncomplete = () => resolve(true)
    transaction.onabort = () => resolve(false)
  })

/** Adds changes to the journal. Returns whether they fit. */
function addToJournal(id: string, changes: Change[]): boolean {
  const all = new Map([...readJournal(id).changes, ...changes])
  try {
    localStorage.setItem(journalKey(id), JSON.stringify([...all]))
    return true
  } catch {
    return false
  }
}

/** Removes what was read, unless another page has added to it. */
function removeFromJournal(id: string, text: string | null): void {
  if (text !== null && readJournal(id).text === text) localStorage.removeItem(journalKey(id))
}

/** Stores the changes of an app's saves, up to `max` characters. */
export function keepSaves({ id, apps, entries, left }: StoredSaves, max = charsMax): Saves {
  let waiting: Change[] = []
  const writing: Change[] = []
  let timer = 0

  // Read before writing: another tab may have saved other keys.
  const write = async (): Promise<void> => {
    const changes = waiting
    waiting = []
    timer = 0
    const to = apps('readwrite')
    if (!to) return
    writing.push(...changes)
    const { text, changes: closed } = readJournal(id)
    const kept = await readEntries(to, id)
    apply(kept, [...closed, ...changes], max)
    to.put(kept, id)
    if (await isCommitted(to)) removeFromJournal(id, text)
    writing.splice(0, changes.length)
  }
  if (left.length > 0) void write()
  // With a listener here, Firefox asks the page and its frames before it starts to leave. Without
  // one, the page can be gone before the last changes of the app arrive.
  onbeforeunload = () => null
  addEventListener('pagehide', () => {
    const changes = [...writing, ...waiting]
    waiting = []
    if (changes.length === 0) return
    const to = apps('readwrite')
    if (!to || addToJournal(id, changes)) return
    to.put(entries, id)
    to.transaction.commit()
  })
  return {
    all: () => [...entries],
    change(changes) {
      apply(entries, changes, max)
      waiting.push(...changes)
      if (timer === 0) timer = window.setTimeout(() => void write(), writeMs)
    },
  }
}

/** Opens saves of `max` characters, to read and to change. */
export const openSaves = async (id: string, max: number): Promise<Saves> =>
  keepSaves(await readSaves(id, max), max)
