import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, asc, count, eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { assetBytesPerAppMax, assetsPerAppMax } from '../../kernel/limits.ts'
import { withReservation } from '../../kernel/state/reservations.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { checkBytes, releaseBytes, reserveBytes } from '../../people/agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { captureAgain } from '../covers/version-covers.ts'
import { unsafePathProblem } from '../folders/paths.ts'
import { assetName } from '../scan/asset-requests.ts'
import { AssetRequestSchema } from './schemas.ts'
import { assets } from './tables.ts'
import { type AssetRow, fileRow, readAsset } from './upload.ts'

export type Asset = typeof assets.$inferSelect

const at = (app: string, version: number) => and(eq(assets.app, app), eq(assets.version, version))

/** Returns the files of a version by name. */
export const listAssets = (ctx: AppContext, app: string, version: number): Promise<Asset[]> =>
  ctx.db.read.select().from(assets).where(at(app, version)).orderBy(asc(assets.name))

export async function findAsset(db: Db, app: string, version: number, name: string) {
  const [row] = await db
    .select()
    .from(assets)
    .where(and(at(app, version), eq(assets.name, name)))
  return row
}

/** Throws `bad_request` for a name that no file of a folder can have. */
function checkFileName(name: string): void {
  const problem = unsafePathProblem(name)
  if (problem !== undefined)
    rejectRequest(`The name of the file is invalid: ${problem}. Rename the file.`)
}

/** Larger files stay on disk until a response sends them. */
const readBytesMax = 4 * 1_048_576

/** Returns the stored bytes of a file, a Blob of a large one; undefined where they are missing. */
export async function readContent(
  { storage }: AppContext,
  { sha256, br, zstd, bytes }: StoredFile,
) {
  const read = (
    name: string | null | undefined,
  ): Promise<Uint8Array | Blob | undefined> | undefined =>
    name ? (bytes > readBytesMax ? storage.open(name) : storage.read(name)) : undefined
  const [identity, ...variants] = await Promise.all([read(sha256), read(br), read(zstd)])
  const [brotli, zstandard] = variants
  return (
    identity && { identity, ...(brotli && { br: brotli }), ...(zstandard && { zstd: zstandard }) }
  )
}

type StoredFile = Pick<Asset, 'sha256' | 'bytes'> & Partial<Pick<Asset, 'br' | 'zstd'>>

/** Throws `bad_request` for a name that is invalid or could be read as a path. */
export function checkAssetName(name: string): void {
  if (assetName.test(name)) return
  rejectRequest(
    'An asset name has 1 to 64 of a-z, 0-9, dot, - and _, and starts with a letter or digit.',
  )
}

/** Returns an agent's app. Throws `assets_off`, `not_found` and `taken_down`. */
export async function getAppWithAssets(
  ctx: AppContext,
  maker: Agent,
  id: string,
): Promise<apps.App> {
  if (!ctx.config.assetsOn) throw new ApiError('assets_off')
  return apps.getOwnApp(ctx, maker, id)
}

/** Reads what the list of an app's files has (document 1, operation 15). */
export async function readList(ctx: AppContext, app: apps.App) {
  const rows = await listAssets(ctx, app.id, app.version)
  const waiting = await listMissing(ctx, app, rows)
  return { rows, waiting, limits: await limitsOf(ctx, ctx.db.read, app) }
}

/** Returns the assets that the newest page requests and the app does not have. */
export async function listMissing(ctx: AppContext, app: apps.App, rows: Asset[]) {
  if (app.version === 0) return []
  const { asks } = await apps.getVersion(ctx, app.id, app.version)
  const requested: unknown = JSON.parse(asks)
  if (!Value.Check(Type.Array(AssetRequestSchema), requested))
    throw new Error(`the asset requests of ${app.id} are invalid`)
  const existing = new Set(rows.map((row) => row.name))
  return requested.filter(({ name }) => !existing.has(name))
}

/**
 * Adds or replaces an uploaded file. Throws `bad_request`, `asset_too_large`, `bad_asset`, `busy`
 * before the first version, `too_many_assets`, `assets_full`, `storage_full` and `try_again`.
 */
export async function putAsset(
  ctx: AppContext,
  maker: Agent,
  id: string,
  name: string,
  bytes: Uint8Array,
): Promise<{ asset: Asset; isNew: boolean }> {
  const app = await getAppWithAssets(ctx, maker, id)
  checkAssetName(name)
  apps.checkBuilt(app)
  const kind = await readAsset(bytes)
  return withReservation(reserveAsset(ctx, app, name, bytes), async () => {
    const row = await fileRow(ctx, { path: name, bytes, kind })
    return ctx.db.tx((db) => storeRow(ctx, db, app, row))
  })
}

/**
 * Counts a file of the newest version before its bytes are stored. Returns what ends the
 * reservation. Throws `too_many_assets`, `assets_full` and `storage_full`.
 */
