import { LRUCache } from 'lru-cache'

import { languageOf } from '../../kernel/http/accept.ts'
import { bytesOf, compressText, createEntity, type Entity } from '../../kernel/http/entity.ts'
import { pageHosts } from '../../kernel/http/host.ts'
import { senderOf } from '../../kernel/http/request-context.ts'
import { idPattern } from '../../kernel/ids.ts'
import { lazy } from '../../kernel/lazy.ts'
import { getPublicFile, type PublicFile, readPublic } from '../../kernel/public-files.ts'
import { type Clock, isWithin } from '../../kernel/time.ts'
import { currentLanguage, type Language } from '../../kernel/words/words.ts'
import type { SessionSender } from '../../people/session-user.ts'
import { knobName } from '../knobs/knobs.ts'
import { findKnobs } from '../knobs/page-knobs.ts'
import { findUses, hasBridge, hasUploads } from '../uses/uses.ts'
import type { AppSource, HostedApp, HostedFile, ViewerUrls } from './app-source.ts'
import { type CachedPage, newPage, type OpenedTable, type PageNeeds } from './cached-page.ts'
import { FileTokens, type OpenedToken } from './file-token.ts'
import { librariesPath, LibraryFiles, type ScriptName } from './library-files.ts'
import { readOwnManifest } from './own-manifest.ts'
import { loadPageAssets, type PageAssets, type ShellKind, shellPage, shellSources } from './page.ts'
import { dataHeaders, imageSources, operationSources, shellHeaders } from './policy.ts'
import { type FileTable, VersionFiles } from './version-files.ts'

const cacheBytesMax = 64 * 1_048_576
const cachePagesMax = 10_000
/** A cached page without its entities. */
const pageBytes = 1_000
/** Shells of a page: one of each kind and language for each host and visitor of private files. */
const shellsPerPageMax = 40
const previewsMax = 100
/** A cached page is compared with its app after this long, even without a known change. */
const trustMs = 500

/** Header of the data of a page whose shell waits for its list of files, libraries and scripts. */
const withList = { 'page-list': '1' }
/** Path of the addresses of files, and what the log has of each. */
export const filesPath = '/f/'
export const filesRoute = `${filesPath}:token/*`
/** Fields of an app whose change makes a new page. */
const shownFields = ['version', 'updated', 'state', 'cover', 'live', 'access'] as const
const tablesPerPageMax = 8
/** Names of IndexedDB, and of libraries that use it. */
const databaseNames = ['indexedDB', 'localforage', 'Dexie']
const usesDatabases = (html: Buffer): boolean => databaseNames.some((name) => html.includes(name))
/** The scripts before a page that are no shims. */
const scriptPaths = new Map<ScriptName, string>([
  ['databases', 'frame/databases.js'],
  ['bridge', 'bridge/page.js'],
  ['knobs', 'knobs/page.js'],
])
const noLibraries = { files: [], urls: [], imports: [] }

