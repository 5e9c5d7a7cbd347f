import type { AppContext } from '../../kernel/context.ts'
import { listPageMax } from '../../kernel/limits.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { readTar } from '../folders/archive.ts'
import { type StreamedFile, streamZip } from '../folders/zip-stream.ts'
import * as pages from '../page-content.ts'
import { presentVersion } from './versions.ts'

interface File {
  path: string
  bytes: Uint8Array
}

/** Streams a zip of all versions and assets. */
export const zipOf = (ctx: AppContext, app: apps.App): AsyncGenerator<Uint8Array> =>
  streamZip(streamed(filesOf(ctx, app)))

async function* streamed(files: AsyncIterable<File>): AsyncGenerator<StreamedFile> {
  for await (const { path, bytes } of files) yield { path, content: [bytes] }
}

/** Yields the files of all versions of an app, newest first. */
export async function* filesOf(ctx: AppContext, app: apps.App): AsyncGenerator<File> {
  let before: number | undefined
  for (;;) {
    const rows = await apps.listVersions(ctx, app, listPageMax, before)
    for (const row of rows) yield* filesOfVersion(ctx, app, row)
    before = rows.at(-1)?.version
    if (rows.length < listPageMax) return
  }
}

async function* filesOfVersion(
  ctx: AppContext,
  app: apps.App,
  row: apps.Version,
): AsyncGenerator<File> {
  const folder = `versions/${row.version}`
  const facts = JSON.stringify(presentVersion(row), null, 2)
  yield { path: `${folder}/version.json`, bytes: new TextEncoder().encode(facts) }
  const { identity } = await pages.readPage(ctx, row)
  if (row.folder) {
    for (const file of readTar(identity)) yield { ...file, path: `${folder}/${file.path}` }
    return
  }
  yield { path: `${folder}/index.html`, bytes: identity }
  const cover = row.cover !== null && (await ctx.storage.read(row.cover))
  if (cover) yield { path: `${folder}/cover.webp`, bytes: cover }
  for (const asset of await assets.listAssets(ctx, app.id, row.version)) {
    const bytes = await ctx.storage.read(asset.sha256)
    if (!bytes) throw new Error(`the stored asset ${asset.sha256} is missing`)
    yield { path: `${folder}/assets/${asset.name}`, bytes }
  }
}
