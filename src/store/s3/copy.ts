import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Config } from '../../kernel/config/settings.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import { contentPath, listContents } from '../disk.ts'
import { isMissing } from '../durable.ts'
import { contentName } from '../storage.ts'
import { S3Client, startProblem } from './client.ts'
import { keyOf, listObjects, probe, putObject } from './objects.ts'
import { bucketOf } from './store.ts'

/** Files that were copied, that were there, and the names of damaged ones, which were not. */
export interface CopyToBucketResult {
  copied: number
  skipped: number
  damaged: string[]
}

const atOnce = 8

/**
 * Copies the files of the data folder into the bucket of the settings. Each is hashed when it is
 * read, and the store checks the same hash. Files that the bucket has in the same size are skipped.
 */
export async function copyToBucket(
  config: Config,
  parts: { clock: Clock },
): Promise<CopyToBucketResult> {
  const client = new S3Client(bucketOf(config), parts)
  await probe(client).catch((error: unknown) => {
    throw startProblem(error, bucketOf(config))
  })
  const there = new Map<string, number>()
  for await (const page of listObjects(client, keyOf(''))) {
    for (const { name, bytes } of page) if (contentName.test(name)) there.set(name, bytes)
  }
  const result: CopyToBucketResult = { copied: 0, skipped: 0, damaged: [] }
  const dir = join(config.dataDir, 'files')
  for await (const names of listContents(dir)) {
    for (let at = 0; at < names.length; at += atOnce) {
      await Promise.all(names.slice(at, at + atOnce).map((name) => copyOne(name)))
    }
  }
  return result

  async function copyOne(name: string): Promise<void> {
    const path = contentPath(dir, name)
    if (there.get(name) === Bun.file(path).size) return void (result.skipped += 1)
    const bytes = await readFile(path).catch((error: unknown) => {
      // A running server removed it.
      if (isMissing(error)) return undefined
      throw error
    })
    if (!bytes) return
    if (sha256(bytes) !== name) return void result.damaged.push(name)
    await putObject(client, keyOf(name), bytes, name)
    result.copied += 1
  }
}
