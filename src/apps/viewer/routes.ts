import { Elysia } from 'elysia'

import { createEntity, type Entity, entityResponse } from '../../kernel/http/entity.ts'
import { pathOf, senderOf } from '../../kernel/http/request-context.ts'
import { idPattern } from '../../kernel/ids.ts'
import { getPublicFile } from '../../kernel/public-files.ts'
import { escapeHtml } from '../../kernel/text.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { fileAddresses } from './file-addresses.ts'
import { librariesPath } from './library-files.ts'
import { codeIn, controllerPage, controllerPath, copyOf, copyRoutes } from './offline-copy.ts'
import { appManifest, manifestPath, readOwnManifest } from './own-manifest.ts'
import { installPage, installPath, messagePage, modulesPath } from './page.ts'
import { filesPath, type Pages } from './pages.ts'
import { dataHeaders, frameHeaders, messageHeaders, supportsWebrtcDirective } from './policy.ts'

type ViewedPage = NonNullable<Awaited<ReturnType<Pages['find']>>>

interface ViewerRequest {
  request: Request
  params: Record<string, string>
}

/** Messages for an app that cannot be opened, for its page and its data URLs. */
const messages = {
  not_found: {
    status: 404,
    title: msg('App not found'),
    text: msg(
      'There is no app at this link, or it is not shared with you. Check the address, or sign in.',
    ),
  },
  building: {
    status: 200,
    title: msg('Being built'),
    text: msg(
      'This app is being built, which takes about a minute. It opens here when it is ready.',
    ),
  },
  quarantined: {
    status: 403,
    title: msg('Warning: this may be unsafe'),
    text: msg(
      'This app was reported, or the safety check flagged it. It stays hidden until a moderator reviews it. If you entered a password in it, change that password.',
    ),
  },
  taken_down: {
    status: 410,
    title: msg('Taken down'),
    text: msg('This app broke the rules of this site and was removed. Its maker can appeal.'),
  },
  closed: {
    status: 410,
    title: msg('App deleted'),
    text: msg('The maker deleted this app.'),
  },
  not_embedded: {
    status: 403,
    title: msg('Not shown on other sites'),
    text: msg('Its maker or this site turned that off. Open it by its own link.'),
  },
} as const

type MessageName = keyof typeof messages

const quietLink = (href: string, label: string): string =>
  `<a class=quiet href="${escapeHtml(href)}">${escapeHtml(label)}</a>`

/** Leads to sign-in, and back to `next`. */
const signInLink = (next = ''): string =>
  quietLink(`/sign-in${next && `?next=${encodeURIComponent(next)}`}`, t('Sign in'))

/** Leads to the next step beside Explore. */
const linkOf = (word: MessageName, id: string): string => {
  if (word === 'taken_down') return quietLink(`/studio/${id}`, t('Appeal in the studio'))
  return word === 'not_found' ? signInLink() : ''
}

interface MessageOptions {
  /** From 0 to 1. */
  progress?: number
  /** The app of the message, where there is one. */
  id?: string
  /** Links beside the one to Explore, in place of that of the message. */
  links?: string
}

/** Returns a message page in the viewer's style. */
export function messageResponse(
  pages: Pages,
  word: MessageName,
  { progress, id = '', links = linkOf(word, id) }: MessageOptions = {},
): Response {
  const { status, title, text } = messages[word]
  const body = messagePage(t(title), t(text), pages.assets(), { progress, links })
  const { messageStyle, live } = pages.assets()
  const ancestors = word === 'not_embedded' ? '*' : undefined
  const script = progress === undefined ? undefined : live.hash
  const headers = messageHeaders(messageStyle.hash, script, ancestors)
  return new Response(body, { status, headers })
}

type DataMessageName = Exclude<MessageName, 'not_embedded'>

const codes = {
  not_found: [404, 'not_found'],
  building: [404, 'not_found'],
  quarantined: [403, 'held'],
  taken_down: [410, 'taken_down'],
  closed: [410, 'taken_down'],
} as const

