import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, asc, count, eq, sum } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
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
import { fileRow, readAsset } from './uploaded-file.ts'

export type Asset = typeof assets.$inferSelect

const at = (app: string, version: number) => and(eq(assets.app, app), eq(assets.version, version))

/** Returns the files of a version by name, at most `assetsPerAppMax`. */
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
  if (problem !== undefined) rejectRequest(`The name of the file is invalid: ${problem}.`)
}

/** Reads the stored bytes of a file; undefined where they are missing. */
export async function readContent({ storage }: AppContext, { sha256, br, zstd }: StoredFile) {
  const read = (name: string | null | undefined) => (name ? storage.read(name) : undefined)
  const [identity, ...variants] = await Promise.all([read(sha256), read(br), read(zstd)])
  const [brotli, zstandard] = variants
  return (
    identity && { identity, ...(brotli && { br: brotli }), ...(zstandard && { zstd: zstandard }) }
  )
}

type StoredFile = Pick<Asset, 'sha256'> & Partial<Pick<Asset, 'br' | 'zstd'>>

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
  const file = await readAsset(bytes)
  return withReservation(reserveAsset(ctx, app, name, bytes), async () => {
    const row = await fileRow(ctx, name, bytes, file)
    return ctx.db.tx((db) => storeRow(ctx, db, app, { ...row, app: id }))
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

/**
 * Returns the bytes that files of the next version add to those of an app. Files that it has
 * already add none. Throws `too_many_assets` and `assets_full`; `storeRow` repeats the checks.
 */
export async function measureFiles(
  ctx: AppContext,
  { id, version }: apps.App,
  files: readonly { path: string; bytes: Uint8Array }[],
): Promise<number> {
  if (files.length === 0) return 0
  const sizes = new Map(
    (await listAssets(ctx, id, version)).map((row) => [row.name, row.bytes] as const),
  )
  for (const { path, bytes } of files) sizes.set(path, bytes.length)
  if (sizes.size > assetsPerAppMax) throw new ApiError('too_many_assets', { max: assetsPerAppMax })
  const used = sizes.values().reduce((sum, bytes) => sum + bytes, 0)
  if (used > assetBytesPerAppMax)
    throw new ApiError('assets_full', { used, max: assetBytesPerAppMax })
  const contents = new Map(files.map(({ bytes }) => [sha256(bytes), bytes.length]))
  let added = 0
  for (const [hash, bytes] of contents) {
    if ((await countUses(ctx.db.read, { app: id, sha256: hash })) === 0) added += bytes
  }
  return added
}

/** Adds or replaces an asset of the newest version and enforces all limits. */
export async function storeRow(
  ctx: AppContext,
  db: Db,
  before: apps.App,
  row: Omit<Asset, 'version'>,
) {
  const app = await open(ctx, db, before)
  const old = await findAsset(db, app.id, app.version, row.name)
  await checkLimits(db, app, old, row.bytes)
  await reserveBytes(ctx, db, app.maker, await growth(db, old, row))
  if (old) await drop(db, old)
  const asset: Asset = { ...row, version: app.version }
  await db.insert(assets).values(asset)
  return { asset, isNew: old === undefined }
}

/**
 * Locks an app so that concurrent changes of its assets count each other. Its cover is captured
 * again.
 */
async function open(ctx: AppContext, db: Db, before: apps.App): Promise<apps.App> {
  const app = await apps.lockApp(ctx, db, before)
  return apps.updateApp(ctx, db, app, captureAgain(app))
}

/** Throws `too_many_assets` or `assets_full` when a file does not fit beside the others. */
async function checkLimits(db: Db, app: apps.App, old: Asset | undefined, bytes: number) {
  const [used] = await db
    .select({ files: count(), bytes: sum(assets.bytes).mapWith(Number) })
    .from(assets)
    .where(at(app.id, app.version))
  const { files = 0, bytes: usedBytes = 0 } = used ?? {}
  if (!old && files >= assetsPerAppMax) {
    throw new ApiError('too_many_assets', { max: assetsPerAppMax })
  }
  if (usedBytes - (old?.bytes ?? 0) + bytes > assetBytesPerAppMax) {
    throw new ApiError('assets_full', { used: usedBytes, max: assetBytesPerAppMax })
  }
}

/** Returns the number of rows of an app that use a content. Content counts once per app. */
const countUses = (db: Db, { app, sha256 }: Pick<Asset, 'app' | 'sha256'>): Promise<number> =>
  countRows(db, assets, and(eq(assets.sha256, sha256), eq(assets.app, app)))

type Content = Pick<Asset, 'app' | 'sha256' | 'bytes'>

/** Returns the change of the stored bytes when `row` replaces `old`. */
async function growth(db: Db, old: Content | undefined, row: Content | undefined): Promise<number> {
  if (old?.sha256 === row?.sha256) return 0
  const more = row && (await countUses(db, row)) === 0 ? row.bytes : 0
  const less = old && (await countUses(db, old)) === 1 ? old.bytes : 0
  return more - less
}

/** Checks the limits before bytes are stored; `storeRow` repeats the checks. */
async function checkQuota(
  ctx: AppContext,
  app: apps.App,
  name: string,
  file: Uint8Array,
  runningBytes: number,
) {
  const db = ctx.db.read
  const old = await findAsset(db, app.id, app.version, name)
  await checkLimits(db, app, old, file.length)
  const row = { app: app.id, sha256: sha256(file), bytes: file.length }
  const more = await growth(db, old, row)
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
    await reserveBytes(ctx, db, app.maker, await growth(db, row, undefined))
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
  if (copies.length > 0) await db.insert(assets).values(copies)
  return copies
}