export const reserveAsset = (
  ctx: AppContext,
  app: apps.App,
  name: string,
  bytes: Uint8Array,
): Promise<() => void> =>
  ctx.state.reservations.begin(app.maker, { rows: 0, bytes: bytes.length }, (others) =>
    checkQuota(ctx, app, name, bytes, others.bytes),
  )

/** A file beside the others of a version, before its row is written. */
type Content = Pick<Asset, 'name' | 'sha256' | 'bytes'>

/** Throws `too_many_assets` or `assets_full` where a version would have these files. */
export function checkLimits(
  files: Iterable<number>,
  { files: filesMax, bytes: bytesMax }: FileLimits,
): void {
  const sizes = [...files]
  const used = sizes.reduce((sum, bytes) => sum + bytes, 0)
  if (sizes.length > filesMax)
    throw new ApiError('too_many_assets', { files: sizes.length, max: filesMax })
  if (used > bytesMax) throw new ApiError('assets_full', { used, max: bytesMax })
}

/** Limits of the files of a version. */
export interface FileLimits {
  files: number
  bytes: number
}

/** The limits of a version that came as a folder. */
export const folderLimits = ({ config }: Pick<AppContext, 'config'>): FileLimits => ({
  files: config.folderFiles,
  bytes: config.folderBytes,
})

/** Returns the limits of the newest version: of a folder, or else of document 1, section 8. */
export const limitsOf = async (ctx: AppContext, db: Db, app: apps.App): Promise<FileLimits> =>
  (await apps.isFolder(db, app))
    ? folderLimits(ctx)
    : { files: assetsPerAppMax, bytes: assetBytesPerAppMax }

/**
 * Returns the bytes that a folder, as the next version, adds to those of an app. It keeps the other
 * files of the newest version. Throws `too_many_assets` and `assets_full`; `storeRows` repeats the
 * checks.
 */
export async function measureFiles(
  ctx: AppContext,
  { id, version }: apps.App,
  files: readonly { path: string; bytes: Uint8Array }[],
): Promise<number> {
  if (files.length === 0) return 0
  const added = files.map(({ path, bytes }) => {
    return { name: path, sha256: sha256(bytes), bytes: bytes.length }
  })
  const all = [...(await listAssets(ctx, id, version)), ...added]
  checkLimits(new Map(all.map(({ name, bytes }) => [name, bytes])).values(), folderLimits(ctx))
  return growth(ctx.db.read, id, [], added)
}

/** Adds or replaces an asset of the newest version and enforces all limits. */
export async function storeRow(ctx: AppContext, db: Db, app: apps.App, row: AssetRow) {
  const { version, replaced } = await storeRows(ctx, db, app, [row])
  return { asset: { ...row, app: app.id, version }, isNew: replaced === 0 }
}

/**
 * Adds or replaces files of the newest version, at least one, and enforces all limits. Returns the
 * version, and how many files are replaced. Throws `too_many_assets`, `assets_full` and
 * `storage_full`.
 */
export async function storeRows(
  ctx: AppContext,
  db: Db,
  before: apps.App,
  rows: readonly AssetRow[],
): Promise<{ version: number; replaced: number }> {
  const app = await open(ctx, db, before)
  const added = new Map(rows.map((row) => [row.name, row]))
  const old = await db.select().from(assets).where(at(app.id, app.version))
  const all = new Map([...old, ...rows].map(({ name, bytes }) => [name, bytes]))
  checkLimits(all.values(), await limitsOf(ctx, db, app))
  const replaced = old.filter(({ name }) => added.has(name))
  await reserveBytes(ctx, db, app.maker, await growth(db, app.id, replaced, rows))
  for (const some of inBatches(replaced.map(({ name }) => name))) {
    await db.delete(assets).where(and(at(app.id, app.version), inArray(assets.name, some)))
  }
  const { id, version } = app
  await insertRows(
    db,
    rows.map((row) => ({ ...row, app: id, version })),
  )
  return { version, replaced: replaced.length }
}

/** An engine has at most 32,766 parameters in a statement, and a row has 17. */
const rowsPerStatement = 500

function* inBatches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += rowsPerStatement) {
    yield items.slice(from, from + rowsPerStatement)
  }
}

/** Inserts files of versions without the checks of `storeRows`. */
export async function insertRows(db: Db, rows: Asset[]): Promise<void> {
  for (const some of inBatches(rows)) await db.insert(assets).values(some)
}

/**
 * Locks an app so that concurrent changes of its assets count each other. Its cover is captured
 * again.
 */
async function open(ctx: AppContext, db: Db, before: apps.App): Promise<apps.App> {
  const app = await apps.lockApp(ctx, db, before)
  return apps.updateApp(ctx, db, app, captureAgain(app))
}

/**
 * Returns the change of the stored bytes of an app when rows are dropped and others added. Equal
 * content counts once per app.
 */
