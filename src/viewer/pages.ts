import { LRUCache } from 'lru-cache'

import { compressed, type Entity, entity } from '../core/entity.ts'
import { idPattern } from '../core/ids.ts'
import { type PublicFile, readPublic } from '../core/public.ts'
import { type Clock, isWithin } from '../core/time.ts'
import type { Hosted, HostedApp, ViewerUrls } from './hosted.ts'
import { type Parts, partsOf, shellPage } from './page.ts'
import { dataHeaders, shellHeaders } from './policy.ts'

const cacheBytesMax = 64 * 1_048_576
const cachePagesMax = 10_000
const hostsPerPageMax = 4
/** After this long a page is compared with its app again, also when no change was told of. */
const trustMs = 500

/** What one app's addresses answer with, rendered and compressed when it is first asked for. */
interface Page {
  app: HostedApp
  /** The path of the shell, above its data and files. */
  at: string
  checked: number
  /** Of what hosting had committed when it was compared with its app. */
  commits: number | undefined
  shells: Map<string, Entity>
  data?: Entity
  files?: Entity
}

const hostPattern = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Bytes of an entity and all its variants, for the cache's account. */
const weight = (whole: Entity | undefined): number =>
  (whole?.variants ?? []).reduce((sum, { bytes }) => sum + bytes, 1_000)

/** The rendered pages of the viewer, kept in memory and compared with hosting after each change. */
export class Pages {
  readonly parts: Parts
  readonly public: Map<string, PublicFile>
  /** The apps' own host, where there is one. */
  readonly appsHost: string | undefined
  readonly #appHost: string
  readonly #pages = new LRUCache<string, Page>({
    max: cachePagesMax,
    maxSize: cacheBytesMax,
    sizeCalculation: (page) =>
      [...page.shells.values(), page.data, page.files].reduce((sum, part) => sum + weight(part), 0),
  })

  constructor(
    readonly hosted: Hosted,
    readonly urls: ViewerUrls,
    readonly clock: Clock,
    files: Map<string, PublicFile> = readPublic(),
  ) {
    this.public = files
    this.#appHost = new URL(urls.app).host
    this.appsHost = urls.apps === undefined ? undefined : new URL(urls.apps).host
    this.parts = partsOf(files)
  }

  /** The page of a public link when nothing was changed since it was compared, a moment ago. */
  fresh(id: string): Page | undefined {
    const kept = this.#pages.get(id)
    const isUnchanged = kept?.commits === this.hosted.commits?.()
    return kept && isUnchanged && isWithin(this.clock, kept.checked, trustMs) ? kept : undefined
  }

  /** The page of a public link as it is now; undefined when there is no such app. */
  async find(id: string): Promise<Page | undefined> {
    const fresh = this.fresh(id)
    if (fresh) return fresh
    const kept = this.#pages.get(id)
    const compared = { checked: this.clock.now(), commits: this.hosted.commits?.() }
    const app = idPattern.test(id) ? await this.hosted.find(id) : undefined
    if (!app) {
      this.#pages.delete(id)
      return undefined
    }
    const same =
      kept &&
      kept.app.version === app.version &&
      kept.app.updated === app.updated &&
      kept.app.state === app.state
    if (same) return Object.assign(kept, compared)
    const page: Page = { app, at: `/a/${id}`, ...compared, shells: new Map() }
    this.#pages.set(id, page)
    return page
  }

  /** The page of one version, for who may see that; kept by nobody. Undefined for anyone else. */
  async preview(id: string, version: string, request: Request): Promise<Page | undefined> {
    const isOne = idPattern.test(id) && /^[1-9]\d{0,5}$/.test(version)
    const app = isOne ? await this.hosted.preview?.(id, Number(version), request) : undefined
    const at = `/a/${id}/versions/${version}`
    return app && { app, at, checked: 0, commits: undefined, shells: new Map() }
  }

  /** `asked` is the request's own Host: one server may be reached by several names. */
  shell(page: Page, asked: string | null): Entity {
    const { app, apps } = this.urls
    const wanted = apps === undefined && asked !== null ? asked : this.#appHost
    const host = page.shells.has(wanted) || hostPattern.test(wanted) ? wanted : this.#appHost
    const known = page.shells.get(host)
    if (known) return known
    const frame = `${apps ?? ''}/frame`
    const headers = shellHeaders({
      scriptHash: this.parts.scriptHash,
      styleHash: this.parts.styleHash,
      // Without a scheme a source follows the page's own: a proxy may have added the s of https.
      data: `${apps === undefined ? host : app}${page.at}/`,
      frame: apps === undefined ? `${host}/frame` : frame,
      apps,
    })
    const made = entity(
      compressed(shellPage(page.app, { at: page.at, frame, origin: app }, this.parts)),
      headers,
    )
    if (page.shells.size >= hostsPerPageMax) page.shells.clear()
    page.shells.set(host, made)
    this.#keep(page)
    return made
  }

  async data(page: Page): Promise<Entity> {
    if (page.data) return page.data
    const { sha256: etag, ...content } = await this.hosted.html(page.app)
    const headers = dataHeaders('text/plain; charset=utf-8', 'no-cache')
    page.data = entity({ etag, ...content }, headers)
    this.#keep(page)
    return page.data
  }

  async files(page: Page): Promise<Entity> {
    if (page.files) return page.files
    const files = (await this.hosted.files(page.app)).map(
      ({ name, type, bytes, sha256: hash }) => ({
        name,
        type,
        bytes,
        url: `${page.at}/files/${encodeURIComponent(name)}?h=${hash}`,
      }),
    )
    const headers = dataHeaders('application/json', 'no-cache')
    page.files = entity(compressed(JSON.stringify({ files })), headers)
    this.#keep(page)
    return page.files
  }

  /** Weighs a page again after it grew, unless it was dropped meanwhile. */
  #keep(page: Page): void {
    if (this.#pages.peek(page.app.id) === page) this.#pages.set(page.app.id, page)
  }
}
