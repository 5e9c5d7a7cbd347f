import { join } from 'node:path'

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
export const writePriceList = (dataDir: string, list: unknown): Promise<void> =>
  writeDurably(pathOf(dataDir), Buffer.from(`${JSON.stringify(list, null, 1)}\n`))
