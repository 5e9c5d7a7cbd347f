import { ApiError } from '../../kernel/errors.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import type { AppContext } from '../../server/context.ts'
import { detectFileKind, type FileKind } from '../../store/file-kind.ts'
import type { assets } from './tables.ts'

/**
 * Returns the kind of a file. `path` is its place in a folder. Throws `asset_too_large` and
 * `bad_asset`.
 */
export async function readAsset(bytes: Uint8Array, path?: string): Promise<FileKind> {
  const file = path === undefined ? {} : { path }
  if (bytes.length > assetBytesMax) {
    throw new ApiError('asset_too_large', { ...file, bytes: bytes.length, max: assetBytesMax })
  }
  const kind = await detectFileKind(bytes)
  if ('reason' in kind) throw new ApiError('bad_asset', { ...file, why: `${kind.reason}.` })
  return kind
}

/** An asset before it belongs to a version. */
export type AssetRow = Omit<typeof assets.$inferSelect, 'app' | 'version'>

/** Stores the bytes of an uploaded file. */
export async function uploadRow(
  ctx: AppContext,
  name: string,
  bytes: Uint8Array,
  file: FileKind,
): Promise<AssetRow> {
  const stored = await ctx.storage.put(bytes)
  return {
    name,
    sha256: stored.sha256,
    kind: file.kind,
    type: file.type,
    bytes: bytes.length,
    width: file.kind === 'picture' ? file.width : null,
    height: file.kind === 'picture' ? file.height : null,
    lastsMs: file.kind === 'sound' ? Math.round(file.seconds * 1_000) : null,
    what: null,
    seed: null,
    maker: 'upload',
    created: ctx.clock.now(),
  }
}
