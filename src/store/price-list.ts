import { join } from 'node:path'

import type { Engine } from '../kernel/db/engine.ts'
import { readSharedValue, setSharedValue } from '../kernel/db/replicas/shared-values.ts'
import { writeDurably } from './durable.ts'

const pathOf = (dataDir: string): string => join(dataDir, 'models.json')

/**
 * Reads the synced public price lists; undefined before the first sync, null when the file is not
 * JSON.
 */
export async function readPriceList(dataDir: string): Promise<unknown> {
  const file = Bun.file(pathOf(dataDir))
  if (!(await file.exists())) return undefined
  const text = await file.text()
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Stores the synced price lists atomically. */
export const writePriceList = (dataDir: string, list: unknown): Promise<unknown> =>
  writeDurably(pathOf(dataDir), Buffer.from(`${JSON.stringify(list, null, 1)}\n`))

const valueName = 'prices'

/** Gives the synced price lists to the servers of a PostgreSQL database. */
export const sharePriceList = (db: Engine, list: unknown): Promise<unknown> =>
  setSharedValue(db, valueName, JSON.stringify(list))

/** Stores the price lists that another server shared here. Returns whether they are new. */
export async function followPriceList(db: Engine, dataDir: string): Promise<boolean> {
  if (db.kind === 'sqlite') return false
  const shared = await readSharedValue(db.read, valueName)
  if (shared === undefined || JSON.stringify(await readPriceList(dataDir)) === shared) return false
  await writePriceList(dataDir, JSON.parse(shared))
  return true
}
