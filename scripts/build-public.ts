/**
 * Makes public/dist from public/frame, public/islands and public/css, and copies what the docs page
 * needs out of swagger-ui-dist. Each file that is served stands there with a .br and a .gz twin.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const root = join(import.meta.dir, '..')
const source = join(root, 'public')
const dist = join(source, 'dist')
const docsFiles = [
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
  'favicon-32x32.png',
]

const brotli = promisify(brotliCompress)
const squeeze = promisify(gzip)

/** Writes a file, and its compressed twins when it is text. */
async function put(path: string, bytes: Uint8Array | string): Promise<void> {
  const data = Buffer.from(bytes)
  await mkdir(dirname(path), { recursive: true })
  await Bun.write(path, data)
  if (path.endsWith('.png')) return
  // Above 300 KB level 11 takes seconds and wins three percent.
  const quality = data.length > 300_000 ? 6 : 11
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
  }
  const [br, gz] = await Promise.all([brotli(data, { params }), squeeze(data, { level: 9 })])
  await Promise.all([Bun.write(`${path}.br`, br), Bun.write(`${path}.gz`, gz)])
}

/** Bundles one entry and answers its text. A script becomes one classic script without exports. */
async function bundle(entry: string, define: Record<string, string> = {}): Promise<string> {
  const made = await Bun.build({
    entrypoints: [join(source, entry)],
    target: 'browser',
    format: 'iife',
    minify: true,
    define,
  })
  const [first] = made.outputs
  if (!first) throw new Error(`${entry} made nothing`)
  return (await first.text()).trim()
}

/** A script's text as it may stand between script tags. */
const inline = (script: string): string =>
  script.replace(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--')

/** The wrapper carries the boot script and the relay as texts: one address, one answer, no app. */
async function frame(out: string): Promise<void> {
  const [boot, relay] = await Promise.all([bundle('frame/boot.ts'), bundle('frame/relay.ts')])
  const script = await bundle('frame/wrapper.ts', {
    BOOT: JSON.stringify(inline(boot)),
    RELAY: JSON.stringify(inline(relay)),
  })
  const style = await bundle('frame/frame.css')
  const page = `<!doctype html><meta charset=utf-8><title>app</title><style>${style}</style><body><script>${inline(script)}</script>`
  await put(join(out, 'frame/frame.html'), page)
  await put(join(out, 'frame/shell.js'), inline(await bundle('frame/shell.ts')))
  await put(join(out, 'frame/shell.css'), await bundle('css/shell.css'))
}

/** Files of a folder of public/ with an ending; none when the folder is not there. */
async function filesIn(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(source, folder)).catch(() => [])
  return names.filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
}

async function pages(out: string): Promise<void> {
  const scripts = await filesIn('islands', '.ts')
  const styles = (await filesIn('css', '.css')).filter((name) => name !== 'shell.css')
  await Promise.all([
    ...scripts.map(async (name) =>
      put(join(out, 'islands', `${basename(name, '.ts')}.js`), await bundle(join('islands', name))),
    ),
    ...styles.map(async (name) => put(join(out, 'css', name), await bundle(join('css', name)))),
  ])
}

async function docs(out: string): Promise<void> {
  const from = join(root, 'node_modules', 'swagger-ui-dist')
  await Promise.all(
    docsFiles.map(async (name) =>
      put(join(out, 'docs', name), await Bun.file(join(from, name)).bytes()),
    ),
  )
}

/** Builds beside the old tree and then changes places with it, so that a reader never meets half. */
export async function buildPublic(): Promise<void> {
  const out = join(source, `dist-${process.pid}`)
  await rm(out, { recursive: true, force: true })
  await Promise.all([frame(out), pages(out), docs(out)])
  await Bun.write(join(out, 'built'), '')
  const old = `${out}-old`
  await rename(dist, old).catch(() => undefined)
  await rename(out, dist)
  await rm(old, { recursive: true, force: true })
}

/** True when public/dist is younger than everything it is made from. */
export async function publicIsFresh(): Promise<boolean> {
  const built = await stat(join(dist, 'built')).catch(() => undefined)
  if (!built) return false
  for (const folder of ['frame', 'islands', 'css']) {
    for (const name of await filesIn(folder, '')) {
      if ((await stat(join(source, folder, name))).mtimeMs > built.mtimeMs) return false
    }
  }
  return (await stat(import.meta.path)).mtimeMs <= built.mtimeMs
}

if (import.meta.main) await buildPublic()
