import { join } from 'node:path'

import { writeDurably } from './durable.ts'

const pathOf = (dataDir: string): string => join(dataDir, 'models.json')

/**
 * What was synced of the public lists of models; undefined before the first time, null for a file
 * that is no JSON.
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

/** Keeps what was synced, whole or not at all. */
export const writePriceList = (dataDir: string, list: unknown): Promise<void> =>
  writeDurably(pathOf(dataDir), Buffer.from(`${JSON.stringify(list, null, 1)}\n`))
