import { Html, html } from '../../kernel/html.ts'
import { createEntity, type Entity, entityResponse } from '../../kernel/http/entity.ts'
import { senderOf } from '../../kernel/http/request-context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { getPublicFile } from '../../kernel/public-files.ts'
import { escapeHtml } from '../../kernel/text.ts'
import { t } from '../../kernel/words/message.ts'
import { languageAttributes, scriptWords } from '../../kernel/words/words.ts'
import type { HostedApp } from './app-source.ts'
import type { CachedPage } from './cached-page.ts'
import { librariesPath } from './library-files.ts'
import { readOwnManifest } from './own-manifest.ts'
import { head, modulesPath, type PageAssets } from './page.ts'
import type { Pages } from './pages.ts'
import {
  controllerHeaders,
  dataHeaders,
  frameHeaders,
  operationSources,
  supportsWebrtcDirective,
  workerHeaders,
} from './policy.ts'

/** Bounds of the files of a copy. A page gets all of them before it starts. */
const copyFilesMax = 200
const copyBytesMax = 10 * 1_048_576

const keyChars = 32

/** Returns the page of an app as its installed copy has it; undefined where it has none. */
export async function copyOf(pages: Pages, page: CachedPage): Promise<CachedPage | undefined> {
  const { app } = page
  // A browser keeps no copy of what not everyone may open.
  if (app.state !== 'live' || app.restricted) return undefined
  const files = [...(await pages.tableOf(page)).files.values()]
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (files.length > copyFilesMax || bytes > copyBytesMax) return undefined
  const needs = pages.needsOf(page)
  const at = `${page.at}/offline`
  const { files: _, ...cached } = page
  return { ...cached, needs, app: { ...app, cover: null }, at, copyFrame: `${at}/frame` }
}

const tagOf = ({ variants }: Entity): string => variants.at(-1)?.etag ?? ''

/**
 * Returns the wrapper of a copy. The browser frames it only as its worker has it. Its page reaches
 * no network: the address of its files only resolves their names.
 */
async function wrapper(pages: Pages, page: CachedPage, request: Request) {
  const address = await pages.addressOf(page, () => senderOf(request))
  const name = address === undefined ? 'frame' : 'copied'
  const hasWebrtc = supportsWebrtcDirective(request.headers.get('user-agent') ?? '')
  const headers = frameHeaders({
    ...pages.framing,
    // It is on the host of the site, with other pages.
    isSeparate: false,
    hasWebrtc,
    base: address === undefined ? undefined : pages.fileSources(address, request),
  })
  return {
    entity: createEntity(getPublicFile(pages.public, `frame/${name}.html`), headers),
    headers,
  }
}

/**
 * Returns the parts of the copy of a page, a key that changes with each of them, and whether the
 * worker takes shared files.
 */
async function list(pages: Pages, page: CachedPage, { request }: CopyRequest): Promise<Response> {
  const { at } = page
  const sender = () => senderOf(request)
  const shell = await pages.shell(page, request)
  const [data, files] = [await pages.data(page), await pages.files(page, sender)]
  const { entity, headers } = await wrapper(pages, page, request)
  const { libraries, contents = [] } = await pages.list(page, sender)
  const { loader, script, files: libraryFiles = [] } = { loader: '', script: '', ...libraries }
  const urls = [...libraryFiles, ...contents].map(({ url }) => url)
  const shared = [pages.assets().latePath, loader, script, ...urls]
  const tags = [shell, data, files, entity].map(tagOf)
  const takesFiles = (await readOwnManifest(pages.source, page.app)).shares === 'files'
  const key = sha256(JSON.stringify([tags, headers, takesFiles])).slice(0, keyChars)
  const parts = ['page', 'data', 'files', 'frame'].map((name) => `${at}/${name}`)
  return Response.json(
    { key, takesFiles, parts: [...parts, ...shared.filter((url) => url !== '')] },
    { headers: dataHeaders('application/json', 'no-cache') },
  )
}

/** Returns the worker that opens the copy of a page, for the path of its app alone. */
function worker(pages: Pages, page: CachedPage, { request }: CopyRequest): Response {
  const file = getPublicFile(pages.public, 'frame/offline-copy.js')
  const own = pages.hostOf(request)
  const scope = `/a/${page.app.id}`
  const paths = [scope, page.at, `${page.at}/`, librariesPath, modulesPath]
  const sources = paths.map((path) => own + path)
  return entityResponse(request, createEntity(file, workerHeaders(scope, sources.join(' '))))
}

