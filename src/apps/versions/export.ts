import type { AppContext } from '../../kernel/context.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { readTar } from '../folders/archive.ts'
import { type StreamedFile, streamZip } from '../folders/zip-stream.ts'
import * as pages from '../page-content.ts'
import { presentVersion } from './versions.ts'

/** Returns the facts about a file that its bytes do not say. */
const describeAsset = ({ name, kind, type, what, seed, maker, created }: assets.Asset) => ({
  name,
  kind,
  type,
  what,
  seed,
  maker,
  created: iso(created),
})

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
  const files = await assets.listAssets(ctx, app.id, row.version)
  const { steps, share } = row.folder ?? {}
  const facts = {
    ...presentVersion(row),
    page: row.page,
    ...(row.uses?.declared && { declared: row.uses.declared }),
    ...(steps && { steps }),
    ...(share && { share }),
    assets: files.map(describeAsset),
  }
  yield {
    path: `${folder}/version.json`,
    bytes: new TextEncoder().encode(JSON.stringify(facts, null, 2)),
  }
  const { identity } = await pages.readPage(ctx, row)
  if (row.folder) {
    for (const { path, bytes } of readTar(identity)) {
      yield { path: `${folder}/files/${path}`, bytes }
    }
    return
  }
  yield { path: `${folder}/index.html`, bytes: identity }
  const cover = row.cover !== null && (await ctx.storage.read(row.cover))
  if (cover) yield { path: `${folder}/cover.webp`, bytes: cover }
  for (const asset of files) {
    const bytes = await ctx.storage.read(asset.sha256)
    if (!bytes) throw new Error(`the stored asset ${asset.sha256} is missing`)
    yield { path: `${folder}/assets/${asset.name}`, bytes }
  }
}
