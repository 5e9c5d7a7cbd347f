import type { FileState } from '../storage.ts'
import { type S3Client, S3Error } from './client.ts'
import { changedMsOf, copyObject, keyOf, trashKeyOf } from './objects.ts'

/**
 * Brings content back that the bucket lacks: from the trash, or from its last version where the
 * bucket has versions.
 */
export async function recoverObject(client: S3Client, name: string): Promise<FileState> {
  if ((await changedMsOf(client, keyOf(name))) !== undefined) return 'present'
  if (await copyObject(client, trashKeyOf(name), keyOf(name))) return 'recovered'
  const version = await findVersion(client, keyOf(name))
  if (version === undefined) return 'missing'
  return (await copyObject(client, keyOf(name), keyOf(name), version)) ? 'recovered' : 'missing'
}

/** Returns the newest version of a deleted object; undefined in a bucket without versions. */
async function findVersion(client: S3Client, key: string): Promise<string | undefined> {
  const query = { versions: '', prefix: client.prefix + key }
  try {
    const xml = await client.attempt({ method: 'GET', key: '', query }, (response) =>
      response.text(),
    )
    const [block = ''] = /<Version>.*?<\/Version>/s.exec(xml) ?? []
    return /<VersionId>([^<]+)</.exec(block)?.[1]
  } catch (error) {
    const isUnsupported = error instanceof S3Error && (error.status === 501 || error.status === 400)
    if (isUnsupported) return undefined
    throw error
  }
}
