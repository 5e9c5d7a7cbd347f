import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import { asAgent, mayOpenAs } from '../audience/access.ts'
import { recordUse } from '../explore/uses.ts'
import { readTar } from '../folders/archive.ts'
import type { Folder } from '../folders/folder.ts'
import type { InputFile } from '../folders/unzip.ts'
import { isPackKind, type PackKind } from '../kinds.ts'
import { notOnExplore, requireListed } from '../listings.ts'
import { readPage } from '../page-content.ts'
import { presentPackAs } from '../present.ts'

/** A version of a pack that a reader may see. */
export interface ReadablePack {
  item: apps.App
  row: apps.Version
  folder: Folder
}

export interface PackId {
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
  return { item, row, folder: row.folder }
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
