import type { AddressClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createEntity } from '../../kernel/http/entity.ts'
import { Revalidated } from '../../kernel/http/outcome.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import { asAgent, mayOpenAs } from '../audience/access.ts'
import { recordUse } from '../explore/uses.ts'
import { gzip, packTar, packZip, readTar } from '../folders/archive.ts'
import type { Folder } from '../folders/folder.ts'
import { imageTypeOf, skillFile } from '../folders/read-pack.ts'
import type { InputFile } from '../folders/unzip.ts'
import { isPackKind, type PackKind } from '../kinds.ts'
import { findPrivate, notOnExplore, requireListed } from '../listings.ts'
import { recordOpen } from '../opens.ts'
import { readPage } from '../page-content.ts'
import { presentPackAs } from '../present.ts'

/** A version of a pack that a reader may see. */
export interface ReadablePack {
  item: apps.App
  row: apps.Version
  folder: Folder
}

interface PackId {
  id: string
  kind: PackKind
  /** Default: the newest for the maker, the one on Explore for others. */
  version?: number | undefined
}

/**
 * Returns a pack: an own one, one on Explore up to its listed version, or one that its maker opened
 * to the reader. A reader with a key may
 * review it afterwards. Throws `not_found` and `taken_down`.
 */
export async function getPack(
  ctx: AppContext,
  reader: Agent | undefined,
  { id, kind, version }: PackId,
): Promise<ReadablePack> {
  const item = await findReadable(ctx, reader, { id, kind })
  const isOwn = item.maker === reader?.id
  const newest = isOwn ? item.version : apps.visibleVersion(item)
  const row = await apps.getVersion(ctx, id, version ?? newest)
  if (row.version > newest || !row.folder) throw new ApiError('not_found', { what: 'version' })
  if (reader && !isOwn) await recordUse(ctx, reader.id, id)
  return { item: isOwn ? item : await withoutPrivateOrigin(ctx, item), row, folder: row.folder }
}

/** Returns an item as others see it: an origin that is private now has no name. */
async function withoutPrivateOrigin(ctx: AppContext, item: apps.App): Promise<apps.App> {
  const hidden = await findPrivate(ctx, [item.remixOf])
  return hidden.size > 0 ? { ...item, remixOf: null } : item
}

async function findReadable(
  ctx: AppContext,
  reader: Agent | undefined,
  { id, kind }: PackId,
): Promise<apps.App> {
  const found = await apps.findApp(ctx, id)
  const item = found?.kind === kind ? found : undefined
  const isShared = item && (item.maker === reader?.id || (await isSharedWith(ctx, reader, item)))
  return isShared ? apps.requireAvailable(item, [kind]) : requireListed(item)
}

/** A public pack is read on Explore, and every other one by those who may open it. */
async function isSharedWith(
  ctx: AppContext,
  reader: Agent | undefined,
  item: apps.App,
): Promise<boolean> {
  if (item.audience === 'public' || item.quarantinedAt !== null) return false
  return mayOpenAs(ctx, item, reader ? await asAgent(ctx, reader) : {})
}

/** Returns a pack of any kind that is on Explore. Throws `not_found` and `taken_down`. */
export async function getListedPack(ctx: AppContext, id: string): Promise<ReadablePack> {
  const found = await apps.findApp(ctx, id)
  if (!found || !isPackKind(found.kind)) throw notOnExplore()
  return getPack(ctx, undefined, { id, kind: found.kind })
}

/** Reads one file. Throws `not_found`. */
export async function readFile(
  ctx: AppContext,
  row: apps.Version,
  path: string,
): Promise<Uint8Array> {
  const file = (await readFiles(ctx, row)).find((one) => one.path === path)
  if (file) return file.bytes
  throw new ApiError('not_found', { what: 'file', see: 'The pack lists its files.' })
}

/** Reads the files of a version, SKILL.md first. */
export async function readFiles(ctx: AppContext, row: apps.Version): Promise<InputFile[]> {
  return readTar((await readPage(ctx, row)).identity)
}

/** Presents the newest version of a pack as its maker sees it. */
export async function presentOwn(ctx: AppContext, item: apps.App) {
  const { folder } = await apps.getVersion(ctx, item.id, item.version)
  if (!folder) throw new Error(`${item.id} has no folder`)
  return presentPackAs(ctx, item, folder)
}

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
