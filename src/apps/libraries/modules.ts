import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'

import { lazyFor } from '../../kernel/lazy.ts'
import { labelOf, type Library, readText } from './library.ts'
import { findFile } from './package-paths.ts'

/** Scheme of the names under which the files of a page refer to each other. */
export const scheme = 'berth:'

/** A script as it is delivered, with the names of other files and packages that it imports. */
export interface ModuleText {
  text: string
  /** Paths in the same package. */
  paths: string[]
  /** Names such as "three" and "react/jsx-runtime". */
  names: string[]
}

/** Returns the name of a file inside a page. */
export const fileName = (library: Library, path: string): string =>
  `${scheme}${labelOf(library)}/${path}`

/** Address of all packages for the loader, as pages name them. Nothing is loaded from there. */
export const packagesUrl = 'https://cdn.jsdelivr.net/npm/'

const transpiler = new Bun.Transpiler({ loader: 'js' })
const relative = /^\.{0,2}\//

interface Imports {
  paths: string[]
  hasExports: boolean
}

/** Parsed scripts by path. The embedded libraries stay in memory, so each is parsed once. */
const parsedOf = lazyFor((_library: Library) => new Map<string, Imports | undefined>())

/** Returns the static imports and exports of a script; undefined for a classic one. */
export function readImports(library: Library, path: string, text: string): Imports | undefined {
  const parsed = parsedOf(library)
  if (!parsed.has(path)) parsed.set(path, parseImports(text))
  return parsed.get(path)
}

