import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { type Manifest, readManifest } from './backup.ts'
import { isMissing } from './durable.ts'
import { type Entry, tar } from './tar.ts'

const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** Returns a backup's folder name from its ISO time: "2026-05-04T12-00-00-000Z". */
export const backupName = (iso: string): string => iso.replaceAll(/[:.]/g, '-')

const folderOf = (dataDir: string): string => join(dataDir, 'backups')

/** Returns the path of a backup in a data folder; undefined for an invalid name. */
export const backupPath = (dataDir: string, name: string): string | undefined =>
  namePattern.test(name) ? join(folderOf(dataDir), name) : undefined

/** A backup in the data folder. Without a manifest it is incomplete. */
export interface BackupInfo {
  name: string
  manifest: Manifest | undefined
  /** Bytes of its database. Its files are hard links, which take no space. */
  databaseBytes: number
}

/** Lists the backups in a data folder, newest first. */
export async function listBackups(dataDir: string): Promise<BackupInfo[]> {
  const names = await readdir(folderOf(dataDir)).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const known = names.filter((name) => namePattern.test(name)).toSorted()
  return Promise.all(
    known.toReversed().map((name) => readBackup(join(folderOf(dataDir), name), name)),
  )
}

async function readBackup(dir: string, name: string): Promise<BackupInfo> {
  const [manifest, file] = await Promise.all([
    readManifest(dir).catch(() => undefined),
    stat(join(dir, 'berth.sqlite')).catch(() => undefined),
  ])
  return { name, manifest, databaseBytes: file?.size ?? 0 }
}

/** Removes a backup's folder. */
export const removeBackup = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true })

/** Streams a backup as one tar archive. `berth restore` reads its unpacked folder. */
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

/** Yields every file below a folder, reading one folder at a time. */
async function* filesOf(dir: string, name: string): AsyncGenerator<Entry> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const [path, inside] = [join(dir, entry.name), `${name}/${entry.name}`]
    if (entry.isDirectory()) yield* filesOf(path, inside)
    else if (entry.isFile()) yield { name: inside, path }
  }
}
