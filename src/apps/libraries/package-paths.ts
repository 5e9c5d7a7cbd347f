import { dirname, join, relative } from 'node:path/posix'

import { isRecord, recordOf } from '../../kernel/schema.ts'
import type { LibraryAddress } from './address.ts'
import { type Library, type LibraryReference, readText, typeOf } from './library.ts'

/** Folders in which packages keep the files that cdnjs shows at the top. */
const folders = [
  '',
  ...'dist build lib min umd dist/umd dist/css font builds build/player standalone/umd styles'
    .split(' ')
    .map((folder) => `${folder}/`),
]

/** The same file in another form: without or with .min, or the build for production. */
function formsOf(path: string): string[] {
  const whole = /\.(?:[cm]?js|css)$/.exec(path)?.[0]
  if (whole === undefined) return [path]
  const base = path.slice(0, -whole.length)
  return [
    path,
    base.endsWith('.min') ? base.slice(0, -4) + whole : `${base}.min${whole}`,
    path.replace(/\.development(?:\.min)?\.js$/, '.production.min.js'),
    base.endsWith('.prod') ? path : `${base}.prod${whole}`,
    path.replace(/\.esm(?=\.)/, '.esm.min'),
  ]
}

/** Returns whether a package has a file. A build that failed left an empty one in some packages. */
const hasFile = ({ files }: Library, path: string): boolean => (files.get(path) ?? 0) > 0

/** Finds a file by the path that a URL names; cdnjs leaves out the folders. */
function findPath(library: Library, path: string): string | undefined {
  for (const form of formsOf(path))
    for (const folder of folders) {
      const whole = folder + form
      if (hasFile(library, whole)) return whole
    }
  // cdnjs has capitals of its own: Stats.min.js is build/stats.min.js.
  const forms = new Set(formsOf(path).map((form) => form.toLowerCase()))
  return [...library.files.keys()].find(
    (file) =>
      hasFile(library, file) &&
      folders.some(
        (folder) => file.startsWith(folder) && forms.has(file.slice(folder.length).toLowerCase()),
      ),
  )
}

/** A file of fewer bytes may only say where the library is now. */
const stubBytesMax = 1_000

const isStub = ({ files }: Library, path: string): boolean => (files.get(path) ?? 0) < stubBytesMax

/**
 * Finds a file by its last names in any folder of a package: the one nearest to the root, and a
 * stub only where there is no other.
 */
function findAnywhere(library: Library, path: string): string | undefined {
  const forms = formsOf(path).map((form) => `/${form}`)
  // The build of a package that left this file empty failed: its other files are sources.
  if ([...library.files].some(([file, bytes]) => bytes === 0 && file.endsWith(`/${path}`)))
    return undefined
  const rank = (file: string): number => file.length + (isStub(library, file) ? 1_000 : 0)
  return [...library.files.keys()]
    .filter((file) => hasFile(library, file) && forms.some((form) => file.endsWith(form)))
    .toSorted((a, b) => rank(a) - rank(b))[0]
}

/** Parsed package.json of a folder. An empty record where it is missing or malformed. */
async function readManifest(library: Library, folder = ''): Promise<Record<string, unknown>> {
  const path = `${folder}package.json`
  if (!library.files.has(path)) return {}
  try {
    return recordOf(JSON.parse(await readText(library, path)))
  } catch {
    return {}
  }
}

