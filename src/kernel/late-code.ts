import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A module of the late code: its bytes there, and the kept modules that it needs. */
export type LateModule = [at: number, bytes: number, kept: string[]]

/** Modules that the program has outside the late code, by their names. */
export type KeptModules = Record<string, () => Promise<object>>

type Load = (name: string) => Promise<object>
type Require = (name: string) => object
/** The values that the code of a module reads first. */
interface Surroundings {
  require: Require
  module: { exports: object }
  load: Load
  /** Of this file: the binary has all modules in one folder. */
  meta: ImportMeta
}

declare global {
  /** The surroundings of the module that starts. */
  var lateModule: Surroundings | undefined
}

const requireBuiltin: Require = createRequire(import.meta.url)

/**
 * Returns the function that loads a module of the late code with all that it imports. The binary
 * compresses there what neither a start nor most workers import: see scripts/build-late-code.ts.
 */
export function createLoader(kept: KeptModules): Load {
  let opened: LateCode | undefined
  const open = (): LateCode => (opened ??= readCode())
  const modules = new Map<string, Surroundings['module']>()

  const require: Require = (name) => {
    const known = modules.get(name)
    if (known) return known.exports
    const { index, code } = open()
    const [at, bytes] = index[name] ?? []
    if (at === undefined || bytes === undefined) return requireBuiltin(name)
    const module = { exports: {} }
    // Before its code runs, because two modules may import each other.
    modules.set(name, module)
    globalThis.lateModule = { require, module, load, meta: import.meta }
    try {
      const text = new TextDecoder().decode(code.subarray(at, at + bytes))
      // The variables of a text in strict mode are slow: a scan of 22 MB took 27 s, and takes 8 s.
      void (0, eval)(`(function(){${text}\n})`)()
    } catch (error) {
      modules.delete(name)
      throw error
    }
    return module.exports
  }

  const load: Load = async (name) => {
    // A name outside the index is of a kept module, or of one of Node.
    const needs = open().index[name]?.[2] ?? [name]
    await Promise.all(
      needs.map(async (one) => {
        const importKept = kept[one]
        if (importKept && !modules.has(one)) modules.set(one, { exports: await importKept() })
      }),
    )
    return require(name)
  }
  return load
}

interface LateCode {
  index: Record<string, LateModule>
  code: Uint8Array
}

/** Reads the index, which is the first line, and the code after it. */
function readCode(): LateCode {
  const bytes = Bun.zstdDecompressSync(readFileSync(join(import.meta.dir, 'late-code.zst')))
  const end = bytes.indexOf('\n')
  return { index: JSON.parse(bytes.toString('utf8', 0, end)), code: bytes.subarray(end + 1) }
}
