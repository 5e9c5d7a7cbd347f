import { LRUCache } from 'lru-cache'

import {
  compressText,
  createEntity,
  type Entity,
  entityResponse,
} from '../../kernel/http/entity.ts'
import { pageHosts } from '../../kernel/http/host.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { idChars, idPattern } from '../../kernel/ids.ts'
import { getPublicFile, type PublicFile, readPublic } from '../../kernel/public-files.ts'
import { type Clock, isWithin } from '../../kernel/time.ts'
import { mayBeSignedIn } from '../../people/session-cookie.ts'
import type { AppSource, HostedApp, HostedFile, HostedHtml, ViewerUrls } from './app-source.ts'
import { librariesPath, LibraryFiles } from './library-files.ts'
import { loadPageAssets, type PageAssets, shellPage } from './page.ts'
import { dataHeaders, shellHeaders } from './policy.ts'

const cacheBytesMax = 64 * 1_048_576
const cachePagesMax = 10_000
const hostsPerPageMax = 4
/** A cached page is compared with its app after this long, even without a known change. */
const trustMs = 500

/** Cached responses of one app, rendered and compressed on first use. */
interface CachedPage {
  app: HostedApp
  /** Path of the shell; its data and files are below. */
  at: string
  checked: number
  /** Commit count of the source when the page was compared with its app. */
  commits: number | undefined
  shells: Map<string, Entity>
  data?: Entity
  files?: Entity
}

/** Returns the bytes of an entity with all its variants, for the cache limit. */
const weight = (whole: Entity | undefined): number =>
  (whole?.variants ?? []).reduce((sum, { bytes }) => sum + bytes, 1_000)

/**
 * Header of the data of a page that loads libraries or its own files by name. The shell then waits
 * for the list of files.
 */
const withLibraries = { 'page-libraries': '1' }
/** Names of IndexedDB, and of libraries that use it. */
const databaseNames = ['indexedDB', 'localforage', 'Dexie']
const usesDatabases = (html: Buffer): boolean => databaseNames.some((name) => html.includes(name))
const noLibraries = { files: [], urls: [], imports: [] }

/** The viewer's rendered pages, cached in memory and revalidated after each change. */
export class Pages {
  readonly assets: PageAssets
  readonly public: ReadonlyMap<string, PublicFile>
  /** The separate host of apps, if set. */
  readonly appsHost: string | undefined
  /** CSP sources of foreign pages that may embed apps. */
  readonly embedders: string[]
  readonly libraryFiles: LibraryFiles
  readonly #hostFor: (request: Request) => string | undefined
  readonly #appHost: string
  readonly #pages = new LRUCache<string, CachedPage>({
    max: cachePagesMax,
    maxSize: cacheBytesMax,
    sizeCalculation: (page) =>
      [...page.shells.values(), page.data, page.files].reduce((sum, part) => sum + weight(part), 0),
  })

  constructor(
    readonly source: AppSource,
    readonly urls: ViewerUrls,
    readonly clock: Clock,
    files: ReadonlyMap<string, PublicFile> = readPublic(),
  ) {
    this.public = files
    this.#appHost = new URL(urls.app).host
    // With a host of their own, apps are framed by their configured address.
    this.#hostFor = pageHosts(
      { app: urls.app },
      urls.isConfigured === true || urls.apps !== undefined,
    )
    this.embedders = urls.embedders ?? []
    this.appsHost = urls.apps === undefined ? undefined : new URL(urls.apps).host
    this.assets = loadPageAssets(files)
    this.libraryFiles = new LibraryFiles(source, {
      loader: getPublicFile(files, 'frame/libraries.js'),
      databases: getPublicFile(files, 'frame/databases.js'),
    })
  }

  /** Returns a cached page that is still fresh, or undefined. */
  fresh(id: string): CachedPage | undefined {
    const kept = this.#pages.get(id)
    const isUnchanged = kept?.commits === this.source.commits?.()
    return kept && isUnchanged && isWithin(this.clock, kept.checked, trustMs) ? kept : undefined
  }

  /** Finds the current page of a public link; undefined when there is no such app. */
  async find(id: string): Promise<CachedPage | undefined> {
    const fresh = this.fresh(id)
    if (fresh) return fresh
    const kept = this.#pages.get(id)
    const compared = { checked: this.clock.now(), commits: this.source.commits?.() }
    const app = idPattern.test(id) ? await this.source.find(id) : undefined
    if (!app) {
      this.#pages.delete(id)
      return undefined
    }
    const same =
      kept &&
      kept.app.version === app.version &&
      kept.app.updated === app.updated &&
      kept.app.state === app.state &&
      kept.app.cover === app.cover
    if (same) return Object.assign(kept, compared)
    const page: CachedPage = { app, at: `/a/${id}`, ...compared, shells: new Map() }
    this.#pages.set(id, page)
    return page
  }

  /** Returns the page of one version, uncached, for its owner or the operator. */
  async preview(id: string, version: string, request: Request): Promise<CachedPage | undefined> {
    const isOne = idPattern.test(id) && /^[1-9]\d{0,5}$/.test(version)
    const app = isOne ? await this.source.preview?.(id, Number(version), request) : undefined
    const at = `/a/${id}/versions/${version}`
    return app && { app, at, checked: 0, commits: undefined, shells: new Map() }
  }

  /** Returns the shell for the host of a request. A server without APP_URL has several. */
  shell(page: CachedPage, request: Request): Entity {
    const { app, apps } = this.urls
    const host = this.#hostFor(request) ?? this.#appHost
    const known = page.shells.get(host)
    if (known) return known
    const frame = `${apps ?? ''}/frame`
    const own = apps === undefined ? host : app
    const headers = shellHeaders({
      scriptHash: this.assets.scriptHash,
      styleHash: this.assets.styleHash,
      // A source without a scheme uses the page's, which a proxy may have changed to https.
      data: `${own}${page.at}/`,
      libraries: `${own}${librariesPath}`,
      images: `${own}/a/${page.app.id}/qr.svg ${own}/covers/`,
      frame: apps === undefined ? `${host}/frame` : frame,
      ancestors: ["'self'", ...this.embedders].join(' '),
      apps,
    })
    const made = createEntity(
      compressText(
        shellPage(
          page.app,
          { at: page.at, frame, origin: app, canEmbed: this.embedders.length > 0 },
          this.assets,
        ),
      ),
      headers,
    )
    if (page.shells.size >= hostsPerPageMax) page.shells.clear()
    page.shells.set(host, made)
    this.#keep(page)
    return made
  }

  async data(page: CachedPage): Promise<Entity> {
    if (page.data) return page.data
    const html = await this.source.html(page.app)
    const { sha256: etag, hasLibraries, ...content } = html
    const headers = dataHeaders('text/plain; charset=utf-8', 'no-cache')
    const { own, databases } = await this.#needs(page, html)
    const needsList = hasLibraries || databases || own.length > 0
    page.data = createEntity({ etag, ...content }, { ...headers, ...(needsList && withLibraries) })
    this.#keep(page)
    return page.data
  }

  async files(page: CachedPage): Promise<Entity> {
    if (page.files) return page.files
    const files = (await this.source.files(page.app)).map(
      ({ name, type, bytes, sha256: hash }) => ({
        name,
        type,
        bytes,
        url: `${page.at}/files/${encodeURIComponent(name)}?h=${hash}`,
      }),
    )
    const libraries = await this.source.libraries?.(page.app)
    const { own, databases } = await this.#needs(page, await this.source.html(page.app))
    const needs = { loader: own.length > 0 || Boolean(libraries), databases }
    const hasScripts = needs.loader || databases
    const list = {
      files,
      ...(hasScripts && { libraries: this.libraryFiles.list(libraries ?? noLibraries, needs) }),
      ...(own.length > 0 && { own: own.map(({ name }) => name) }),
    }
    const headers = dataHeaders('application/json', 'no-cache')
    page.files = createEntity(compressText(JSON.stringify(list)), headers)
    this.#keep(page)
    return page.files
  }

  /** Returns the files that the page names by relative URLs, and whether it uses IndexedDB. */
  async #needs({ app }: CachedPage, { identity }: HostedHtml) {
    const files = await this.source.files(app)
    const bytes = Buffer.from(identity.buffer, identity.byteOffset, identity.byteLength)
    const own = files.length === 0 ? [] : ownFiles(bytes.toString(), files)
    return { own, databases: usesDatabases(bytes) }
  }

  /** Updates the cached size of a page that grew, unless it was evicted. */
  #keep(page: CachedPage): void {
    if (this.#pages.peek(page.app.id) === page) this.#pages.set(page.app.id, page)
  }
}

