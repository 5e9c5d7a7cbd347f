import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { type Manifest, readManifest } from './backup.ts'
import { isMissing } from './durable.ts'
import { type Entry, tar } from './tar.ts'

const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** A backup's folder is named by its moment: "2026-05-04T12-00-00-000Z". */
export const backupName = (iso: string): string => iso.replaceAll(/[:.]/g, '-')

const folderOf = (dataDir: string): string => join(dataDir, 'backups')

/** Where the backup of this name lies in a data folder; undefined for what is no such name. */
export const backupPath = (dataDir: string, name: string): string | undefined =>
  namePattern.test(name) ? join(folderOf(dataDir), name) : undefined

/** A backup in the data folder. One without a manifest was not finished. */
export interface KeptBackup {
  name: string
  manifest: Manifest | undefined
  /** Bytes of its database; its files share theirs with the data folder's. */
  databaseBytes: number
}

/** The backups in a data folder, the newest first. */
export async function listBackups(dataDir: string): Promise<KeptBackup[]> {
  const names = await readdir(folderOf(dataDir)).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const known = names.filter((name) => namePattern.test(name)).toSorted()
  return Promise.all(known.toReversed().map((name) => keptOf(join(folderOf(dataDir), name), name)))
}

async function keptOf(dir: string, name: string): Promise<KeptBackup> {
  const [manifest, file] = await Promise.all([
    readManifest(dir).catch(() => undefined),
    stat(join(dir, 'berth.sqlite')).catch(() => undefined),
  ])
  return { name, manifest, databaseBytes: file?.size ?? 0 }
}

/** Removes a backup's folder. */
export const removeBackup = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true })

/** A backup as one tar archive, whose folder `berth restore` takes once it is unpacked. */
export function backupArchive(dir: string, name: string): ReadableStream<Uint8Array> {
  const pieces = tar(filesOf(dir, `berth-${name}`))
  return new ReadableStream<Uint8Array>({
    async pull(to) {
      const { done, value } = await pieces.next()
      if (done) to.close()
      else to.enqueue(value)
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}

/** Every file below a folder, one folder of it at a time. */
async function* filesOf(dir: string, name: string): AsyncGenerator<Entry> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const [path, inside] = [join(dir, entry.name), `${name}/${entry.name}`]
    if (entry.isDirectory()) yield* filesOf(path, inside)
    else if (entry.isFile()) yield { name: inside, path }
  }
}
