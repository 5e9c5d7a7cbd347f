/**
 * Compresses what the program reads from packages into a folder: files, and each package of
 * src/kernel/lazy-packages.ts as one script. Writes a module for each of these packages, which
 * loads it in the binary, and a tsconfig.json that leads their imports there.
 *   bun scripts/build-package-files.ts FOLDER MODULES
 */
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'

import type { BunPlugin } from 'bun'

import { sha256 } from '../src/kernel/ids.ts'
import { lazyPackages } from '../src/kernel/lazy-packages.ts'
import { type PackageFile, packageFiles, readPackageFile } from '../src/kernel/public-files.ts'
import { brotli, brotliQuality } from './brotli.ts'
import { withSmallVoices } from './strip-voices.ts'

const root = join(import.meta.dir, '..')

const [folder = '', modules = ''] = process.argv.slice(2)
if (modules === '') throw new Error('usage: build-package-files FOLDER MODULES')

async function contentOf(name: PackageFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readPackageFile(name)
  return name.endsWith('flite.wasm') ? withSmallVoices(bytes) : bytes
}

/** Leaves imports of the other packages as they are, so that all share one copy of each. */
const shareOthers = (name: string): BunPlugin => ({
  name: 'share lazy packages',
  setup(build) {
    build.onResolve({ filter: /^[@\w]/ }, ({ path }) =>
      path !== name && lazyPackages.includes(path) ? { path, external: true } : undefined,
    )
  },
})

const transpiler = new Bun.Transpiler({ loader: 'js' })

/** Bundles exports of a package as a script. Throws an Error where the binary misses an import. */
async function bundle(name: string, exports: string[]): Promise<string> {
  const entry = join(import.meta.dir, 'lazy-package.ts')
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    files: { [entry]: `export { ${exports.join(', ')} } from '${name}'\n` },
    target: 'bun',
    format: 'cjs',
    minify: { whitespace: true, syntax: true, identifiers: true, keepNames: true },
    // For packages "without side effects", Bun chooses what to parse by which thread is first, and
    // names by what was parsed (oven-sh/bun#40657): two builds would have other bytes.
    ignoreDCEAnnotations: true,
    plugins: [shareOthers(name)],
  })
  const script = (await outputs[0]?.text()) ?? ''
  const missing = transpiler
    .scanImports(script)
    .map(({ path }) => path)
    .filter((path) => !isBuiltin(path) && !lazyPackages.includes(path))
  // Another folder would give other bytes.
  if (script.includes(root)) throw new Error(`${name} contains the path of this folder.`)
  if (script && missing.length === 0) return script
  throw new Error(`${name} imports ${missing.join(', ')} when it runs.`)
}

/** Compressing takes half a minute, so a file of the same bytes and quality is kept. */
async function compressFile(name: PackageFile): Promise<void> {
  const content = await contentOf(name)
  const kept = Bun.file(join(root, 'dist/package-files', `${sha256(content)}-${brotliQuality}.br`))
  if (!(await kept.exists())) await kept.write(await brotli(content))
  await Bun.write(join(folder, `${name}.br`), kept)
}

/** Returns the module in the place of a package. `default` is no name of a variable. */
function moduleOf(name: string, exports: string[]): string {
  const variables = exports.map((one) => (one === 'default' ? 'default: main' : one))
  const exported = exports.map((one) => (one === 'default' ? 'main as default' : one))
  return [
    `import { loadPackage } from '${join(root, 'src/kernel/lazy-packages.ts')}'`,
    `const { ${variables.join(', ')} } = loadPackage('${name}')`,
    `export { ${exported.join(', ')} }\n`,
  ].join('\n')
}

const paths: Record<string, string[]> = {}
await Promise.all(packageFiles.map(compressFile))
for (const name of lazyPackages) {
  // Packages of CommonJS have names of exports only after they have run.
  const exports = Object.keys(await import(name))
  const script = await Bun.zstdCompress(await bundle(name, exports), { level: 19 })
  await Bun.write(join(folder, `${name}.js.zst`), script)
  const path = resolve(modules, `${name}.ts`)
  await Bun.write(path, moduleOf(name, exports))
  paths[name] = [path]
}
const config = { extends: join(root, 'tsconfig.json'), compilerOptions: { paths } }
await Bun.write(join(modules, 'tsconfig.json'), JSON.stringify(config))