/** Bytes of the files that a page gets before its first script. */
const bytesMax = 24 * 1_048_576

/** Places where a page names a file by its URL, other than a call of service.assets. */
const references =
  /(?:(?<![-\w])(?:src|href|poster)\s*=\s*|\burl\(\s*|\b(?:fetch|Audio)\(\s*|\.open\(\s*["'`]\w+["'`]\s*,\s*)["'`]?(?:\.?\/)*([\w./%-]+)/gi

/** Returns the name under which a file of a folder is stored: "img/ship.png" is "img-ship.png". */
const flattened = (path: string): string => path.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-')

/**
 * Returns the files of an app that its page names by relative URLs, such as `fetch('data.json')`.
 * A page that never uses `service.assets` can only mean them so, whatever its names are.
 */
function ownFiles(html: string, files: HostedFile[]): HostedFile[] {
  const named = html.includes('service.assets')
    ? new Set(html.matchAll(references).flatMap(([, name = '']) => [name, flattened(name)]))
    : undefined
  let bytes = 0
  return files.filter((file) => {
    if (named && !named.has(file.name)) return false
    bytes += file.bytes
    return bytes <= bytesMax
  })
}

const shellChars = '/a/'.length + idChars

/**
 * Serves the shell and the HTML of a live app from memory, without the router, which costs as much
 * as all the rest (docs/bench.md, viewer). Returns undefined for all other requests.
 */
export function serveFromMemory(
  pages: Pages,
  request: Request,
  context: RequestContext,
  path: string,
): Response | undefined {
  if (!path.startsWith('/a/') || request.method !== 'GET') return undefined
  const page = pages.fresh(path.slice('/a/'.length, shellChars))
  if (page?.app.state !== 'live') return undefined
  const { headers } = request
  // The routes record the agent of a request with a key, and the person of a session.
  if (headers.has('authorization') || headers.has('x-api-key')) return undefined
  if (mayBeSignedIn(request, context)) return undefined
  if (pages.appsHost !== undefined && headers.get('host') === pages.appsHost) return undefined
  if (path.length === shellChars) {
    pages.source.recordOpen(page.app, request, context)
    context.route = '/a/:id'
    return entityResponse(request, pages.shell(page, request))
  }
  if (!page.data || path.slice(shellChars) !== '/data') return undefined
  pages.source.recordOpen(page.app, request, context)
  context.route = '/a/:id/data'
  return entityResponse(request, page.data)
}
