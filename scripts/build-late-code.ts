/**
 * Splits a bundle into what stays, for bytecode, and late code: the chunks that no start and no
 * frequent worker imports, as one compressed file (docs/decisions/0149). Calls of `import()` that
 * lead there become calls of src/kernel/late-code.ts.
 *   bun scripts/build-late-code.ts BUNDLE FILE
 */
import { dirname, join, relative, resolve } from 'node:path'

import type { LateModule } from '../src/kernel/late-code.ts'

/** Workers with much code of their own. */
const lateWorkers = [
  'apps/folders/locate.worker.js',
  'apps/folders/read-folder.worker.js',
  'apps/generators/generate.worker.js',
  'apps/scan/inspect.worker.js',
  'apps/versions/source.worker.js',
  'server/operator/verify-backup.worker.js',
  'store/archive.worker.js',
]
const loaderFile = 'loader.js'
const level = 19

interface Chunk {
  code: string
  /** Names of chunks that load before it. */
  needs: string[]
  /** Paths of its `import()` calls, with the names of chunks and of modules of Node. */
  calls: Map<string, string>
}

const [bundle = '', file = ''] = process.argv.slice(2).map((path) => resolve(path))
const transpiler = new Bun.Transpiler({ loader: 'js' })
const names = [...new Bun.Glob('**/*.js').scanSync({ cwd: bundle })].toSorted()
const chunks = new Map<string, Chunk>()
for (const name of names) chunks.set(name, await read(name))

async function read(name: string): Promise<Chunk> {
  const code = await Bun.file(join(bundle, name)).text()
  const needs: string[] = []
  const calls = new Map<string, string>()
  for (const { kind, path } of transpiler.scanImports(code)) {
    const isChunk = path.startsWith('.')
    const other = isChunk ? join(dirname(name), path) : path
    if (kind === 'dynamic-import') calls.set(path, other)
    else if (isChunk) needs.push(other)
  }
  return { code, needs, calls }
}

function chunkOf(name: string): Chunk {
  const chunk = chunks.get(name)
  if (!chunk) throw new Error(`The bundle has no ${name}.`)
  return chunk
}

/** Returns the chunks that load with `roots`. Those of `ends` are found, and not followed. */
function closureOf(roots: string[], ends?: ReadonlySet<string>): Set<string> {
  const found = new Set(roots)
  for (const one of found) {
    if (!ends?.has(one)) for (const next of chunkOf(one).needs) found.add(next)
  }
  return found
}

const entries = names.filter((name) => name === 'main.js' || name.endsWith('.worker.js'))
const kept: ReadonlySet<string> = closureOf(entries.filter((name) => !lateWorkers.includes(name)))
const late = names.filter((name) => !kept.has(name))
/** Kept chunks that late ones import. */
const shared = new Set<string>()

/** Replaces `import()` calls by calls of `load`. Throws an Error where one has another form. */
function withLoad(name: string, isReplaced: (other: string) => boolean): string {
  let { code } = chunkOf(name)
  for (const [path, other] of chunkOf(name).calls) {
    if (!isReplaced(other)) continue
    const call = `import("${path}")`
    if (!code.includes(call)) throw new Error(`${name} imports ${other} in an unknown form.`)
    code = code.replaceAll(call, `lateLoad("${other}")`)
    if (kept.has(other)) shared.add(other)
  }
  return code
}

/** Returns a chunk as a script of CommonJS, whose imports are names of chunks. */
async function scriptOf(name: string): Promise<string> {
  const path = join(bundle, name)
  const { outputs } = await Bun.build({
    entrypoints: [path],
    files: { [path]: withLoad(name, () => true) },
    define: { 'import.meta': 'lateMeta' },
    target: 'bun',
    format: 'cjs',
    minify: { whitespace: true, syntax: true },
    plugins: [
      {
        name: 'chunks stay apart',
        setup(build) {
          build.onResolve({ filter: /^\./ }, ({ path: to, importer }) => ({
            path: relative(bundle, join(dirname(importer), to)),
            external: true,
          }))
        },
      },
    ],
  })
  const body = /^\(function\(exports, require, module, [^)]*\) \{([^]*)\}\)\s*$/.exec(
    ((await outputs[0]?.text()) ?? '').replace(/^(?:\/\/.*\n)*/, ''),
  )?.[1]
  // A path of this folder would be one of the build.
  if (body === undefined || body.includes(bundle)) {
    throw new Error(`${name} is no script that can run late.`)
  }
  const head =
    '"use strict";const{require,module,load:lateLoad,meta:lateMeta}=globalThis.lateModule;'
  return `${head}${body}\n//# sourceURL=${name}\n`
}

const index: Record<string, LateModule> = {}
const scripts: string[] = []
let at = 0
for (const name of late) {
  const needs = [...closureOf([name], kept)].filter((one) => kept.has(one))
  for (const one of needs) shared.add(one)
  const script = await scriptOf(name)
  const bytes = Buffer.byteLength(script)
  index[name] = [at, bytes, needs]
  scripts.push(script)
  at += bytes
}
const content = `${JSON.stringify(index)}\n${scripts.join('')}`
await Bun.write(file, await Bun.zstdCompress(content, { level }))

/** Commander imports this for commands that are programs of their own. Berth has none. */
const withoutPrograms = (code: string): string =>
  code.replace(/import (\S+) from"child_process"/, 'const $1=void 0')

const importLoad = (name: string): string =>
  `import{load as lateLoad}from"./${relative(dirname(name), loaderFile)}";`
for (const name of kept) {
  const code = withLoad(name, (other) => !kept.has(other) && !other.includes('pdfjs'))
  const { code: before } = chunkOf(name)
  if (code !== before) await Bun.write(join(bundle, name), importLoad(name) + withoutPrograms(code))
}
for (const name of late) await Bun.file(join(bundle, name)).delete()
for (const name of lateWorkers) {
  await Bun.write(join(bundle, name), `${importLoad(name)}await lateLoad("${name}")`)
}
const loader = JSON.stringify(join(import.meta.dir, '../src/kernel/late-code.ts'))
const thunks = [...shared].map((name) => `"${name}":()=>import("./${name}")`)
await Bun.write(
  join(bundle, loaderFile),
  `import{createLoader}from${loader};export const load=createLoader({${thunks.join()}})`,
)
console.error(`${late.length} of ${names.length} chunks are late code`)
