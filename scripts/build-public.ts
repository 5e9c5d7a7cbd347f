/** Builds public/dist from the folders of public and the islands of pages. */
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

import { pngOf } from '../src/apps/generators/generate.ts'
import { shims } from '../src/apps/uses/uses.ts'
import { publicDist as dist, writePublicFile } from './write-public-file.ts'

const root = join(import.meta.dir, '..')
const source = join(root, 'public')

/** Bundles an entry and returns its text. A script becomes one classic script, or one module. */
async function bundle(
  entry: string,
  format: 'iife' | 'esm' = 'iife',
  /** Texts in the place of constants that the entry declares. */
  texts: Record<string, string> = {},
): Promise<string> {
  const result = await Bun.build({
    entrypoints: [resolve(source, entry)],
    target: 'browser',
    format,
    minify: true,
    define: Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, JSON.stringify(text)]),
    ),
    // Served by this server under the same path.
    external: ['/static/*'],
  })
  const [first] = result.outputs
  if (!first) throw new Error(`The bundle of ${entry} is empty.`)
  return (await first.text()).trim()
}

/** Escapes a script for the inside of script tags. */
const inline = (script: string): string =>
  script.replace(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--')

/**
 * Builds the wrapper pages, which contain the scripts of the app's document and of the relay as
 * text: for pages with files, for offline copies of these, and for all others.
 */
async function buildFrame(out: string): Promise<void> {
  const read = async (name: string) => inline(await bundle(`frame/${name}.ts`))
  const text = async (id: string, name: string) =>
    `<script type=text id=${id}>${await read(name)}</script>`
  const style = `<style>${await bundle('frame/frame.css')}</style>`
  const head = `<!doctype html><meta charset=utf-8><title>app</title>${style}`
  const relay = await text('relay', 'relay')
  for (const [name, boot, wrapper] of [
    ['frame', 'boot', 'wrapper'],
    ['files', 'files-boot', 'files-wrapper'],
    ['copied', 'copied-boot', 'copied-wrapper'],
  ] as const) {
    const texts = (await text('boot', boot)) + relay
    const script = `<body><script>${await read(wrapper)}</script>`
    await writePublicFile(out, `frame/${name}.html`, head + texts + script)
  }
  for (const name of ['libraries', 'databases', 'shell', 'install', 'offline-copy'])
    await writePublicFile(out, `frame/${name}.js`, await read(name))
  await buildLate(out)
  for (const name of ['page', 'shell', 'controller'])
    await writePublicFile(out, `bridge/${name}.js`, inline(await bundle(`bridge/${name}.ts`)))
  for (const name of ['page', 'shell'])
    await writePublicFile(out, `knobs/${name}.js`, inline(await bundle(`knobs/${name}.ts`)))
  for (const { name } of shims)
    await writePublicFile(out, `shims/${name}.js`, inline(await bundle(`shims/${name}.ts`)))
  const types = await Bun.file(join(source, 'bridge/service-types.ts')).text()
  await writePublicFile(out, 'bridge/service.d.ts', types)
  await writePublicFile(out, 'mcp/view.js', inline(await bundle('mcp/view.ts')))
  await writePublicFile(out, 'mcp/view.css', await bundle('css/mcp.css'))
  await writePublicFile(out, 'bridge/shell.css', await bundle('css/bridge.css'))
  await writePublicFile(out, 'bridge/controller.css', await bundle('css/controller.css'))
  await writePublicFile(out, 'knobs/shell.css', await bundle('css/knobs.css'))
  await writePublicFile(out, 'frame/shell.css', await bundle('css/shell.css'))
  await writePublicFile(out, 'frame/message.css', await bundle('css/message.css'))
}

/** Builds the modules that shells load after their app has started. */
async function buildLate(out: string): Promise<void> {
  const recorderScript = await bundle('moments/recorder.ts')
  const momentsStyle = await bundle('css/moments.css')
  const lateStyle = await bundle('css/late.css')
  await writePublicFile(
    out,
    'frame/late.js',
    await bundle('frame/late.ts', 'esm', { recorderScript, lateStyle }),
  )
  await writePublicFile(
    out,
    'moments/shell.js',
    await bundle('moments/shell.ts', 'esm', { momentsStyle }),
  )
}

/** Lists the files of a folder of public/ with an ending; none where the folder is missing. */
async function filesIn(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(source, folder)).catch(() => [])
  return names.filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
}

