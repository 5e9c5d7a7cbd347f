import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

import { countBytes, currentProgress } from '../kernel/progress.ts'
import type { Clock } from '../kernel/time.ts'
import { archiveName, openPlace, type PlaceSettings } from './archive-places.ts'
import { backupArchive, bytesIn } from './backups.ts'
import { untar } from './tar.ts'

export interface ArchiveRequest {
  /** The folder of the backup, and its name. */
  dir: string
  name: string
  /** The place of archives. */
  to: string
  passphrase: string
  /** The logarithm of scrypt's cost, where it is not the usual one. */
  workFactor?: number | undefined
  settings: PlaceSettings
}

/** 64 MB of memory, which a small server has. */
const usualWorkFactor = 16

const age = () => import('age-encryption')

/**
 * Writes a backup as an archive that `age` and `tar` open, too: tar, gzip, and age with a
 * passphrase (https://age-encryption.org/v1). Reports each percent that is packed. Returns its
 * bytes.
 */
export async function writeArchive(
  request: ArchiveRequest,
  clock: Clock,
  report: (done: number) => void,
): Promise<number> {
  const { dir, name, to, passphrase, workFactor = usualWorkFactor, settings } = request
  const encrypter = new (await age()).Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(workFactor)
  const packed = backupArchive(dir, name)
    .pipeThrough(countBytes(await bytesIn(dir), report))
    .pipeThrough(new CompressionStream('gzip'))
  const content = await encrypter.encrypt(packed)
  return openPlace(to, settings, clock).write(archiveName(name), content)
}

/** Unpacks an archive into a new folder. Throws an Error that describes the damage. */
export async function decryptBackup(file: string, dir: string, passphrase: string): Promise<void> {
  const decrypter = new (await age()).Decrypter()
  decrypter.addPassphrase(passphrase)
  const report = currentProgress()
  const source = Bun.file(file)
  const counted = countBytes(source.size, (done) => report?.('opening the archive', done))
  const stream = source.stream().pipeThrough(counted)
  const opened = await decrypter.decrypt(stream).catch((error: unknown) => {
    throw /no identity matched/.test(String(error))
      ? new Error('BACKUP_PASSPHRASE does not open this backup. Set the passphrase of its server.')
      : new Error(`${file} is no backup, or is damaged: ${String(error)}`)
  })
  try {
    await pipeline(opened, createGunzip(), (tar: AsyncIterable<Uint8Array>) => untar(tar, dir))
  } catch (error) {
    throw new Error(`${file} is damaged or incomplete: ${String(error)}`)
  }
}
