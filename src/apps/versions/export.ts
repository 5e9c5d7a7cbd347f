import { listPageMax } from '../../kernel/limits.ts'
import type { AppContext } from '../../server/context.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { readTar } from '../folders/archive.ts'
import * as pages from '../page-content.ts'
import { presentVersion } from './versions.ts'

interface File {
  path: string
  bytes: Uint8Array
}

/** Streams a zip of all versions and assets, with one file in memory at a time. */
export async function* zipOf(ctx: AppContext, app: apps.App): AsyncGenerator<Uint8Array> {
  // Loaded on demand: building its tables takes longer than the rest of the startup.
  const { Zip, ZipPassThrough } = await import('fflate')
  const ready: Uint8Array[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    ready.push(chunk)
  })
  for await (const { path, bytes } of filesOf(ctx, app)) {
    const entry = new ZipPassThrough(path)
    zip.add(entry)
    entry.push(bytes, true)
    yield* ready.splice(0)
  }
  zip.end()
  yield* ready.splice(0)
}

async function* filesOf(ctx: AppContext, app: apps.App): AsyncGenerator<File> {
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