function errorResponse(word: DataMessageName): Response {
  const { text } = messages[word]
  const [status, code] = codes[word]
  const headers = dataHeaders('application/json', 'no-store')
  return new Response(JSON.stringify({ error: String(text), code }), { status, headers })
}

type PageHandler = (
  pages: Pages,
  page: ViewedPage,
  input: ViewerRequest,
) => Response | Promise<Response>
type Route = [path: string, handler: (input: ViewerRequest) => Response | Promise<Response>]

/** Returns whether a request may open a page. An unknown one takes as long as a forbidden one. */
async function isOpen(pages: Pages, id: string, page: ViewedPage | undefined, request: Request) {
  if (page && !page.app.restricted) return true
  return (await pages.source.findPass?.(id, senderOf(request))) !== undefined
}

/** Finds the page of a public link that a request may open; undefined for all others. */
async function findOpen(pages: Pages, id: string, request: Request) {
  const page = await pages.find(id)
  return (await isOpen(pages, id, page, request)) ? page : undefined
}

/** Opens the page of an app, or the message why it has none. */
async function openPage(
  pages: Pages,
  { request, params }: ViewerRequest,
  isEmbed = false,
): Promise<Response> {
  const id = params['id'] ?? ''
  const page = await pages.find(id)
  const mayOpen = await isOpen(pages, id, page, request)
  if (!page || !mayOpen) return closedResponse(pages, id, isEmbed ? undefined : page?.app.lockedAt)
  const { state } = page.app
  if (state === 'building') {
    const progress = (await pages.source.buildProgress?.(page.app)) ?? 0
    return messageResponse(pages, state, { progress })
  }
  if (state !== 'live') return messageResponse(pages, state, { id })
  // Browsers send frames of other sites no cookie that opens a restricted app.
  const canEmbed = page.app.embeds === true && !page.app.restricted && pages.embedders.length > 0
  if (isEmbed && !canEmbed) return messageResponse(pages, 'not_embedded')
  await recordVisitor(pages, page, { request, params })
  return unstored(page, entityResponse(request, await pages.shell(page, request, isEmbed)))
}

/** Runs a handler for a live app; otherwise returns a JSON error. */
const forLiveApp =
  (pages: Pages, make: PageHandler) =>
  async (input: ViewerRequest): Promise<Response> => {
    const page = await findOpen(pages, input.params['id'] ?? '', input.request)
    if (!page) return errorResponse('not_found')
    const { state } = page.app
    return state === 'live' ? unstored(page, await make(pages, page, input)) : errorResponse(state)
  }

/** Keeps caches from storing what not everyone may open. */
function unstored({ app }: ViewedPage, response: Response): Response {
  if (app.restricted) response.headers.set('cache-control', 'private, no-store')
  return response
}

/** Runs a handler for one version of an app that the requester may preview, uncached. */
const forPreview =
  (pages: Pages, make: PageHandler) =>
  async (input: ViewerRequest): Promise<Response> => {
    const { id = '', version = '' } = input.params
    const page = await pages.preview(id, version, input.request)
    const response = page ? await make(pages, page, input) : messageResponse(pages, 'not_found')
    response.headers.set('cache-control', 'private, no-store')
    return response
  }

const shell: PageHandler = async (pages, page, { request }) =>
  entityResponse(request, await pages.shell(page, request))

const data: PageHandler = async (pages, page, { request }) =>
  entityResponse(request, await pages.data(page))

const files: PageHandler = async (pages, page, { request }) =>
  entityResponse(request, await pages.files(page, () => senderOf(request)))

