import { promisify } from 'node:util'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import { detectFileKind, type FileKind } from '../../store/file-kind.ts'
import type { InputFile } from '../folders/unzip.ts'
import { mediaTypeOf } from './media-types.ts'
import type { assets } from './tables.ts'

/** Returns the kind of an uploaded file. Throws `asset_too_large` and `bad_asset`. */
export async function readAsset(bytes: Uint8Array): Promise<FileKind> {
  if (bytes.length > assetBytesMax) {
    throw new ApiError('asset_too_large', { bytes: bytes.length, max: assetBytesMax })
  }
  const kind = await detectFileKind(bytes)
  if ('reason' in kind) throw new ApiError('bad_asset', { why: `${kind.reason}.` })
  return kind
}

/**
 * Returns the kind of a file of a folder by its content; undefined where it is none of an asset's.
 * Throws `asset_too_large` above `max` bytes.
 */
export async function readFolderFile(
  { path, bytes }: InputFile,
  max: number,
): Promise<FileKind | undefined> {
  if (bytes.length > max) throw new ApiError('asset_too_large', { path, bytes: bytes.length, max })
  const kind = await detectFileKind(bytes, max)
  // A script or a text can be JSON, too.
  const isOther = 'reason' in kind || (kind.kind === 'json' && !/\.json$/i.test(path))
  return isOther ? undefined : kind
}

/** A file with what its content says of it, where that is known. */
export interface CheckedFile extends InputFile {
  kind: FileKind | undefined
}

/** An asset before it belongs to a version. */
export type AssetRow = Omit<typeof assets.$inferSelect, 'app' | 'version'>

/** Stores the bytes of a file, with its compressed variants. Its name gives its media type. */
export async function fileRow(
  ctx: AppContext,
  { path: name, bytes, kind: file }: CheckedFile,
): Promise<AssetRow> {
  const type = file?.type ?? mediaTypeOf(name)
  const stored = await ctx.storage.put(bytes)
  return {
    name,
    sha256: stored.sha256,
    kind: file?.kind ?? 'file',
    type,
    bytes: bytes.length,
    ...(await storeCompressed(ctx, type, bytes)),
    width: file?.kind === 'picture' ? file.width : null,
    height: file?.kind === 'picture' ? file.height : null,
    lastsMs: file?.kind === 'sound' ? Math.round(file.seconds * 1_000) : null,
    what: null,
    seed: null,
    maker: 'upload',
    created: ctx.clock.now(),
  }
}

/** Stores the compressed variants of a file, where they are smaller. */
async function storeCompressed(
  { storage }: AppContext,
  type: string,
  bytes: Uint8Array,
): Promise<Pick<AssetRow, 'br' | 'zstd'>> {
  const { br, zstd } = await compressFile(type, bytes)
  return {
    br: br ? (await storage.put(br)).sha256 : null,
    zstd: zstd ? (await storage.put(zstd)).sha256 : null,
  }
}

/** Types whose bytes are compressed already. */
const compressed =
  /^(?:image\/(?!svg|bmp|x-icon|ktx)|audio\/(?!wav)|video\/|font\/woff|application\/(?:zip|pdf|gzip))/
const bytesMin = 1_024
/** A variant must save a twentieth, or its decompression is not worth it. */
const ratioMax = 0.95
/** Larger files are compressed at a lower quality, which takes a tenth of the time. */
const fastBytes = 1_048_576
const zstdLevel = 12

/** Compresses a file once, on threads of the pool. Leaves out variants that are not smaller. */
async function compressFile(
  type: string,
  bytes: Uint8Array,
): Promise<{ br?: Uint8Array; zstd?: Uint8Array }> {
  if (bytes.length < bytesMin || compressed.test(type)) return {}
  const { brotliCompress, constants } = process.getBuiltinModule('node:zlib')
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: bytes.length > fastBytes ? 5 : 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const [br, zstd] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    Bun.zstdCompress(bytes, { level: zstdLevel }),
  ])
  const isWorth = (one: Uint8Array): boolean => one.length < bytes.length * ratioMax
  return { ...(isWorth(br) && { br }), ...(isWorth(zstd) && { zstd }) }
}