/** The viewer's rendered pages, cached in memory and revalidated after each change. */
export class Pages {
  /** Decompresses 17 files, so no start waits for them. */
  readonly assets = lazy((): PageAssets => loadPageAssets(this.public))
  readonly public: ReadonlyMap<string, PublicFile>
  /** The separate host of apps, if set. */
  readonly appsHost: string | undefined
  /** CSP sources of foreign pages that may embed apps. */
  readonly embedders: string[]
  readonly libraryFiles: LibraryFiles
  readonly versionFiles: VersionFiles
  readonly tokens: FileTokens
  readonly #hostFor: (request: Request) => string | undefined
  readonly #appHost: string
  readonly #pages = new LRUCache<string, CachedPage>({
    max: cachePagesMax,
    maxSize: cacheBytesMax,
    sizeCalculation: (page) =>
      [...page.shells.values(), page.data, page.files].reduce(
        (sum, part) => sum + (part ? bytesOf(part) : 0),
        pageBytes,
      ),
  })

  /** Previews whose files somebody loads, by app, version and change. */
  readonly #previews = new LRUCache<string, CachedPage>({ max: previewsMax })

  constructor(
    readonly source: AppSource,
    readonly urls: ViewerUrls,
    readonly clock: Clock,
    /** Makes the addresses of files, on all servers of a database the same. */
    secret: string,
    files: ReadonlyMap<string, PublicFile> = readPublic(),
  ) {
    this.public = files
    this.versionFiles = new VersionFiles(source)
    this.tokens = new FileTokens(secret, clock)
    this.#appHost = new URL(urls.app).host
    // With a host of their own, apps are framed by their configured address.
    this.#hostFor = pageHosts(
      { app: urls.app },
      urls.isConfigured === true || urls.apps !== undefined,
    )
    this.embedders = urls.embedders ?? []
    this.appsHost = urls.apps === undefined ? undefined : new URL(urls.apps).host
    this.libraryFiles = new LibraryFiles(
      source,
      getPublicFile(files, 'frame/libraries.js'),
      (name) => getPublicFile(files, scriptPaths.get(name) ?? `shims/${name}.js`),
    )
  }

  /** Returns whether a request is for the host of apps, which may be that of the site. */
  isAppsHost(request: Request): boolean {
    return this.appsHost === undefined || request.headers.get('host') === this.appsHost
  }

  /** Returns the host of the site that pages for a request name. */
  hostOf(request: Request): string {
    return this.#hostFor(request) ?? this.#appHost
  }

  /** Returns the origin by which the sender of a request reaches this site. */
  originFor(request: Request): string {
    const host = this.hostOf(request)
    return host === this.#appHost ? this.urls.app : `http://${host}`
  }

  /** The pages that may frame a wrapper. */
  get framing() {
    const { app, apps } = this.urls
    return {
      ancestor: [apps === undefined ? "'self'" : app, ...this.embedders].join(' '),
      isSeparate: apps !== undefined,
    }
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
    const same = kept && shownFields.every((name) => kept.app[name] === app[name])
    if (same) return Object.assign(kept, compared)
    const page = newPage(app, `/a/${id}`, compared)
    this.#pages.set(id, page)
    return page
  }

  /** Returns the page of one version, uncached, for its owner or the operator. */
  async preview(id: string, version: string, request: Request): Promise<CachedPage | undefined> {
    const isOne = idPattern.test(id) && /^[1-9]\d{0,5}$/.test(version)
    const app = isOne ? await this.source.preview?.(id, Number(version), request) : undefined
    const at = `/a/${id}/versions/${version}`
    return app && newPage(app, at)
  }

  /** Finds the version that a token opens, with its files, while its app is live. */
  async opened({ id, version, isPreview, pass }: OpenedToken) {
    const page = isPreview ? await this.#previewed(id, version) : await this.find(id)
    if (page?.app.state !== 'live') return undefined
    const isOpen = !page.app.restricted || (pass && (await this.source.isValidPass?.(id, pass)))
    if (!isOpen) return undefined
    const app = { ...page.app, version }
    return { app, table: await this.#table(page, app) }
  }

  /** Returns the files of a version that everyone may open, where they are in memory and fresh. */
  knownTable({ id, version, isPreview }: OpenedToken): FileTable | undefined {
    const page = isPreview ? undefined : this.fresh(id)
    if (page?.app.state !== 'live' || page.app.restricted) return undefined
    return page.tables.get(version)?.known
  }

  async #previewed(id: string, version: number): Promise<CachedPage | undefined> {
    const app = await this.source.previewed?.(id, version)
    if (!app) return undefined
    const key = `${id} ${version} ${app.updated}`
    const page = this.#previews.get(key) ?? newPage(app, '')
    this.#previews.set(key, page)
    return page
  }

  /** Returns the files of a page, cached. */
  tableOf(page: CachedPage): Promise<FileTable> {
    return this.#table(page, page.app)
  }

  /** Returns the files of a version of a page, cached. */
  #table({ tables }: CachedPage, app: HostedApp): Promise<FileTable> {
    const known = tables.get(app.version)
    if (known) return known.read
    if (tables.size >= tablesPerPageMax) tables.clear()
    const table: OpenedTable = { read: this.versionFiles.table(app) }
    tables.set(app.version, table)
    table.read.then(
      (read) => (table.known = read),
      () => tables.delete(app.version),
    )
    return table.read
  }

  /** Returns the path of the files of a page for a visitor; undefined for a page without files. */
  async addressOf(page: CachedPage, sender: () => SessionSender): Promise<string | undefined> {
    const { app, isPreview } = page
    const { hasFiles } = await this.needsOf(page)
    if (!hasFiles) return undefined
    const { revision } = await this.tableOf(page)
    const pass = app.restricted ? await this.source.findPass?.(app.id, sender()) : undefined
    return `${filesPath}${this.tokens.seal(app, revision, isPreview, pass)}/`
  }

  /** Returns the URLs that the wrapper at a path of files reaches, for the host of a request. */
  fileSources(path: string, request: Request): string[] {
    const { app, apps, isConfigured } = this.urls
    const known = apps ?? (isConfigured === true ? app : undefined)
    if (known !== undefined) return [known + path]
    const at = this.hostOf(request) + path
    // A proxy may have changed the scheme, which WebKit needs in an opaque origin.
    return [`http://${at}`, `https://${at}`]
  }

  /** Returns the shell for the browser of a request that an earlier one has rendered. */
  knownShell(page: CachedPage, request: Request): Entity | undefined {
    return page.shells.get(shellKey(this.hostOf(request), 'page', languageOf(request)))
  }

  /**
   * Returns the shell for the host of a request. A server without APP_URL has several. `isEmbed` is
   * the shell for frames of other sites.
   */
  async shell(page: CachedPage, request: Request, isEmbed = false): Promise<Entity> {
    const kind = isEmbed ? 'embed' : page.copyFrame === undefined ? 'page' : 'copy'
    const address = await this.addressOf(page, () => senderOf(request))
    // The address of the files of a restricted app belongs to its visitor.
    const visitor = page.app.restricted ? address : ''
    const key = shellKey(this.hostOf(request), kind, currentLanguage(), visitor)
    const known = page.shells.get(key)
    if (known) return known
    const made = await this.#renderShell(page, request, { kind, address })
    const [oldest] = page.shells.keys()
    if (oldest !== undefined && page.shells.size >= shellsPerPageMax) page.shells.delete(oldest)
    page.shells.set(key, made)
    this.#keep(page)
    return made
  }

  async #renderShell(
    page: CachedPage,
    request: Request,
    { kind, address }: { kind: ShellKind; address: string | undefined },
  ): Promise<Entity> {
    const { app, apps } = this.urls
    const host = this.hostOf(request)
    const needs = await this.needsOf(page)
    const hasBridge = needs.scripts.includes('bridge')
    const knobs = kind === 'page' ? needs.knobs : []
    const hasKnobs = knobs.length > 0
    const frame = page.copyFrame ?? `${apps ?? ''}${wrapperOf(address)}`
    const own = apps === undefined ? host : app
    // A preview and a frame of another site are not installed.
    const canInstall = kind === 'page' && page.at === `/a/${page.app.id}`
    const headers = shellHeaders({
      ...shellSources(this.assets(), { own, hasBridge, hasKnobs }),
      // A source without a scheme uses the page's, which a proxy may have changed to https.
      data: `${own}${page.at}/`,
      worker: canInstall ? `${own}${page.at}/offline/worker.js` : undefined,
      operations: operationSources(own, page.app.id, { hasBridge, hasKnobs }),
      libraries: `${own}${librariesPath}`,
      images: imageSources(own, page.app.id),
      frame: page.copyFrame ? own + page.copyFrame : `${apps ?? host}${address ?? framePath}`,
      ancestors: ["'self'", ...(kind === 'embed' ? this.embedders : [])].join(' '),
      isEmbed: kind === 'embed',
      apps,
    })
    const canEmbed = this.embedders.length > 0
    const { shares, shortcuts } = await readOwnManifest(this.source, page.app)
    const { needsList } = needs
    const isReceiver = shares !== undefined || shortcuts.length > 0
    const shown = { hasBridge, needsList, knobs, canEmbed, kind, isReceiver, canInstall }
    const options = { at: page.at, frame, origin: app, ...shown }
    return createEntity(compressText(shellPage(page.app, options, this.assets())), headers)
  }

  async data(page: CachedPage): Promise<Entity> {
    if (page.data) return page.data
    const html = await this.source.html(page.app)
    const headers = dataHeaders('text/plain; charset=utf-8', 'no-cache')
    const { needsList } = await this.needsOf(page)
    const content = { ...html, etag: html.sha256 }
    page.data = createEntity(content, { ...headers, ...(needsList && withList) })
    this.#keep(page)
    return page.data
  }

  /** Returns what the shell needs beside the HTML, as the entity of `list`. */
  async files(page: CachedPage, sender: () => SessionSender): Promise<Entity> {
    if (page.files) return page.files
    const list = await this.list(page, sender)
    const headers = dataHeaders('application/json', 'no-cache')
    const made = createEntity(compressText(JSON.stringify(list)), headers)
    // The list of a restricted app has the address of its visitor.
    if (page.app.restricted && list.frame !== undefined) return made
    page.files = made
    this.#keep(page)
    return made
  }

  /** Returns the files of a page and their address, and its libraries. */
  async list(page: CachedPage, sender: () => SessionSender) {
    const present = ({ name, type, bytes, sha256: hash }: HostedFile) => ({
      name,
      type,
      bytes,
      url: `${page.at}/files/${encodeURIComponent(name)}?h=${hash}`,
    })
    const files = (await this.source.files(page.app)).map(present)
    const libraries = await this.source.libraries?.(page.app)
    const { hasFiles, scripts } = await this.needsOf(page)
    const needs = { loader: Boolean(libraries), scripts }
    const address = await this.addressOf(page, sender)
    const table = await this.tableOf(page)
    return {
      files,
      ...((needs.loader || scripts.length > 0) && {
        libraries: this.libraryFiles.list(libraries ?? noLibraries, needs),
      }),
      ...(hasFiles && {
        page: table.page,
        frame: `${this.urls.apps ?? ''}${wrapperOf(address)}`,
        // The page of a copy reaches no address.
        ...(page.copyFrame !== undefined && {
          contents: [...table.files.values()]
            .filter(({ name }) => name !== table.page)
            .map(present),
        }),
      }),
    }
  }

  /** Returns what the content of a page needs, cached: each shell asks, and a page may be long. */
  needsOf(page: CachedPage): Promise<PageNeeds> {
    if (page.needs) return page.needs
    page.needs = this.#readNeeds(page)
    page.needs.catch(() => delete page.needs)
    return page.needs
  }

  async #readNeeds(page: CachedPage): Promise<PageNeeds> {
    const { identity, uses: known, hasLibraries } = await this.source.html(page.app)
    const { hasFiles, isFolder } = await this.tableOf(page)
    const bytes = Buffer.from(identity.buffer, identity.byteOffset, identity.byteLength)
    // A folder has scripts beside its page.
    const uses = known ?? findUses(bytes.toString())
    const scripts: ScriptName[] = []
    if (isFolder || usesDatabases(bytes)) scripts.push('databases')
    if (hasBridge(uses)) scripts.push('bridge')
    const knobs = bytes.includes(knobName) ? findKnobs(bytes.toString()) : []
    if (knobs.length > 0) scripts.push('knobs')
    scripts.push(...uses.shims)
    const hasAddress = hasFiles || hasUploads(uses)
    const needsList = hasLibraries === true || scripts.length > 0 || hasAddress
    return { hasFiles: hasAddress, scripts, knobs, needsList }
  }

  /** Updates the cached size of a page that grew, unless it was evicted. */
  #keep(page: CachedPage): void {
    if (this.#pages.peek(page.app.id) === page) this.#pages.set(page.app.id, page)
  }
}

const shellKey = (host: string, kind: ShellKind, language: Language, visitor = ''): string =>
  `${host} ${kind} ${language} ${visitor}`
const framePath = '/frame'

/** Returns the path of the wrapper of a page with files at an address, or of one without. */
const wrapperOf = (address: string | undefined): string =>
  address === undefined ? framePath : `${address}?wrapper`
