import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { assetsPerAppMax } from '../../kernel/limits.ts'
import type { AppContext } from '../../server/context.ts'
import type { FileKind } from '../../store/file-kind.ts'
import type { App } from '../apps.ts'
import type { InputFile } from '../folders/unzip.ts'
import type { PageUpload } from '../publish-request.ts'
import { storeRow } from './assets.ts'
import { type AssetRow, readAsset, uploadRow } from './uploaded-file.ts'

/** A file of a folder that can be an asset. */
export interface CheckedFile extends InputFile {
  kind: FileKind
}

/** The files of a request as an idempotency key compares them. */
export const fingerprintOf = (files: InputFile[]) =>
  files.length === 0 ? {} : { assets: files.map(({ path, bytes }) => [path, sha256(bytes)]) }

/**
 * Checks all files of a folder before one is stored. Throws `assets_off`, `too_many_assets`,
 * `asset_too_large` and `bad_asset`, with the name of the file.
 */
export async function checkFiles(
  { config }: AppContext,
  files: InputFile[],
): Promise<CheckedFile[]> {
  if (files.length === 0) return []
  if (!config.assetsOn) throw new ApiError('assets_off')
  if (files.length > assetsPerAppMax)
    throw new ApiError('too_many_assets', { max: assetsPerAppMax })
  const checked: CheckedFile[] = []
  for (const file of files) checked.push({ ...file, kind: await readAsset(file.bytes, file.path) })
  return checked
}

/** Returns the bytes of files; equal content counts once. */
export const bytesOf = (files: InputFile[]): number =>
  [...new Map(files.map(({ bytes }) => [sha256(bytes), bytes.length])).values()].reduce(
    (sum, bytes) => sum + bytes,
    0,
  )

/** Stores the bytes of files, which go live with `addFiles`. */
export async function storeFiles(ctx: AppContext, files: CheckedFile[]): Promise<AssetRow[]> {
  const rows: AssetRow[] = []
  for (const { path, bytes, kind } of files) rows.push(await uploadRow(ctx, path, bytes, kind))
  return rows
}

/** Adds stored files to the newest version. Throws what `storeRow` throws. */
export async function addFiles(
  ctx: AppContext,
  db: Db,
  app: App,
  files: AssetRow[],
): Promise<void> {
  for (const row of files) await storeRow(ctx, db, app, { ...row, app: app.id })
}

const namedMax = 10

/** Says what became of the files of a folder, to follow another sentence. */
export function folderNote({ assets = [], unused = [] }: PageUpload): string {
  const files = assets.length === 0 ? '' : ` Its assets: ${listOf(assets.map(({ path }) => path))}.`
  const others =
    unused.length === 0
      ? ''
      : ` The page names none of these, so they are not in it: ${listOf(unused)}.`
  return files + others
}

const listOf = (names: string[]): string => {
  const more = names.length - namedMax
  return names.slice(0, namedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
