import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

import type { Config } from '../kernel/config/settings.ts'
import { ApiError } from '../kernel/errors.ts'
import { countBytes, currentProgress } from '../kernel/progress.ts'
import { type Clock, day } from '../kernel/time.ts'
import { backupArchive, bytesIn, copyDurably } from './backups.ts'
import { isMissing, writeDurably } from './durable.ts'
import { type Bucket, S3Client } from './s3/client.ts'
import { abortOldUploads, deleteObject, listObjects, putStream } from './s3/objects.ts'
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

/** A stored archive of a backup. */
export interface Archive {
  name: string
  bytes: number
}

/** A folder or a bucket that keeps archives of backups. */
export interface ArchivePlace {
  /** Lists the archives, newest first. */
  list(): Promise<Archive[]>
  /** Stores an archive, as a whole or not at all. Returns its bytes. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<number>
  /** Copies an archive to a new file. */
  copy(name: string, to: string): Promise<void>
  remove(name: string): Promise<void>
}

const namePattern = /^berth-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.tar\.gz\.age$/

export const archiveName = (backup: string): string => `berth-${backup}.tar.gz.age`

/** Returns the time of an archive by its name, in milliseconds since 1970. */
export const archiveTime = (name: string): number =>
  Date.parse(name.replace(namePattern, '$1T$2:$3:$4.$5Z'))

const newestFirst = (archives: Archive[]): Archive[] =>
  archives
    .filter(({ name }) => namePattern.test(name))
    .toSorted((a, b) => archiveTime(b.name) - archiveTime(a.name))

export type PlaceSettings = Pick<
  Config,
  'backupS3Endpoint' | 'backupS3Region' | 'backupS3AccessKeyId' | 'backupS3SecretAccessKey'
>

/** Opens a folder, or s3://bucket/prefix with the keys of the settings. */
export function openPlace(place: string, settings: PlaceSettings, clock: Clock): ArchivePlace {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(place) ?? []
  if (bucket === undefined) return folderPlace(place)
  return bucketPlace(
    {
      endpoint: settings.backupS3Endpoint,
      bucket,
      region: settings.backupS3Region,
      accessKeyId: settings.backupS3AccessKeyId,
      secretAccessKey: settings.backupS3SecretAccessKey,
      prefix: prefix && `${prefix}/`,
      pathStyle: true,
    },
    clock,
  )
}

const partSuffix = '.part'

const folderPlace = (dir: string): ArchivePlace => ({
  async list() {
    const names = await readdir(dir).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    const known = names.filter((name) => namePattern.test(name))
    return newestFirst(
      await Promise.all(
        known.map(async (name) => ({ name, bytes: (await stat(join(dir, name))).size })),
      ),
    )
  },
  async write(name, content) {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    for (const other of await readdir(dir)) {
      // A process that was killed left it.
      if (namePattern.test(other.slice(0, -partSuffix.length))) await rm(join(dir, other))
    }
    const temp = join(dir, name + partSuffix)
    return writeDurably(join(dir, name), content, { temp, mode: 0o600 })
  },
  copy: (name, to) => copyDurably(join(dir, name), to),
  remove: (name) => rm(join(dir, name), { force: true }),
})

function bucketPlace(bucket: Bucket, clock: Clock): ArchivePlace {
  const client = new S3Client(bucket, { clock })
  /** Names the problem of the bucket, which the client leaves to the log. */
  const explained = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw new Error(
        `The bucket ${bucket.bucket} does not work: ${client.problem ?? 'no response'}`,
      )
    }
  }
  return {
    list: () =>
      explained(
        Array.fromAsync(listObjects(client, '')).then((pages) => newestFirst(pages.flat())),
      ),
    write: (name, content) =>
      explained(
        abortOldUploads(client, clock.now() - day).then(() => putStream(client, name, content)),
      ),
    copy: (name, to) =>
      explained(
        client
          .send(
            { method: 'GET', key: name },
            async (response) => void (await Bun.write(to, response)),
          )
          .then(() => undefined),
      ),
    remove: (name) => explained(deleteObject(client, name)),
  }
}
