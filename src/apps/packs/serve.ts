import type { AddressClient } from '../../kernel/client.ts'
import { createEntity } from '../../kernel/http/entity.ts'
import { Revalidated } from '../../kernel/http/outcome.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { gzip, packTar, packZip } from '../folders/archive.ts'
import { imageTypeOf, skillFile } from '../folders/read-pack.ts'
import { recordOpen } from '../opens.ts'
import { readPage } from '../page-content.ts'
import { getPack, type PackId, type ReadablePack, readFile, readFiles } from './packs.ts'

/** Takedowns apply at once, so caches must revalidate. The content never acts as a page. */
const headersOf = (type: string, fileName?: string): Record<string, string> => ({
  'content-type': type,
  ...(fileName !== undefined && { 'content-disposition': `attachment; filename="${fileName}"` }),
  'cache-control': 'no-cache',
  'access-control-allow-origin': '*',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
})

const markdown = 'text/markdown; charset=utf-8'

/** Returns the media type of a file by its name. */
const fileTypeOf = (path: string): string =>
  imageTypeOf(path) ?? (path.toLowerCase().endsWith('.md') ? markdown : 'text/plain; charset=utf-8')

/** A pack that a client reads, with the agent of its key. */
export interface PackRead extends PackId {
  client: AddressClient
  reader: Agent | undefined
}

/** Counts a load of an item by anyone but its maker. */
function countLoad(ctx: AppContext, { client, reader }: PackRead, { item }: ReadablePack): void {
  if (reader?.id === item.maker) return
  recordOpen(ctx, item.id, client.group)
}

/** Returns one file of a pack. Throws what `getPack` throws. */
export async function readPackFile(ctx: AppContext, read: PackRead, path: string) {
  const found = await getPack(ctx, read.reader, read)
  const file = await readFile(ctx, found.row, path)
  if (path === skillFile) countLoad(ctx, read, found)
  const { sha256: etag } = found.folder.files.find((one) => one.path === path) ?? { sha256: '' }
  const content = { etag: etag.slice(0, 32), identity: file }
  return new Revalidated(createEntity(content, headersOf(fileTypeOf(path))))
}

/** Archives of a folder by their ending. Equal versions have equal bytes. */
const archives = {
  'tar.gz': {
    type: 'application/gzip',
    create: async (...[files, name]: Parameters<typeof packTar>) => gzip(packTar(files, name)),
  },
  zip: { type: 'application/zip', create: packZip },
}

/** The media types of the archives. */
export const archiveTypes = Object.values(archives).map(({ type }) => type)

type Ending = keyof typeof archives

/** Splits "<id>.tar.gz" and "<id>.zip": the router has no parameters with an ending. */
export function splitEnding(name: string): { id: string; ending?: Ending } {
  const [id = '', ...rest] = name.split('.')
  const ending = rest.join('.')
  return ending === 'tar.gz' || ending === 'zip' ? { id, ending } : { id: name }
}

/** Returns the folder as an archive, below its name. Throws what `getPack` throws. */
export async function readArchive(ctx: AppContext, read: PackRead, ending: Ending) {
  const found = await getPack(ctx, read.reader, read)
  const { item, row } = found
  countLoad(ctx, read, found)
  const { type, create } = archives[ending]
  const name = item.name ?? item.id
  const identity = await create(await readFiles(ctx, row), name)
  const etag = `${row.sha256.slice(0, 24)}-${ending}`
  return new Revalidated(createEntity({ etag, identity }, headersOf(type, `${name}.${ending}`)))
}

/** Returns the archive of an index for installers: SKILL.md is in its top folder. */
export async function readFlatArchive(ctx: AppContext, read: PackRead) {
  const found = await getPack(ctx, read.reader, read)
  const { gzip: identity } = await readPage(ctx, found.row)
  if (!identity) throw new Error(`the archive of ${found.item.id} is missing`)
  countLoad(ctx, read, found)
  const etag = found.folder.archive.slice(0, 32)
  return new Revalidated(createEntity({ etag, identity }, headersOf(archives['tar.gz'].type)))
}
