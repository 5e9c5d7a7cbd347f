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
