import { lookUp } from '../../kernel/schema.ts'

/** Origin of a library: part of the binary, added by the operator, or fetched for a page. */
export type LibrarySource = 'embedded' | 'added' | 'fetched'

/** One version of an npm package in the store. */
export interface Library {
  name: string
  version: string
  /** SPDX name from package.json, or "unknown". */
  license: string
  source: LibrarySource
  /** Sizes in bytes by path, such as "dist/chart.umd.js". */
  files: ReadonlyMap<string, number>
  /** Reads a file. Throws an Error for a path that `files` does not have. */
  read(path: string): Promise<Uint8Array>
}

/** Returns "three@0.180.0". */
export const labelOf = ({ name, version }: Pick<Library, 'name' | 'version'>): string =>
  `${name}@${version}`

export const bytesOf = ({ files }: Pick<Library, 'files'>): number =>
  files.values().reduce((sum, size) => sum + size, 0)

const types: Record<string, string> = {
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  wasm: 'application/wasm',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  png: 'image/png',
  svg: 'image/svg+xml',
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  geojson: 'application/json',
  csv: 'text/csv',
  txt: 'text/plain',
  xml: 'text/xml',
  glb: 'model/gltf-binary',
  gltf: 'model/gltf+json',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
}

/** Returns the media type of a file by its name. */
export const typeOf = (path: string): string =>
  lookUp(types, path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? 'application/octet-stream'

/**
 * Creates a package whose modules hand on what a script of a host's interface has (public/shims).
 * It is no copy of that host's package, so no version of it matters.
 */
export function createHostLibrary(name: string, texts: Record<string, string>): Library {
  const modules = new Map(
    Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]),
  )
  return {
    name,
    version: 'service',
    license: 'MIT',
    source: 'embedded',
    files: new Map([...modules].map(([path, { byteLength }]) => [path, byteLength])),
    read: async (path) => modules.get(path) ?? new Uint8Array(),
  }
}

const decoder = new TextDecoder()

export const readText = async (library: Library, path: string): Promise<string> =>
  decoder.decode(await library.read(path))

/** Returns whether a file is an ES module by its name. */
export const isModulePath = (path: string): boolean => path.endsWith('.mjs')

/** Library files of one page, and their bytes in total. */
export const filesPerPageMax = 400
export const bytesPerPageMax = 24 * 1_048_576

/** Files that scripts of a page load from its address when they need them, and their bytes. */
export const onDemandFilesMax = 500
export const onDemandBytesMax = 48 * 1_048_576

/** Files beside a script that are looked up by the names in it. */
export const namedFilesMax = 30

/** URLs, import map entries and imported names of one page that are looked up. */
export const referencesPerPageMax = 300

/** Files of one package. Shoelace has 5,181, most of them icons. */
export const libraryFilesMax = 10_000

/** Libraries that an operator may add. */
export const addedLibrariesMax = 500

/** Fetched packages. Then the oldest ones that no app uses are removed for new ones. */
export const fetchedLibrariesMax = 500

/** Packages that are fetched for one page, also those that these import, and at a time. */
export const fetchedPerPageMax = 40
export const fetchedAtOnceMax = 10
/** Bytes of the tarball of one. */
export const fetchedBytesMax = 32 * 1_048_576

/** Libraries whose apps are counted: added ones, and those of this and earlier binaries. */
export const usedLibrariesMax = 2_000

/** Bytes of one file of an added library, and of all its files. */
export const libraryFileBytesMax = 10 * 1_048_576
export const libraryBytesMax = 64 * 1_048_576

/** A URL in a page that may name a library. */
export interface LibraryReference {
  url: string
  /** `code`: a text in a script, which may or may not be loaded. */
  use: 'script' | 'style' | 'module' | 'code'
  /** The integrity attribute of its tag (Subresource Integrity). */
  integrity?: string
}

/** Everything in a page that names libraries. */
export interface PageReferences {
  urls: LibraryReference[]
  /** Entries of its import maps. */
  imports: [name: string, url: string][]
  /** Names in the import statements of its scripts. */
  names: string[]
}

/** A file of a library as a page gets it. */
export interface PageFile {
  /** Name by which the other files refer to it, such as "berth:three@0.180.0/build/…". */
  name: string
  sha256: string
  type: string
  bytes: number
  /** A script loads it by its address in the files of the version, and no tag names it. */
  isOnDemand?: true
}

/** The libraries of one version of an app, stored with it. */
export interface PageLibraries {
  files: PageFile[]
  /** URLs as the page writes them, or folders of them, and the names of their files. */
  urls: [url: string, name: string][]
  /** Entries of the page's import map: names of files, or URLs that are no library. */
  imports: [name: string, target: string][]
}
