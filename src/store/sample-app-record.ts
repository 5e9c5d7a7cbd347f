import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from './durable.ts'

const pathOf = (dataDir: string): string => join(dataDir, 'first-app')

/**
 * Returns the id of the sample app that the first start published; empty while publishing, or when
 * the process died during it; undefined when it has not started.
 */
export async function readFirstApp(dataDir: string): Promise<string | undefined> {
  const file = Bun.file(pathOf(dataDir))
  return (await file.exists()) ? (await file.text()).trim() : undefined
}

/** Records the sample app's id, or '' when publishing starts. The next start prints its link. */
export const writeFirstApp = (dataDir: string, id: string): Promise<unknown> =>
  writeDurably(pathOf(dataDir), Buffer.from(id))

/** Removes the record of a sample app that could not be published. */
export const forgetFirstApp = (dataDir: string): Promise<void> => rm(pathOf(dataDir))
