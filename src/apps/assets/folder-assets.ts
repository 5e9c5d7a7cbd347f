import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { App, Version } from '../apps.ts'
import { isScript } from '../folders/page-names.ts'
import type { InputFile } from '../folders/unzip.ts'
import { isCode, type PageCode } from '../page-content.ts'
import type { UploadedFolder } from '../publish-request.ts'
import { checkLimits, folderLimits, listAssets, readFiles, storeRows } from './assets.ts'
import { type AssetRow, type CheckedFile, fileRow, readFolderFile } from './upload.ts'

/** The folder of a request as an idempotency key compares it. */
export const fingerprintOf = (folder: UploadedFolder | undefined) =>
  folder ? { files: folder.files.map(({ path, bytes }) => [path, sha256(bytes)]) } : {}

/**
 * Checks all files of a folder before one is stored. Throws `assets_off`, `too_many_assets`,
 * `assets_full`, and `asset_too_large` with the name of the file.
 */
export async function checkFiles(ctx: AppContext, files: InputFile[] = []): Promise<CheckedFile[]> {
  if (files.length === 0) return []
  const { assetsOn, folderFileBytes } = ctx.config
  if (!assetsOn) throw new ApiError('assets_off')
  checkLimits(
    files.map(({ bytes }) => bytes.length),
    folderLimits(ctx),
  )
  const checked: CheckedFile[] = []
  for (const file of files) {
    checked.push({ ...file, kind: await readFolderFile(file, folderFileBytes) })
  }
  return checked
}

/** Returns the bytes of files; equal content counts once. */
export const bytesOf = (files: InputFile[]): number =>
  [...new Map(files.map(({ bytes }) => [sha256(bytes), bytes.length])).values()].reduce(
    (sum, bytes) => sum + bytes,
    0,
  )

/** A disk syncs files together faster than one after another. */
const storedAtOnce = 8

/** Stores the bytes of files, which go live with `addFiles`. */
export async function storeFiles(ctx: AppContext, files: CheckedFile[]): Promise<AssetRow[]> {
  const rows: AssetRow[] = []
  for (let from = 0; from < files.length; from += storedAtOnce) {
    const some = files.slice(from, from + storedAtOnce)
    rows.push(...(await Promise.all(some.map((file) => fileRow(ctx, file)))))
  }
  return rows
}

/** Adds stored files to the newest version. Throws what `storeRows` throws. */
export async function addFiles(
  ctx: AppContext,
  db: Db,
  app: App,
  files: AssetRow[],
): Promise<void> {
  if (files.length > 0) await storeRows(ctx, db, app, files)
}

/** Reads what the safety check knows beside the page of a stored version, to scan it again. */
export async function readCode(
  ctx: AppContext,
  { app, version, page, uses }: Version,
): Promise<PageCode & Required<Pick<PageCode, 'files'>>> {
  const rows = await listAssets(ctx, app, version)
  const others = rows.filter(({ name }) => !isCode(name))
  const code = await readFiles(
    ctx,
    rows.filter(({ name }) => isCode(name)),
  )
  const files = [
    ...others.map(({ name }) => ({ path: name })),
    ...code.map(({ name, content }) => ({ path: name, bytes: content })),
  ]
  return { files, page, declared: uses?.declared }
}

const namedMax = 10

/** Says what became of the files of a folder, to follow another sentence. */
export function folderNote(folder: UploadedFolder | undefined): string {
  if (!folder) return ''
  const { files, mount, rooted, located, outside } = folder
  const messages = [
    ['Its files:', files.map(({ path }) => path)],
    ['The build is for a path of a host, so it is in a folder of its name:', mount ? [mount] : []],
    ['These names began with a slash and are relative now:', rooted],
    ['The code of these reads the location of the folder now:', located],
    ['These are outside the folder of the page and left out:', outside],
    [
      'These start threads with SharedArrayBuffer, which no page here has. If the app does not start, export it without threads:',
      files.filter(startsThreads).map(({ path }) => path),
    ],
  ] as const
  return messages
    .flatMap(([text, names]) => (names.length === 0 ? [] : [` ${text} ${listOf(names)}.`]))
    .join('')
}

/** Memory that Emscripten and Godot make for threads. */
const sharedMemory = /new WebAssembly\.Memory\(\{[^{}]*\bshared["']?\s*:\s*(?:true|!0)/

const startsThreads = ({ path, bytes }: InputFile): boolean =>
  isScript(path) &&
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('WebAssembly.Memory') &&
  sharedMemory.test(new TextDecoder().decode(bytes))

const listOf = (names: readonly string[]): string => {
  const more = names.length - namedMax
  return names.slice(0, namedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