const clean = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.replace(/^\.?\//, '') : undefined

/** Returns the file that a URL without a path loads: the fields that jsDelivr and unpkg read. */
async function defaultFile(
  library: Library,
  use: LibraryReference['use'],
): Promise<string | undefined> {
  const about = await readManifest(library)
  const fields = ['jsdelivr', 'unpkg', 'browser', 'main', 'style'].map((name) => clean(about[name]))
  const found = [...fields, 'index.js'].flatMap((named) =>
    named === undefined ? [] : (findFile(library, named) ?? []),
  )
  const style = found.find((path) => typeOf(path) === 'text/css')
  if (use === 'style') return style
  const short = library.name.replace(/^.*\//, '').replace(/\.js$/, '')
  const scripts = [...library.files.keys()].filter(isScript)
  return (
    found.find(isScript) ??
    findPath(library, `${short}.js`) ??
    (scripts.length === 1 ? scripts[0] : use === 'code' ? style : undefined)
  )
}

const isScript = (path: string): boolean => typeOf(path) === 'text/javascript'

const conditions = ['browser', 'module', 'import', 'default', 'require']

/** Follows the conditions of an exports entry (Node.js, "Conditional exports"). */
function followConditions(entry: unknown, depth = 0): string | undefined {
  if (typeof entry === 'string') return clean(entry)
  if (!isRecord(entry) || depth > 4) return undefined
  for (const name of conditions) {
    const found = followConditions(entry[name], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the file of an exports entry, also of a pattern such as "./addons/*". */
function fromExports(exports: unknown, subpath: string): string | undefined {
  const key = subpath === '' ? '.' : `./${subpath}`
  if (!isRecord(exports)) return key === '.' ? clean(exports) : undefined
  if (key === '.' && !Object.hasOwn(exports, '.')) return followConditions(exports)
  if (Object.hasOwn(exports, key)) return followConditions(exports[key])
  for (const [name, entry] of Object.entries(exports)) {
    const [head = '', tail] = name.split('*')
    if (tail === undefined || !key.startsWith(head) || !key.endsWith(tail)) continue
    const star = key.slice(head.length, key.length - tail.length)
    return followConditions(entry)?.replaceAll('*', star)
  }
  return undefined
}

/** Finds a file with the endings that bundlers try, in all its forms. */
export function findFile(library: Library, path: string): string | undefined {
  const bare = path.replace(/\/$/, '')
  for (const one of [bare, `${bare}.js`, `${bare}.mjs`, `${bare}/index.js`, `${bare}/index.mjs`]) {
    const found = formsOf(one).find((form) => hasFile(library, form))
    if (found !== undefined) return found
  }
  return undefined
}

const entryFields = ['module', 'jsnext:main', 'browser', 'main', 'jsdelivr', 'unpkg']

/** Returns the file that `import 'name/subpath'` loads in a browser. */
export async function moduleEntry(library: Library, subpath: string): Promise<string | undefined> {
  const about = await readManifest(library)
  // A folder of a package may have a package.json of its own.
  const inside = subpath === '' ? about : await readManifest(library, `${subpath}/`)
  const fields = entryFields.flatMap((name) => {
    const value = inside[name]
    return typeof value === 'string' ? join(subpath, value) : []
  })
  const own = fromExports(about['exports'], subpath)
  const named = [own, ...fields, ...(subpath === '' ? [] : [subpath])]
  for (const one of named) {
    const found = one === undefined ? undefined : findFile(library, one)
    if (found !== undefined) return found
  }
  return subpath === '' ? defaultFile(library, 'module') : findPath(library, subpath)
}

/** Returns the version ranges of a package's dependencies and peers. */
export async function dependenciesOf(library: Library): Promise<Record<string, unknown>> {
  const about = await readManifest(library)
  return { ...recordOf(about['peerDependencies']), ...recordOf(about['dependencies']) }
}

const privateNames = /(["'])(#[\w./-]{1,100})\1/g

/** Returns a script whose names of "imports" in its package.json are those of files. */
export async function withPrivateNames(
  library: Library,
  path: string,
  text: string,
): Promise<string> {
  const table = text.includes('#') ? recordOf((await readManifest(library))['imports']) : {}
  return text.replace(privateNames, (whole: string, quote: string, name: string) => {
    const found = Object.hasOwn(table, name) ? followConditions(table[name]) : undefined
    return found === undefined ? whole : `${quote}./${relative(dirname(path), found)}${quote}`
  })
}

/** Returns the package of an imported name: "three" of "three/addons/…". */
export const packageOf = (name: string): string =>
  name.split('/', name.startsWith('@') ? 2 : 1).join('/')

/** Returns the file of a package that a URL names. */
export async function pathOf(
  library: Library,
  { path, kind, isFlat }: LibraryAddress,
  use: LibraryReference['use'],
): Promise<string | undefined> {
  if (kind === 'module') return moduleEntry(library, path)
  if (path === '') return use === 'module' ? moduleEntry(library, '') : defaultFile(library, use)
  const found = findPath(library, path) ?? findFile(library, path)
  if (!isFlat || (found !== undefined && !isStub(library, found))) return found
  const other = findAnywhere(library, path)
  return other !== undefined && isStub(library, other) ? (found ?? other) : (other ?? found)
}
