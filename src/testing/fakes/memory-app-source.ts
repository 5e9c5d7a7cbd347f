import { brotliCompressSync, gzipSync } from 'node:zlib'

import { mediaTypeOf } from '../../apps/assets/upload.ts'
import { readPageFolder } from '../../apps/folders/page-folder.ts'
import { findCode, withCode } from '../../apps/folders/page-location.ts'
import { locateCode } from '../../apps/folders/script-location.ts'
import { embeddedLibraries } from '../../apps/libraries/embedded.ts'
import type { PageLibraries } from '../../apps/libraries/library.ts'
import type { Resolution } from '../../apps/libraries/resolution.ts'
import { resolvePage } from '../../apps/libraries/resolve-page.ts'
import { inspectNow } from '../../apps/scan/inspection.ts'
import type {
  AppSource,
  FileContent,
  HostedApp,
  HostedFile,
  HostedHtml,
} from '../../apps/viewer/app-source.ts'
import { sha256 } from '../../kernel/ids.ts'

interface StoredApp {
  app: HostedApp
  html: HostedHtml
  files: Map<string, HostedFile>
  libraries: Resolution | undefined
}

/** Apps in memory, for the tests of the viewer. */
export class MemoryAppSource implements AppSource {
  readonly apps = new Map<string, StoredApp>()
  readonly #libraryFiles = new Map<string, { type: string; content: Uint8Array }>()
  readonly #contents = new Map<string, Uint8Array>()
  finds = 0
  opens = 0
  /** Progress of the first build of every app, from 0 to 1. */
  buildProgress = async (): Promise<number> => 0.15
  /** Number of reported commits. `put` reports none. */
  commitCount = 0

  commits(): number {
    return this.commitCount
  }

  recordOpen(): void {
    this.opens += 1
  }

  /** Stores an app or a new version of it, and returns it. */
  put(id: string, html: string, facts: Partial<HostedApp> = {}): HostedApp {
    const before = this.apps.get(id)
    const identity = new TextEncoder().encode(html)
    const app: HostedApp = {
      id,
      title: 'Lamp Keeper',
      description: '',
      icon: null,
      maker: 'ann',
      listed: true,
      state: 'live',
      version: (before?.app.version ?? 0) + 1,
      updated: (before?.app.updated ?? 0) + 1,
      ...facts,
    }
    const page = {
      sha256: sha256(identity),
      identity,
      br: new Uint8Array(brotliCompressSync(identity)),
      gzip: new Uint8Array(gzipSync(identity)),
    }
    const files = before?.files ?? new Map()
    this.apps.set(id, { app, html: page, files, libraries: undefined })
    return app
  }

  /** Publishes a folder as the server does. Media types are those of the names. */
  putFolder(id: string, folder: Record<string, string | Uint8Array>): HostedApp {
    const bytesOf = (content: string | Uint8Array): Uint8Array =>
      typeof content === 'string' ? new TextEncoder().encode(content) : content
    const all = Object.entries(folder).map(([path, content]) => ({ path, bytes: bytesOf(content) }))
    const found = readPageFolder(all)
    if ('problem' in found) throw new Error(found.problem)
    const read = withCode(found, findCode(found).map(locateCode))
    const app = this.put(id, read.html)
    const stored = this.#stored(id)
    const html = { ...stored.html, name: read.page }
    this.apps.set(id, { ...stored, html, files: new Map() })
    for (const { path, bytes } of read.files) this.putFile(id, path, mediaTypeOf(path), bytes)
    return app
  }

  /** Gives an app the libraries that its page and its sheets name, from those of the program. */
  async putLibraries(id: string, sheets: string[] = []): Promise<Resolution> {
    const { references } = inspectNow(new Uint8Array(this.#stored(id).html.identity))
    references.urls.push(...sheets.map((url) => ({ url, use: 'style' }) as const))
    const libraries = await resolvePage(await embeddedLibraries(), references)
    this.putResolution(id, libraries)
    return libraries
  }

  /** Gives an app these libraries. */
  putResolution(id: string, libraries: Resolution): void {
    const stored = this.#stored(id)
    const hasLibraries = libraries.files.length > 0
    this.apps.set(id, { ...stored, html: { ...stored.html, hasLibraries }, libraries })
    for (const file of libraries.contents) this.#libraryFiles.set(file.sha256, file)
  }

  /** Removes the library files of an app, but not their list. */
  removeLibraryFiles(id: string): void {
    for (const { sha256 } of this.#stored(id).libraries?.files ?? [])
      this.#libraryFiles.delete(sha256)
  }

  async libraries(app: HostedApp): Promise<PageLibraries | null> {
    return this.#the(app).libraries ?? null
  }

  async libraryFile(sha256: string) {
    return this.#libraryFiles.get(sha256)
  }

  putFile(id: string, name: string, type: string, content: Uint8Array): void {
    const file = { name, type, bytes: content.length, sha256: sha256(content) }
    this.#contents.set(file.sha256, content)
    this.apps.get(id)?.files.set(name, file)
  }

  #the(app: HostedApp): StoredApp {
    return this.#stored(app.id)
  }

  #stored(id: string): StoredApp {
    const found = this.apps.get(id)
    if (!found) throw new Error(`no app ${id}`)
    return found
  }

  async find(id: string): Promise<HostedApp | undefined> {
    this.finds += 1
    return this.apps.get(id)?.app
  }

  async html(app: HostedApp): Promise<HostedHtml> {
    return this.#the(app).html
  }

  async files(app: HostedApp): Promise<HostedFile[]> {
    return [...this.#the(app).files.values()]
  }

  async file({ sha256 }: HostedFile): Promise<FileContent | undefined> {
    const identity = this.#contents.get(sha256) ?? this.#libraryFiles.get(sha256)?.content
    return identity && { identity }
  }
}
