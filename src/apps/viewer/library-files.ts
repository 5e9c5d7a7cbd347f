import { LRUCache } from 'lru-cache'

import { createEntity, type Entity } from '../../kernel/http/entity.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { PublicFile } from '../../kernel/public-files.ts'
import type { PageLibraries } from '../libraries/references.ts'
import type { AppSource } from './app-source.ts'
import { dataHeaders } from './policy.ts'

/** Path of the library files. All apps share it, so that a browser fetches each file once. */
export const librariesPath = '/a/libraries/'

/** The scripts that run before a page, in this order. */
const pageScripts = ['databases', 'bridge'] as const
/** Those, and the one that loads the libraries. */
type ScriptName = (typeof pageScripts)[number] | 'loader'

const cacheBytesMax = 48 * 1_048_576
const shaPattern = /^[0-9a-f]{64}$/
const immutable = 'public, max-age=31536000, immutable'
const quality = 5

/**
 * The library files that the viewer serves, compressed at first use and cached in memory, and the
 * scripts that load them.
 */
export class LibraryFiles {
  readonly #entities = new LRUCache<string, Entity>({
    maxSize: cacheBytesMax,
    sizeCalculation: ({ variants }) => variants.reduce((sum, { bytes }) => sum + bytes, 1_000),
  })

  readonly #scripts = new Map<string, Entity>()
  readonly #urls: Record<ScriptName, string>

  constructor(
    private readonly source: AppSource,
    scripts: Record<ScriptName, PublicFile>,
  ) {
    const add = (file: PublicFile): string => {
      const name = sha256(file.identity)
      this.#scripts.set(name, createEntity(file, dataHeaders(file.type, immutable)))
      return librariesPath + name
    }
    const { loader, databases, bridge } = scripts
    this.#urls = { loader: add(loader), databases: add(databases), bridge: add(bridge) }
  }

  /** Returns what a page needs before its first script, as the shell reads it. */
  list({ files, urls, imports }: PageLibraries, needs: Record<ScriptName, boolean>) {
    const { loader } = this.#urls
    return {
      ...(needs.loader && { loader }),
      scripts: pageScripts.filter((name) => needs[name]).map((name) => this.#urls[name]),
      files: files.map((file) => ({
        name: file.name,
        type: file.type,
        url: librariesPath + file.sha256,
      })),
      urls,
      imports,
    }
  }

  /** Finds a file by its SHA-256; undefined when no app uses it. */
  async find(name: string): Promise<Entity | undefined> {
    const script = this.#scripts.get(name)
    if (script) return script
    if (!shaPattern.test(name)) return undefined
    const known = this.#entities.get(name)
    if (known) return known
    const file = await this.source.libraryFile?.(name)
    if (!file) return undefined
    const content = { etag: name, identity: file.content, ...(await compressed(file)) }
    const entity = createEntity(content, dataHeaders(file.type, immutable))
    this.#entities.set(name, entity)
    return entity
  }
}

/** Compresses a text on a thread of the pool: it may have a megabyte. */
async function compressed({
  type,
  content,
}: {
  type: string
  content: Uint8Array
}): Promise<{ br?: Uint8Array }> {
  if (!/javascript|css|json|svg|wasm/.test(type)) return {}
  const { brotliCompress, constants } = process.getBuiltinModule('node:zlib')
  const { promisify } = process.getBuiltinModule('node:util')
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
  }
  return { br: await promisify(brotliCompress)(content, { params }) }
}
