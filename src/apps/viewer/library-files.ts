import { LRUCache } from 'lru-cache'

import { brotli } from '../../kernel/compress.ts'
import { bytesOf, createEntity, type Entity } from '../../kernel/http/entity.ts'
import { sha256 } from '../../kernel/ids.ts'
import { lazy } from '../../kernel/lazy.ts'
import type { PublicFile } from '../../kernel/public-files.ts'
import type { PageLibraries } from '../libraries/library.ts'
import { shims } from '../uses/uses.ts'
import type { AppSource } from './app-source.ts'
import { dataHeaders } from './policy.ts'

/** Path of the library files. All apps share it, so that a browser fetches each file once. */
export const librariesPath = '/a/libraries/'

/** The scripts that run before a page that needs them, in this order. */
const scriptNames = ['databases', 'bridge', 'knobs', ...shims.map(({ name }) => name)] as const
export type ScriptName = (typeof scriptNames)[number]

const cacheBytesMax = 48 * 1_048_576
const shaPattern = /^[0-9a-f]{64}$/
const immutable = 'public, max-age=31536000, immutable'
const quality = 5

interface LibraryContent {
  type: string
  content: Uint8Array
  /** The content, compressed. */
  br?: Uint8Array | undefined
}

/**
 * The library files that the viewer serves, compressed at first use and cached in memory, and the
 * scripts that load them.
 */
export class LibraryFiles {
  readonly #entities = new LRUCache<string, Entity>({
    maxSize: cacheBytesMax,
    sizeCalculation: bytesOf,
  })

  readonly #loader = lazy((): { name: string; entity: Entity } => {
    const entity = createEntity(this.loader, dataHeaders(this.loader.type, immutable))
    return { name: sha256(this.loader.identity()), entity }
  })

  constructor(
    private readonly source: AppSource,
    private readonly loader: PublicFile,
    private readonly script: (name: ScriptName) => PublicFile,
  ) {}

  /** Returns what a page needs before its first script, as the shell reads it. */
  list(
    { files, urls, imports }: PageLibraries,
    needs: { loader: boolean; scripts: readonly ScriptName[] },
  ) {
    return {
      ...(needs.loader && { loader: librariesPath + this.#loader().name }),
      ...(needs.scripts.length > 0 && { script: librariesPath + this.#nameOf(needs.scripts) }),
      files: files
        .filter(({ isOnDemand }) => isOnDemand !== true)
        .map(({ name, type, sha256: hash }) => ({ name, type, url: librariesPath + hash })),
      urls,
      imports,
    }
  }

  /** Finds a file by its SHA-256; undefined when no app uses it. */
  async find(name: string): Promise<Entity | undefined> {
    const loader = this.#loader()
    if (name === loader.name) return loader.entity
    const known = this.#entities.get(name)
    if (known) return known
    const file: LibraryContent | undefined = shaPattern.test(name)
      ? await this.source.libraryFile?.(name)
      : this.#scriptFile(name)
    if (!file) return undefined
    const content = { etag: name, identity: file.content, ...(await compressed(file)) }
    const entity = createEntity(content, dataHeaders(file.type, immutable))
    this.#entities.set(name, entity)
    return entity
  }

  /** Returns the name of several scripts as one file. It changes with their bytes. */
  #nameOf(names: readonly ScriptName[]): string {
    const hash = sha256(names.map((name) => this.script(name).etag).join())
    return [...names, hash].join('.')
  }

  /** Joins the scripts that a name lists; undefined for names of another release. */
  #scriptFile(name: string): LibraryContent | undefined {
    const names = scriptNames.filter((one) => name.split('.').includes(one))
    if (names.length === 0 || name !== this.#nameOf(names)) return undefined
    const files = names.map((one) => this.script(one))
    const content = Buffer.concat(files.map(({ identity }) => identity()))
    const [{ type, br } = this.script('bridge')] = files
    // One alone is compressed better, when it is built.
    return { type, content, br: files.length === 1 ? br : undefined }
  }
}

/** Compresses a text on a thread of the pool: it may have a megabyte. */
async function compressed({ type, content, br }: LibraryContent): Promise<{ br?: Uint8Array }> {
  if (br) return { br }
  if (!/javascript|css|json|svg|wasm/.test(type)) return {}
  return { br: await brotli(content, quality) }
}