/** Serves a page of a folder as data, to the shell. */
const file: PageHandler = async (pages, page, { request, params }) => {
  const rows = await pages.source.files(page.app)
  const row = rows.find(({ name }) => name === params['name'])
  const content = row && (await pages.source.file(row))
  if (!content) return errorResponse('not_found')
  const { type, sha256 } = row
  // A URL that contains the content hash never changes. `private` keeps removed apps out of shared
  // caches.
  const named = new URL(request.url).searchParams.get('h') === sha256
  const cache = named ? 'private, max-age=31536000, immutable' : 'no-cache'
  return entityResponse(
    request,
    createEntity({ etag: sha256, ...content }, dataHeaders(type, cache)),
  )
}

/** Serves the QR code of the public link as SVG, or that of a code for phones as controllers. */
const qrCode: PageHandler = async (pages, { app }, { request }) => {
  const { renderSVG } = await import('uqr')
  const code = codeIn(request, 'controller')
  const url =
    code === ''
      ? `${pages.urls.app}/a/${app.id}`
      : `${pages.originFor(request)}${controllerPath(`/a/${app.id}`)}?code=${code}`
  const svg = renderSVG(url, { border: 2 })
  const headers = dataHeaders('image/svg+xml', 'max-age=86400')
  return new Response(svg, { headers })
}

/** Serves the manifest with which a browser installs the app. */
const manifest: PageHandler = async (pages, page) => {
  const own = await readOwnManifest(pages.source, page.app)
  const hasCopy = (await copyOf(pages, page)) !== undefined
  return new Response(appManifest(page.app, own, hasCopy), {
    headers: dataHeaders('application/manifest+json', 'no-cache'),
  })
}

/** Opens an app whose worker is gone, so that nothing takes the files that are shared with it. */
const openWithoutFiles = (request: Request): Response =>
  new Response(null, { status: 303, headers: { location: pathOf(request.url) } })

/** Renders a page in the language of its visitor. */
const inOwnLanguage =
  (pages: Pages, render: Route[1]): Route[1] =>
  (input) =>
    pages.source.inLanguageOf
      ? pages.source.inLanguageOf(input.request, () => render(input))
      : render(input)

/** Serves a page about an app that a request may open. */
const aboutApp = (
  pages: Pages,
  make: (page: ViewedPage, request: Request) => Response | Promise<Response>,
): Route[1] =>
  inOwnLanguage(pages, async ({ request, params }) => {
    const id = params['id'] ?? ''
    const page = await findOpen(pages, id, request)
    return page?.app.state === 'live' ? make(page, request) : closedResponse(pages, id, undefined)
  })

/** Streams new versions to an open page, and "closed" where its app is not open, or not to it. */
const now =
  (pages: Pages): Route[1] =>
  ({ request, params }) =>
    pages.source.watch?.(request, async () => {
      const page = await findOpen(pages, params['id'] ?? '', request)
      return page?.app.state === 'live' ? page.app : undefined
    }) ?? errorResponse('not_found')

/** Serves a library file to the shell of any app. */
async function libraryFile(pages: Pages, { request, params }: ViewerRequest): Promise<Response> {
  const entity = await pages.libraryFiles.find(params['sha256'] ?? '')
  return entity ? entityResponse(request, entity) : errorResponse('not_found')
}

/** Serves a module that shells load after their app has started; none of another release. */
function shellModule({ assets }: Pages, { request }: ViewerRequest): Response {
  const found = assets().modules.get(pathOf(request.url))
  return found ? entityResponse(request, found) : errorResponse('not_found')
}

/** Serves the wrapper of pages without files, only into a frame. */
function frame(pages: Pages): (input: ViewerRequest) => Response {
  const page = getPublicFile(pages.public, 'frame/frame.html')
  const made = new Map<boolean, Entity>()
  return ({ request }) => {
    const into = request.headers.get('sec-fetch-dest')
    if (!pages.isAppsHost(request) || (into !== null && into !== 'iframe'))
      return messageResponse(pages, 'not_found')
    const hasWebrtc = supportsWebrtcDirective(request.headers.get('user-agent') ?? '')
    const kept =
      made.get(hasWebrtc) ?? createEntity(page, frameHeaders({ ...pages.framing, hasWebrtc }))
    made.set(hasWebrtc, kept)
    return entityResponse(request, kept)
  }
}

