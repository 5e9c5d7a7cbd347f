import { LRUCache } from 'lru-cache'

import { bytesOf, createEntity, type Entity } from '../../kernel/http/entity.ts'
import { sha256 } from '../../kernel/ids.ts'
import { mediaTypeOf } from '../assets/upload.ts'
import { assetNameOf } from '../folders/page-names.ts'
import type { AppSource, HostedApp, HostedFile } from './app-source.ts'
import { fileHeaders } from './policy.ts'

const cacheBytesMax = 64 * 1_048_576
const defaultName = 'index.html'
/** Folder of the packages whose files scripts load by their address. */
const packagesFolder = 'npm/'

/** A compressed part of a build of Unity, which its loader names with this ending. */
const unityPart = /(?:^|\/)Build\/[^/]+\.(?:data|wasm|js|json|mem)\.(br|gz)$/

/**
 * Returns the headers of a file. Parts of Unity have the encoding and the type that its manual asks
 * a server for ("Web: Server configuration").
 */
function headersOf({ name, type }: HostedFile): Record<string, string> {
  const ending = unityPart.exec(name)?.[1]
  if (ending === undefined) return fileHeaders(type)
  const encoding = ending === 'gz' ? 'gzip' : ending
  return { ...fileHeaders(mediaTypeOf(name.slice(0, -3))), 'content-encoding': encoding }
}

/** Returns what the bytes and the headers of a file depend on. */
const keyOf = ({ name, type, sha256: hash }: HostedFile): string =>
  `${hash} ${type} ${unityPart.test(name)}`

/** The files of a version, as its address serves them. */
export interface FileTable {
  /** Name of the page in its folder. */
  page: string
  /** The page and its files by name. */
  files: ReadonlyMap<string, HostedFile>
  /** The version has files, so that its page gets their address. */
  hasFiles: boolean
  /** The page came in a folder, and names its files by their paths. */
  isFolder: boolean
  /** Changes with the files: 16 bits. */
  revision: number
}

/** Reads and caches the files that the viewer serves at the address of a version. */
export class VersionFiles {
  readonly #entities = new LRUCache<string, Entity>({
    maxSize: cacheBytesMax,
    sizeCalculation: bytesOf,
  })

  constructor(private readonly source: AppSource) {}

  async table(app: HostedApp): Promise<FileTable> {
    const [rows, html, libraries] = await Promise.all([
      this.source.files(app),
      this.source.html(app),
      this.source.libraries?.(app),
    ])
    const page = html.name ?? defaultName
    const type = 'text/html; charset=utf-8'
    const bytes = html.identity.byteLength
    const files = new Map(rows.map((row) => [row.name, row]))
    const marks = JSON.stringify(rows.map((row) => [row.name, row.sha256]))
    const revision = Number.parseInt(sha256(marks).slice(0, 4), 16)
    files.set(page, { name: page, type, bytes, sha256: html.sha256 })
    for (const file of libraries?.files ?? []) {
      const name = file.name.replace(/^berth:/, packagesFolder)
      if (file.isOnDemand) files.set(name, { ...file, name })
    }
    const isFolder = html.name !== undefined
    // More than the page itself.
    return { page, files, hasFiles: files.size > 1, isFolder, revision }
  }

  /**
   * Finds a file by its exact name. A page of a Mac may spell it in another form of Unicode. One
   * that came without a folder names its assets by paths, too: "img/ship.png" is "img-ship.png".
   */
  find({ files, isFolder }: FileTable, name: string): HostedFile | undefined {
    return files.get(name) ?? files.get(isFolder ? name.normalize() : assetNameOf(name))
  }

  /** Returns a file that is in memory. */
  known(file: HostedFile): Entity | undefined {
    return this.#entities.get(keyOf(file))
  }

  /** Returns a file with its headers; undefined when its bytes are missing. */
  async entity(app: HostedApp, { page }: FileTable, file: HostedFile): Promise<Entity | undefined> {
    const known = this.known(file)
    if (known) return known
    const isPage = file.name === page
    const content = isPage ? await this.source.html(app) : await this.source.file(file)
    if (!content) return undefined
    const { identity, br } = content
    const zstd = 'zstd' in content ? content.zstd : undefined
    const variants = { etag: file.sha256, identity, br, zstd }
    const entity = createEntity(variants, headersOf(file))
    // A bucket's cache may drop a file from the disk.
    if (!(identity instanceof Blob)) this.#entities.set(keyOf(file), entity)
    return entity
  }
}