function parseImports(text: string): Imports | undefined {
  if (!/\b(?:import|export)\b/.test(text)) return undefined
  try {
    const { imports, exports } = transpiler.scan(text)
    const statements = imports.filter(({ kind }) => kind === 'import-statement')
    const dynamic = imports.filter(({ kind }) => kind === 'dynamic-import')
    if (statements.length === 0 && exports.length === 0) return undefined
    const paths = [...statements, ...dynamic].map(({ path }) => path)
    return { paths: [...new Set(paths)], hasExports: exports.length > 0 }
  } catch {
    return undefined
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Replaces the relative names of a module: a blob: URL has no folder to resolve them in. */
export function rewriteModule(
  library: Library,
  path: string,
  text: string,
  imports: Imports,
): ModuleText {
  // A blob: URL is no base of others. The loader finds the files of the package at this one.
  const here = JSON.stringify(`${packagesUrl}${labelOf(library)}/${path}`)
  const module: ModuleText = {
    text: text
      .replaceAll(/\bimport\.meta\.url\b/g, here)
      // Packages for bundlers read it, which browsers do not have.
      .replaceAll(/\bprocess\.env\.NODE_ENV\b/g, '"production"'),
    paths: [],
    names: [],
  }
  for (const name of imports.paths) {
    if (!relative.test(name)) {
      if (!/^[a-z]+:/i.test(name)) module.names.push(name)
      continue
    }
    const found = findFile(library, join(dirname(path), name))
    if (found === undefined) continue
    module.paths.push(found)
    const pattern = new RegExp(`(\\b(?:from|import)\\s*\\(?\\s*)(["'])${escaped(name)}\\2`, 'g')
    module.text = module.text.replace(pattern, (_, start: string) => {
      return `${start}${JSON.stringify(fileName(library, found))}`
    })
  }
  return module
}

const requires = /\brequire\(\s*(["'])([^"'\n]{1,200})\1\s*\)/g
const developmentBranch =
  /if\s*\(\s*process\.env\.NODE_ENV\s*===?\s*["']production["']\s*\)\s*\{([^{}]*)\}\s*else\s*\{[^{}]*\}/g
const filesMax = 200
const namesMax = 6_000

/** Names that a CommonJS or UMD file gives to its exports. */
const exportNames =
  /\bexports\.([A-Za-z_$][\w$]*)\s*=|\b([A-Za-z_$][\w$]*):\s*(?:\(\)\s*=>|function [\w$]*\(\)\{return\b)/g
/** In minified files `exports` has a short name. */
const shortExportNames = /\b[\w$]{1,2}\.([A-Za-z][\w$]{2,})=(?!=)/g

/** The global that a script without a module format creates, such as `dateFns`. */
const createdGlobal = /\bwindow\.([A-Za-z_$][\w$]*)=(?!=)/

/** Makes an ES module of a CommonJS or UMD file and the files of its package that it requires. */
export async function wrapCommonJs(
  library: Library,
  entry: string,
  isKnown: (name: string) => boolean,
): Promise<ModuleText> {
  const texts = new Map<string, string>()
  const names = new Set<string>()
  const queue = [entry]
  for (
    let path = queue.shift();
    path !== undefined && texts.size < filesMax;
    path = queue.shift()
  ) {
    if (texts.has(path)) continue
    const whole = (await readText(library, path)).replace(developmentBranch, '$1')
    const from = path
    const text = whole.replace(requires, (call: string, _: string, name: string) => {
      if (!relative.test(name)) {
        // Bundles keep calls of require for the modules inside them.
        if (isKnown(name)) names.add(name)
        // A module of Node.js is empty in a browser, as bundlers make it.
        else if (isBuiltin(name)) texts.set(name, '')
        return call
      }
      const found = findFile(library, join(dirname(from), name))
      if (found === undefined) return call
      queue.push(found)
      return `require(${JSON.stringify(found)})`
    })
    texts.set(path, text)
  }
  return { text: joinCommonJs(entry, texts, [...names]), paths: [], names: [...names] }
}

function joinCommonJs(entry: string, texts: Map<string, string>, names: string[]): string {
  const imports = names.map((name, at) => `import * as i${at} from ${JSON.stringify(name)};`)
  const table = names.map((name, at) => `${JSON.stringify(name)}: i${at}`)
  const files = [...texts].map(
    ([path, text]) => `${JSON.stringify(path)}: function (module, exports, require) {${text}\n}`,
  )
  const exported = namesIn([...texts.values()])
  const list = exported.map((name, at) => `const e${at} = main?.[${JSON.stringify(name)}];`)
  const start = texts.get(entry) ?? ''
  const created = /\bexports\b/.test(start) ? undefined : createdGlobal.exec(start)?.[1]
  // The name by which Node.js gives a whole CommonJS module to others.
  const whole = 'main as "module.exports"'
  const aliases = [whole, ...exported.map((name, at) => `e${at} as ${name}`)]
  return [
    ...imports,
    'const process = { env: { NODE_ENV: "production" } }, global = globalThis, define = undefined;',
    `const outside = new Map(Object.entries({ ${table.join(', ')} }));`,
    `const files = { ${files.join(',\n')} };`,
    'const loaded = new Map();',
    'function load(path) {',
    '  const other = outside.get(path);',
    '  if (other) return other["module.exports"] ?? other.default ?? other;',
    '  if (loaded.has(path)) return loaded.get(path).exports;',
    '  if (!Object.hasOwn(files, path)) throw new Error("Cannot find module " + path);',
    '  const module = { exports: {} };',
    '  loaded.set(path, module);',
    '  files[path].call(module.exports, module, module.exports, load);',
    '  return module.exports',
    '}',
    `const own = load(${JSON.stringify(entry)});`,
    `const main = ${created === undefined ? 'own' : `globalThis.${created} ?? own`};`,
    ...list,
    'const whole = main?.__esModule && "default" in main ? main.default : main;',
    `export { ${['whole as default', ...aliases].join(', ')} };`,
  ].join('\n')
}

/** A function or object that a file exports as a whole, and that has other exports. */
const exportedWhole = /\bmodule\.exports\s*=\s*([A-Za-z_$][\w$]*)\s*[;\n]/

/** Returns patterns of the names that a file gives to its exports. */
function patternsOf(text: string): RegExp[] {
  const whole = exportedWhole.exec(text)?.[1]
  const members = whole && new RegExp(`\\b${escaped(whole)}\\.([A-Za-z_$][\\w$]*)\\s*=(?!=)`, 'g')
  return [exportNames, shortExportNames, ...(members ? [members] : [])]
}

function namesIn(texts: string[]): string[] {
  const found = new Set<string>()
  for (const text of texts)
    for (const pattern of patternsOf(text))
      for (const match of text.matchAll(pattern)) {
        const name = match[1] ?? match[2] ?? ''
        if (name !== '' && name !== 'default' && found.size < namesMax) found.add(name)
      }
  return [...found]
}
