import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from './durable.ts'

const pathOf = (dataDir: string): string => join(dataDir, 'first-app')

/**
 * The id of the sample that a new house published: empty while it does, or where its process died
 * over that; undefined when none was begun.
 */
export async function readFirstApp(dataDir: string): Promise<string | undefined> {
  const file = Bun.file(pathOf(dataDir))
  return (await file.exists()) ? (await file.text()).trim() : undefined
}

/** Notes that the sample was begun, or as what it was published: the next start shows it again. */
export const writeFirstApp = (dataDir: string, id: string): Promise<void> =>
  writeDurably(pathOf(dataDir), Buffer.from(id))

/** Forgets a sample that the house's own APIs refused. */
export const forgetFirstApp = (dataDir: string): Promise<void> => rm(pathOf(dataDir))