/** Serves a file of a copy as data, by its name and hash. */
async function file(
  pages: Pages,
  page: CachedPage,
  { request, params }: CopyRequest,
): Promise<Response> {
  const table = await pages.tableOf(page)
  const found = table.files.get(params['name'] ?? '')
  const isNamed = new URL(request.url).searchParams.get('h') === found?.sha256
  const entity = found && isNamed && (await pages.versionFiles.entity(page.app, table, found))
  if (!entity) return noCopyResponse()
  const response = entityResponse(request, entity)
  response.headers.set('content-disposition', 'attachment')
  return response
}

interface CopyRequest {
  request: Request
  params: Record<string, string>
}

type CopyHandler = (
  pages: Pages,
  page: CachedPage,
  input: CopyRequest,
) => Response | Promise<Response>

/** Says that there is no copy, by a code that no proxy sends: the worker then removes its copy. */
const noCopyResponse = (): Response =>
  Response.json(
    { error: 'This app has no offline copy. Open it with a network.', code: 'no_copy' },
    { status: 404, headers: dataHeaders('application/json', 'no-store') },
  )

/**
 * The worker of an app and what it fetches, by their paths below that of the app. None of it is a
 * document from the network.
 */
const routes: readonly [path: string, destination: string, handler: CopyHandler][] = [
  ['', 'empty', list],
  ['/worker.js', 'serviceworker', worker],
  [
    '/page',
    'empty',
    async (pages, page, { request }) => entityResponse(request, await pages.shell(page, request)),
  ],
  [
    '/data',
    'empty',
    async (pages, page, { request }) => entityResponse(request, await pages.data(page)),
  ],
  [
    '/files',
    'empty',
    async (pages, page, { request }) =>
      entityResponse(request, await pages.files(page, () => senderOf(request))),
  ],
  ['/files/:name', 'empty', file],
  [
    '/frame',
    'empty',
    async (pages, page, { request }) =>
      entityResponse(request, (await wrapper(pages, page, request)).entity),
  ],
]

/** Returns the routes of the copy of an app, which its installed worker opens offline. */
export const copyRoutes = (
  pages: Pages,
): [path: string, handler: (input: CopyRequest) => Promise<Response>][] =>
  routes.map(([path, destination, respond]) => [
    `/a/:id/offline${path}`,
    async (input) => {
      const into = input.request.headers.get('sec-fetch-dest')
      const isMeant = into === null || into === destination
      const page = isMeant ? await pages.find(input.params['id'] ?? '') : undefined
      const copy = page && (await copyOf(pages, page))
      return copy ? respond(pages, copy, input) : noCopyResponse()
    },
  ])

/** Returns the path of the page that makes a phone a controller of the app at a path. */
export const controllerPath = (at: string): string => `${at}/controller`

const codePattern = /^[A-Z2-9]{5}$/

/** Returns the code of controllers in the query of a request, or ''. */
export function codeIn({ url }: Pick<Request, 'url'>, name: string): string {
  const code = new URL(url).searchParams.get(name) ?? ''
  return codePattern.test(code) ? code : ''
}

interface ControllerOptions {
  /** The code of the large screen, or '' to ask for it. */
  code: string
  /** The host by which the phone reaches this server. */
  host: string
  assets: PageAssets
}

/**
 * Renders the page that makes a phone a controller of an app on a large screen (`service.room`).
 * The app itself does not run in it.
 */
export function controllerPage(
  app: HostedApp,
  { code, host, assets }: ControllerOptions,
): Response {
  const body = html`<header>
      <h1 dir="auto">${app.title}</h1>
      <p id="player" role="status" hidden></p>
    </header>
    <main>
      <form>
        <h2>Use this phone as a controller</h2>
        <label
          >Code on the large screen<input
            value="${code}"
            maxlength="5"
            dir="ltr"
            autocapitalize="characters"
            autocomplete="off"
            autocorrect="off"
            spellcheck="false"
            required
        /></label>
        <p>
          This app shares what you do in it with its other players and its maker,
          <bdi>@${app.maker}</bdi>.
        </p>
        <button>Connect</button>
        <p id="status" role="status">
          <noscript>A controller needs JavaScript. Turn it on.</noscript>
        </p>
      </form>
      <section id="pad" aria-label="Controller" hidden></section>
    </main>
    ${new Html(scriptWords('bridge'))}`.text
  return new Response(
    `<!doctype html><html ${languageAttributes()} data-app=${app.id} data-maker="@${escapeHtml(app.maker)}">
${head(t('Controller of {title}', { title: app.title }), assets.controllerStyle.text, '')}
<body>${body}<script>${assets.controller.text}</script>`,
    {
      headers: controllerHeaders({
        scriptHash: assets.controller.hash,
        styleHash: assets.controllerStyle.hash,
        operations: operationSources(host, app.id, { hasBridge: true, hasKnobs: false }),
      }),
    },
  )
}
