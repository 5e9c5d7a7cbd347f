import { join } from 'node:path'

import { newId } from '../core/ids.ts'
import { writeDurably } from './durable.ts'

const pathOf = (dataDir: string): string => join(dataDir, 'first-app')

/** The id of the sample that a new house published; undefined until it has. */
export async function readFirstApp(dataDir: string): Promise<string | undefined> {
  const file = Bun.file(pathOf(dataDir))
  return (await file.exists()) ? (await file.text()).trim() : undefined
}

/** Notes that the sample was published, so that the next start shows it again. */
export const writeFirstApp = (dataDir: string, id: string): Promise<void> =>
  writeDurably(join(dataDir, `first-app.${newId()}`), pathOf(dataDir), Buffer.from(id))
