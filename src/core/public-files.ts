import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import { sha256 } from './ids.ts'

/** A file of public/dist. `br` and `gzip` are compressed versions; `etag` is unquoted. */
export interface PublicFile {
  name: string
  type: string
  etag: string
  identity: Uint8Array
  br?: Uint8Array | undefined
  gzip?: Uint8Array | undefined
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
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
 * Reads the names of all files of public/dist, such as "css/web.css". Requests look up this map, so
 * no path of a request reaches the disk. Bytes are read with the first request for a file, because
 * the docs alone have some megabytes.
 */
export function readPublic(): Map<string, PublicFile> {
  const all = readdirSync(publicDir, { recursive: true, encoding: 'utf8' })
  const names = new Set(all.map((name) => name.replaceAll('\\', '/')))
  const files = new Map<string, PublicFile>()
  for (const name of names) {
    const type = types[extname(name)]
    if (type !== undefined) files.set(name, new LazyPublicFile(publicDir, name, type, names))
  }
  return files
}

/** Returns a file that every build creates. Throws an Error where it is missing. */
export function getPublicFile(files: ReadonlyMap<string, PublicFile>, name: string): PublicFile {
  const file = files.get(name)
  if (!file) throw new Error(`public/dist has no ${name}. Run: bun run public`)
  return file
}

class LazyPublicFile implements PublicFile {
  readonly #read = new Map<string, Uint8Array>()

  constructor(
    private readonly dir: string,
    readonly name: string,
    readonly type: string,
    private readonly names: Set<string>,
  ) {}

  get etag(): string {
    return sha256(this.identity).slice(0, 32)
  }

  get identity(): Uint8Array {
    return this.#bytes('')
  }

  get br(): Uint8Array | undefined {
    return this.names.has(`${this.name}.br`) ? this.#bytes('.br') : undefined
  }

  get gzip(): Uint8Array | undefined {
    return this.names.has(`${this.name}.gz`) ? this.#bytes('.gz') : undefined
  }

  #bytes(ending: string): Uint8Array {
    const bytes = this.#read.get(ending) ?? readFileSync(join(this.dir, this.name + ending))
    this.#read.set(ending, bytes)
    return bytes
  }
}

/** Reads a file that a module imports with `{ type: 'file' }`. */
export const readEmbedded = (path: string): Promise<ArrayBuffer> => Bun.file(path).arrayBuffer()