/** Records that a visitor opened the app, by its link or its data URL. */
async function recordVisitor(
  { source: hosted }: Pages,
  { app }: ViewedPage,
  { request }: ViewerRequest,
): Promise<void> {
  if (request.method === 'GET') hosted.recordOpen(app, request)
  await hosted.recordUse?.(app, request)
}

/** Leads to the page that asks for a password, or says that there is no app. */
function closedResponse(pages: Pages, id: string, location: string | undefined): Response {
  const next = idPattern.test(id) ? `/a/${id}` : ''
  if (location === undefined)
    return messageResponse(pages, 'not_found', { links: signInLink(next) })
  return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } })
}

const appPath = '/a/:id'

/** Routes of public links: the shell, the sandbox wrapper, and an app's HTML and files as data. */
export function viewerRoutes(pages: Pages) {
  const routes: Route[] = [
    [appPath, inOwnLanguage(pages, (input) => openPage(pages, input))],
    ['/a/:id/embed', inOwnLanguage(pages, (input) => openPage(pages, input, true))],
    [
      '/a/:id/data',
      forLiveApp(pages, async (_, page, input) => {
        await recordVisitor(pages, page, input)
        return data(pages, page, input)
      }),
    ],
    ['/a/:id/qr.svg', forLiveApp(pages, qrCode)],
    ['/a/:id/now', now(pages)],
    [manifestPath('/a/:id'), forLiveApp(pages, manifest)],
    [
      installPath('/a/:id'),
      aboutApp(pages, async (page) =>
        installPage(page.app, pages.assets(), (await copyOf(pages, page)) !== undefined),
      ),
    ],
    [
      controllerPath('/a/:id'),
      aboutApp(pages, ({ app }, request) =>
        controllerPage(app, {
          code: codeIn(request, 'code'),
          host: pages.hostOf(request),
          assets: pages.assets(),
        }),
      ),
    ],
    ...copyRoutes(pages).map(([path, respond]): Route => [path, inOwnLanguage(pages, respond)]),
    ['/a/:id/files', forLiveApp(pages, files)],
    ['/a/:id/files/:name', forLiveApp(pages, file)],
    ['/a/:id/versions/:version', inOwnLanguage(pages, forPreview(pages, shell))],
    ['/a/:id/versions/:version/data', forPreview(pages, data)],
    ['/a/:id/versions/:version/files', forPreview(pages, files)],
    ['/a/:id/versions/:version/files/:name', forPreview(pages, file)],
    [`${librariesPath}:sha256`, (input) => libraryFile(pages, input)],
    [`${modulesPath}:name`, (input) => shellModule(pages, input)],
    ['/frame', frame(pages)],
  ]
  const plugin = new Elysia({ name: 'viewer' })
  const addresses = fileAddresses(pages)
  const { appsHost } = pages
  plugin.onRequest(({ request }) => {
    const path = pathOf(request.url)
    // No route, redirect or error page of the site is below this path.
    if (path.startsWith(filesPath)) return addresses.fromMemory(request) ?? addresses.serve(request)
    // The separate host of apps serves nothing else but the wrapper.
    if (appsHost === undefined || request.headers.get('host') !== appsHost) return undefined
    return path === '/frame' ? undefined : messageResponse(pages, 'not_found')
  })
  // The body stays unread.
  plugin.post(appPath, ({ request }) => openWithoutFiles(request), { parse: 'none' })
  for (const [path, handler] of routes) {
    // Destructure: given the whole context, the router would parse cookies and query.
    plugin.get(path, ({ request, params }) => handler({ request, params }))
    plugin.head(path, ({ request, params }) => handler({ request, params }))
  }
  return plugin
}
