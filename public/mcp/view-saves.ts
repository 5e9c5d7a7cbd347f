import { CallError } from '../bridge/protocol.ts'
import { callServer } from '../bridge/server.ts'
import type { Saves } from '../frame/kept-saves.ts'
import { type Change, field, type SavedDatabase } from '../frame/messages.ts'
import { applyDatabase, type SavedDatabases } from '../frame/saved-databases.ts'
import { apply, changesIn } from '../frame/saves.ts'

/** The own value of a player that holds localStorage. `service.store` does not list it. */
const key = 'berth:localStorage'
const writeMs = 1_000
const forever = new AbortController().signal

/** Saves that can be written before the page is left. */
interface KeptSaves extends Saves {
  flush(): Promise<void>
}

/** Opens the saves of an app: on the server for a player with a key, else of this page alone. */
export async function openKeptSaves(app: string, isSignedIn: boolean): Promise<KeptSaves> {
  const call = { app, signal: forever }
  const read = async (): Promise<Map<string, string>> => {
    const entries = new Map<string, string>()
    const path = `/value/own?key=${encodeURIComponent(key)}`
    try {
      const response = await callServer(call, 'GET', path)
      apply(entries, changesIn(field(await response.json(), 'value'), Infinity))
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'not_found') throw error
    }
    return entries
  }
  const found = isSignedIn ? await read().catch(() => undefined) : undefined
  // What could not be read is not overwritten either.
  const isKept = found !== undefined
  const entries = found ?? new Map<string, string>()
  let waiting: Change[] = []
  let timer = 0
  let writing = Promise.resolve()
  // Read before writing: another page of this player may have saved other keys.
  const write = async (): Promise<void> => {
    const changes = waiting
    waiting = []
    timer = 0
    if (!isKept || changes.length === 0) return
    try {
      const kept = await read()
      apply(kept, changes)
      await callServer(call, 'PUT', '/value/own', { key, value: [...kept] })
    } catch {
      // The next change writes these, too.
      waiting = [...changes, ...waiting]
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    writing = writing.then(write)
    return writing
  }
  return {
    all: () => [...entries],
    change(changes) {
      apply(entries, changes)
      waiting.push(...changes)
      if (timer === 0) timer = window.setTimeout(() => void flush(), writeMs)
    },
    flush,
  }
}

/** The databases of an app, which live as long as this page. */
export async function openPageDatabases(): Promise<SavedDatabases> {
  const databases = new Map<string, SavedDatabase>()
  return {
    all: () => [...databases.values()],
    take: (data) => applyDatabase(databases, data),
  }
}
