import { sha256 } from '../../kernel/ids.ts'
import { readLateError, type S3Client, S3Error, s3PartBytes, wrongContent } from './client.ts'

export interface ListedObject {
  /** The key after the folder. */
  name: string
  bytes: number
  /** Time of the last put or copy, in milliseconds since 1970. */
  changedMs: number
}

/** Keys of contents, and of those that a sweep found unreferenced: see docs/decisions/0077. */
export const keyOf = (name: string): string => `files/${name}`
export const trashKeyOf = (name: string): string => `trash/${name}`

const pageMax = 500
const done = (): Promise<true> => Promise.resolve(true)

/** Puts an object whose body has a known hash: in parts where it is large. Throws `try_again`. */
export async function putObject(
  client: S3Client,
  key: string,
  body: Uint8Array,
  bodySha256: string,
): Promise<void> {
  if (body.length > s3PartBytes) return putInParts(client, key, partsOf([body]))
  await require(client.send({ method: 'PUT', key, body, bodySha256 }, done), key)
}

/** Puts an object of unknown size, which appears when all of it is stored. Returns its bytes. */
export async function putStream(
  client: S3Client,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  let bytes = 0
  const counted = async function* () {
    for await (const piece of content) {
      bytes += piece.byteLength
      yield piece
    }
  }
  await putInParts(client, key, partsOf(counted()))
  return bytes
}

/** Cuts and joins pieces into parts of one size. */
async function* partsOf(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(s3PartBytes)
  let filled = 0
  for await (const piece of content) {
    for (let at = 0; at < piece.length;) {
      const some = piece.subarray(at, at + s3PartBytes - filled)
      part.set(some, filled)
      filled += some.length
      at += some.length
      if (filled < s3PartBytes) continue
      yield part
      part = new Uint8Array(s3PartBytes)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

/** Uploads in parts, so that an error repeats one part. The store checks the hash of each. */
async function putInParts(
  client: S3Client,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const query = { uploads: '' }
  const begun = client.send({ method: 'POST', key, query }, (response) => response.text())
  const uploadId = /<UploadId>([^<]+)</.exec(await require(begun, key))?.[1]
  if (uploadId === undefined) throw new Error('The store began an upload without an UploadId.')
  try {
    const parts: string[] = []
    for await (const part of content) {
      const partNumber = String(parts.length + 1)
      const request = { method: 'PUT', key, query: { partNumber, uploadId }, body: part } as const
      const etag = await require(client.send(
        request,
        async ({ headers }) => headers.get('etag') ?? '',
      ), key)
      parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${etag}</ETag></Part>`)
    }
    const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const end = { method: 'POST', key, query: { uploadId }, body: list } as const
    await require(client.send(end, readLateError), key)
  } catch (error) {
    const abort = { method: 'DELETE', key, query: { uploadId } } as const
    // The sweep aborts what remains.
    await client.send(abort, done).catch(() => undefined)
    throw error
  }
}

/** Copies an object or a version of it within the bucket. Returns false where there is none. */
export async function copyObject(
  client: S3Client,
  from: string,
  to: string,
  version?: string,
): Promise<boolean> {
  const query = version === undefined ? '' : `?versionId=${encodeURIComponent(version)}`
  const headers = { 'x-amz-copy-source': client.source + from + query }
  return (await client.send({ method: 'PUT', key: to, headers }, readLateError)) !== undefined
}

/** Deletes an object. A missing one is deleted already. */
export async function deleteObject(client: S3Client, key: string): Promise<void> {
  await client.send({ method: 'DELETE', key }, done)
}

/** Returns the time of an object's last put; undefined where it does not exist. */
export const changedMsOf = (client: S3Client, key: string): Promise<number | undefined> =>
  client.send({ method: 'HEAD', key }, async ({ headers }) =>
    Date.parse(headers.get('last-modified') ?? ''),
  )

/** Lists the objects of a folder in pages, in the order of their names. */
export async function* listObjects(
  client: S3Client,
  folder: string,
): AsyncGenerator<ListedObject[]> {
  const prefix = client.prefix + folder
  for (let after = ''; ;) {
    const query = { 'list-type': '2', 'max-keys': String(pageMax), prefix }
    const page = {
      method: 'GET',
      key: '',
      query: { ...query, ...(after && { 'start-after': prefix + after }) },
    } as const
    const xml = await require(client.send(page, (response) => response.text()), prefix)
    const found = parseListing(xml, prefix)
    if (found.length > 0) yield found
    after = found.at(-1)?.name ?? ''
    if (after === '' || !xml.includes('<IsTruncated>true')) return
  }
}

/** Parses the page of a listing. Names of contents need no decoding; others are left out. */
function parseListing(xml: string, prefix: string): ListedObject[] {
  const blocks = xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)
  return [...blocks].flatMap(([, block = '']) => {
    const field = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(block)?.[1] ?? ''
    const key = field('Key')
    if (!key.startsWith(prefix)) return []
    return {
      name: key.slice(prefix.length),
      bytes: Number(field('Size')),
      changedMs: Date.parse(field('LastModified')),
    }
  })
}

/** Aborts uploads in parts that a dead process began before a time. */
export async function abortOldUploads(client: S3Client, beforeMs: number): Promise<void> {
  const query = { uploads: '', prefix: client.prefix }
  const xml = await client.send({ method: 'GET', key: '', query }, (response) => response.text())
  for (const [, block = ''] of (xml ?? '').matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
    const field = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(block)?.[1] ?? ''
    if (!(Date.parse(field('Initiated')) < beforeMs)) continue
    const key = field('Key').slice(client.prefix.length)
    const abort = { method: 'DELETE', key, query: { uploadId: field('UploadId') } } as const
    await client.send(abort, done)
  }
}

/** Writes an object and reads it again, to see at the start that the bucket works. */
export async function probe(client: S3Client): Promise<void> {
  const [key, text] = ['check', 'Berth writes and reads this object at each start.\n']
  await client.attempt({ method: 'PUT', key, body: text, bodySha256: sha256(text) }, done)
  const read = await client.attempt({ method: 'GET', key }, (response) => response.text())
  if (read !== text) throw wrongContent(key)
  const list = { 'list-type': '2', 'max-keys': '1', prefix: client.prefix }
  await client.attempt({ method: 'GET', key: '', query: list }, (response) => response.text())
}

/** Returns a result that a store always gives. */
async function require<Result>(result: Promise<Result | undefined>, key: string): Promise<Result> {
  const value = await result
  if (value === undefined) throw new S3Error(404, 'NotFound', `The store has no ${key}.`)
  return value
}