/** Lists the scripts of pages, which lie beside their pages. Each has a name of its own. */
const islands = (): string[] => [
  ...new Bun.Glob('src/**/*.island.ts').scanSync({ cwd: root, absolute: true }),
]

async function buildPages(out: string): Promise<void> {
  const inlined = [
    'shell.css',
    'bridge.css',
    'controller.css',
    'knobs.css',
    'mcp.css',
    'message.css',
    'moments.css',
    'dialog.css',
    'late.css',
    'sharing.css',
    'tokens.css',
  ]
  const styles = (await filesIn('css', '.css')).filter((name) => !inlined.includes(name))
  await Promise.all([
    ...islands().map(async (path) =>
      writePublicFile(out, `islands/${basename(path, '.island.ts')}.js`, await bundle(path)),
    ),
    ...styles.map(async (name) =>
      writePublicFile(out, join('css', name), await bundle(join('css', name))),
    ),
  ])
}

/** Copies the icons, and renders the installed ones as PNG. */
async function copyIcons(out: string): Promise<void> {
  for (const name of await filesIn('icons', '.svg')) {
    await writePublicFile(
      out,
      join('icons', name),
      await Bun.file(join(source, 'icons', name)).bytes(),
    )
  }
  const svg = await Bun.file(join(source, 'icons/berth.svg')).text()
  for (const side of [192, 512]) {
    const sized = svg.replace('<svg', `<svg width="${side}" height="${side}"`)
    await writePublicFile(out, `icons/icon-${side}.png`, await pngOf(sized))
  }
}

/** The typefaces of text and of titles. */
const fonts = {
  geist: '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2',
  bricolage: '@fontsource/bricolage-grotesque/files/bricolage-grotesque-latin-700-normal.woff2',
  'rubik-arabic': '@fontsource-variable/rubik/files/rubik-arabic-wght-normal.woff2',
}

/** Copies the catalogs of messages. The server and the pages read parts of them. */
async function copyWords(out: string): Promise<void> {
  for (const name of await filesIn('words', '.json')) {
    const catalog: unknown = await Bun.file(join(source, 'words', name)).json()
    await writePublicFile(out, `words/${name}`, JSON.stringify(catalog))
  }
}

async function copyFonts(out: string): Promise<void> {
  for (const [name, file] of Object.entries(fonts)) {
    const from = join(root, 'node_modules', file)
    await writePublicFile(out, `fonts/${name}.woff2`, await Bun.file(from).bytes())
  }
}

/** Builds into a new folder and swaps it with the old one, so that readers never see half of it. */
export async function buildPublic(): Promise<void> {
  const out = join(source, `dist-${process.pid}`)
  await rm(out, { recursive: true, force: true })
  await Promise.all([
    buildFrame(out),
    buildPages(out),
    copyIcons(out),
    copyFonts(out),
    copyWords(out),
  ])
  await Bun.write(join(out, 'built'), '')
  const old = `${out}-old`
  await rename(dist, old).catch(() => undefined)
  await rename(out, dist)
  await rm(old, { recursive: true, force: true })
}

const sources = [
  'public/**/*',
  'src/**/*.{island,browser}.ts',
  'scripts/{build-public,write-public-file}.ts',
]

/** Checks whether public/dist is newer than all its sources. */
export async function isPublicFresh(): Promise<boolean> {
  const built = await stat(join(dist, 'built')).catch(() => undefined)
  if (!built) return false
  for (const pattern of sources) {
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root })) {
      if (/^public\/(dist|samples)/.test(path)) continue
      if ((await stat(join(root, path))).mtimeMs > built.mtimeMs) return false
    }
  }
  return true
}

if (import.meta.main) await buildPublic()
