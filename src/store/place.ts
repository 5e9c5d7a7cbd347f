import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { Config } from '../kernel/config/settings.ts'
import type { Engine } from '../kernel/db/engine.ts'
import { listOtherProcesses, thisProcess } from '../kernel/db/replicas/presence.ts'
import { setSharedValue, shareFirst } from '../kernel/db/replicas/shared-values.ts'
import { newId } from '../kernel/ids.ts'
import { errorCodeOf } from '../kernel/text.ts'
import { second } from '../kernel/time.ts'
import { syncFile } from './durable.ts'

/** The files of a database are in another place than the settings say. */
class FilesElsewhere extends Error {
  override readonly name = 'FilesElsewhere'
}

const needsBucket =
  'Several servers on one database need a bucket: set S3_ENDPOINT, S3_BUCKET and the keys.'

/** Name of the shared value that has the place of the files. */
const valueName = 'files'
/** A server touches its file this often. The file of a copy does not change. */
const touchMs = second
/** The rows of dead servers are gone after this time. */
const waitMs = 15 * second

/**
 * Checks that all servers of a PostgreSQL database have their files in one place, which the first
 * start records in the database. Without a bucket, it is a folder; a file in it shows that this
 * server uses the folder itself and no copy. Returns the function that removes that file. Throws
 * FilesElsewhere.
 */
export async function claimPlace({
  db,
  config,
}: {
  db: Engine
  config: Config
}): Promise<() => void> {
  if (db.kind === 'sqlite') return () => undefined
  const place = await placeOf(config)
  checkPlace(await shareFirst(db, valueName, place), place, config)
  if (config.s3Bucket !== '') return () => undefined
  return showServer(db, join(config.dataDir, 'files', 'servers'))
}

/** Makes the bucket of the settings the place of the files. */
export const moveFiles = async (db: Engine, config: Config): Promise<void> =>
  setSharedValue(db, valueName, await placeOf(config))

/** Names the place of the files: a bucket, or a folder by the id in it. */
async function placeOf({ s3Bucket, s3Prefix, dataDir }: Config): Promise<string> {
  if (s3Bucket !== '') return `bucket ${s3Bucket}/${s3Prefix}`
  const path = join(dataDir, 'files', 'id')
  const temp = join(dataDir, 'files', 'tmp', newId())
  try {
    // Unlike a rename, a link never replaces the id of another server.
    await writeFile(temp, newId())
    await link(temp, path)
    await syncFile(path)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(temp, { force: true })
  }
  return `folder ${await readFile(path, 'utf8')}`
}

function checkPlace(known: string, place: string, { dataDir, s3Bucket }: Config): void {
  if (known === place) return
  const bucket = /^bucket (.*)$/.exec(known)?.[1]
  if (bucket !== undefined) {
    throw new FilesElsewhere(
      `The files of this database are in the bucket ${bucket}. Set S3_ENDPOINT, S3_BUCKET, ` +
        'S3_PREFIX and the keys to it.',
    )
  }
  if (s3Bucket !== '') {
    throw new FilesElsewhere(
      'The files of this database are in a data folder. Copy them into the bucket first: berth ' +
        'storage copy, with DATA_DIR set to that folder.',
    )
  }
  throw new FilesElsewhere(
    `The files of this database are in another data folder than ${dataDir}. ${needsBucket} For ` +
      'one server, set DATA_DIR to the folder with the files.',
  )
}

/**
 * Keeps touching a file of this server, and checks that every other server does the same there:
 * otherwise it uses a copy.
 */
async function showServer(db: Engine, dir: string): Promise<() => void> {
  const own = join(dir, thisProcess)
  mkdirSync(dir, { recursive: true })
  writeFileSync(own, '')
  const timer = setInterval(() => {
    // Without the file, the next server to start is refused, and this one works on.
    void writeFile(own, '').catch(() => undefined)
  }, touchMs)
  timer.unref()
  const stop = (): void => {
    clearInterval(timer)
    rmSync(own, { force: true })
  }
  const first = readTimes(dir)
  for (let waited = 0; await hasServerElsewhere(db, dir, first); waited += touchMs) {
    if (waited >= waitMs) {
      stop()
      throw new FilesElsewhere(
        `Another server uses this database with a copy of the files in ${dirname(dir)}. ${needsBucket}`,
      )
    }
    await Bun.sleep(touchMs)
  }
  return stop
}

/** Returns the times of the servers' files. */
const readTimes = (dir: string): Map<string, number | undefined> =>
  new Map(
    readdirSync(dir).map((id) => [id, statSync(join(dir, id), { throwIfNoEntry: false })?.mtimeMs]),
  )

/** Returns whether another server does not touch its file. Removes files of dead servers. */
async function hasServerElsewhere(
  db: Engine,
  dir: string,
  first: Map<string, number | undefined>,
): Promise<boolean> {
  const others = await listOtherProcesses(db.read)
  const now = readTimes(dir)
  for (const id of now.keys()) {
    if (id !== thisProcess && !others.includes(id)) rmSync(join(dir, id), { force: true })
  }
  return others.some((id) => now.get(id) === undefined || now.get(id) === first.get(id))
}