async function growth(
  db: Db,
  app: string,
  dropped: readonly Content[],
  added: readonly Content[],
): Promise<number> {
  const changes = new Map<string, { bytes: number; uses: number }>()
  const note = ({ sha256: hash, bytes }: Content, uses: 1 | -1): void => {
    const known = changes.get(hash)?.uses ?? 0
    changes.set(hash, { bytes, uses: known + uses })
  }
  for (const row of dropped) note(row, -1)
  for (const row of added) note(row, 1)
  let sum = 0
  for (const hashes of inBatches([...changes.keys()])) {
    const found = await db
      .select({ hash: assets.sha256, uses: count() })
      .from(assets)
      .where(and(eq(assets.app, app), inArray(assets.sha256, hashes)))
      .groupBy(assets.sha256)
    const known = new Map(found.map(({ hash, uses }) => [hash, uses]))
    for (const hash of hashes) {
      const { bytes = 0, uses = 0 } = changes.get(hash) ?? {}
      const [had, has] = [known.get(hash) ?? 0, (known.get(hash) ?? 0) + uses]
      sum += bytes * (Number(has > 0) - Number(had > 0))
    }
  }
  return sum
}

/** Checks the limits before bytes are stored; `storeRows` repeats the checks. */
async function checkQuota(
  ctx: AppContext,
  app: apps.App,
  name: string,
  file: Uint8Array,
  runningBytes: number,
) {
  const db = ctx.db.read
  const row = { name, sha256: sha256(file), bytes: file.length }
  const rows = await listAssets(ctx, app.id, app.version)
  const others = rows.filter((one) => one.name !== name)
  checkLimits(
    [...others, row].map(({ bytes }) => bytes),
    await limitsOf(ctx, db, app),
  )
  const old = rows.filter((one) => one.name === name)
  const more = await growth(db, app.id, old, [row])
  if (more > 0) await checkBytes(ctx, app.maker, runningBytes + more)
}

const drop = (db: Db, { app, version, name }: Asset) =>
  db.delete(assets).where(and(at(app, version), eq(assets.name, name)))

/** Opens an asset of the app's newest version. Throws `bad_request` and `not_found`. */
export async function openAsset(ctx: AppContext, maker: Agent, id: string, name: string) {
  const app = await getAppWithAssets(ctx, maker, id)
  checkFileName(name)
  return withBytes(ctx, await theRow(ctx.db.read, id, app.version, name))
}

/** Opens an asset for its signed preview URL. Throws `assets_off`, `not_found` and `taken_down`. */
export async function openPreview(ctx: AppContext, id: string, version: number, name: string) {
  if (!ctx.config.assetsOn) throw new ApiError('assets_off')
  apps.requireAvailable(await apps.findApp(ctx, id))
  return withBytes(ctx, await theRow(ctx.db.read, id, version, name))
}

async function theRow(db: Db, app: string, version: number, name: string): Promise<Asset> {
  const row = await findAsset(db, app, version, name)
  if (row) return row
  throw new ApiError('not_found', { what: 'asset', see: `GET /apps/${app}/assets lists them.` })
}

async function withBytes(ctx: AppContext, asset: Asset) {
  const content = await ctx.storage.open(asset.sha256)
  if (!content) throw new Error(`the stored asset ${asset.sha256} is missing`)
  return { asset, content }
}

/** Throws what `openAsset` throws. Older versions keep the asset. */
export async function deleteAsset(ctx: AppContext, maker: Agent, id: string, name: string) {
  const before = await getAppWithAssets(ctx, maker, id)
  checkFileName(name)
  await ctx.db.tx(async (db) => {
    const app = await open(ctx, db, before)
    const row = await theRow(db, id, app.version, name)
    await reserveBytes(ctx, db, app.maker, await growth(db, id, [row], []))
    await drop(db, row)
  })
}

export async function deleteAllAssets(db: Db, app: Pick<apps.App, 'id' | 'maker'>): Promise<void> {
  const contents = await db
    .selectDistinct({ sha256: assets.sha256, bytes: assets.bytes })
    .from(assets)
    .where(eq(assets.app, app.id))
  await db.delete(assets).where(eq(assets.app, app.id))
  const bytes = contents.reduce((sum, content) => sum + content.bytes, 0)
  await releaseBytes(db, app.maker, bytes)
}

type VersionOf = Pick<Asset, 'app' | 'version'>

/** Copies the asset rows of a version to another. Copies share the stored bytes. */
export async function copyAssets(db: Db, from: VersionOf, to: VersionOf): Promise<Asset[]> {
  const rows = await db.select().from(assets).where(at(from.app, from.version))
  const copies = rows.map((row) => ({ ...row, ...to }))
  await insertRows(db, copies)
  return copies
}

export const contents = [assets.sha256, assets.br, assets.zstd].map(contentReferences)

type FileRow = Pick<typeof assets.$inferSelect, 'name' | 'type' | 'sha256'>

/** Reads the bytes of assets. Skips those whose file is missing. */
export async function readFiles({ storage }: AppContext, rows: FileRow[]) {
  const files = await Promise.all(
    rows.map(async ({ name, type, sha256 }) => {
      const content = await storage.read(sha256)
      return content ? [{ name, type, sha256, content }] : []
    }),
  )
  return files.flat()
}
