import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import { sha256 } from './ids.ts'

/** One file of public/dist. `br` and `gzip` are the same bytes compressed; `etag` is unquoted. */
export interface PublicFile {
  name: string
  type: string
  etag: string
  identity: Uint8Array
  br?: Uint8Array
  gzip?: Uint8Array
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json',
}

/** In the compiled binary the tree is embedded beside the bundle; in a checkout it is built there. */
const publicDir = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/dist')
  : join(import.meta.dir, '../../public/dist')

/**
 * Reads all of public/dist into memory, once at start: "css/web.css" -> its bytes. Requests are
 * answered from this map alone, so that no path of a request ever reaches the disk.
 */
export function readPublic(dir: string = publicDir): Map<string, PublicFile> {
  const files = new Map<string, PublicFile>()
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const names = new Set(all.map((name) => name.replaceAll('\\', '/')))
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const read = (ending: string): Uint8Array => readFileSync(join(dir, name + ending))
    const identity = read('')
    files.set(name, {
      name,
      type,
      etag: sha256(identity).slice(0, 32),
      identity,
      ...(names.has(`${name}.br`) ? { br: read('.br') } : {}),
      ...(names.has(`${name}.gz`) ? { gzip: read('.gz') } : {}),
    })
  }
  return files
}
