import { createEntity, type Entity, entityResponse } from '../../kernel/http/entity.ts'
import { senderOf } from '../../kernel/http/request-context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { getPublicFile } from '../../kernel/public-files.ts'
import { librariesPath } from './library-files.ts'
import { latePath } from './page.ts'
import type { Pages } from './pages.ts'
import { dataHeaders, frameHeaders, supportsWebrtcDirective, workerHeaders } from './policy.ts'

type CopiedPage = NonNullable<Awaited<ReturnType<Pages['copyOf']>>>

const keyChars = 32

const tagOf = ({ variants }: Entity): string => variants.at(-1)?.etag ?? ''

/** Returns the wrapper of a copy. The browser frames it only as its worker has it. */
function wrapper(pages: Pages, request: Request) {
  const page = getPublicFile(pages.public, 'frame/frame.html')
  const hasWebrtc = supportsWebrtcDirective(request.headers.get('user-agent') ?? '')
  // It is on the host of the site, with other pages.
  const headers = frameHeaders({ ...pages.framing, isSeparate: false, hasWebrtc })
  return { entity: createEntity(page, headers), headers }
}

/** Returns the parts of the copy of a page, and a key that changes with each of them. */
async function list(pages: Pages, page: CopiedPage, request: Request): Promise<Response> {
  const { at } = page
  const sender = () => senderOf(request)
  const shell = await pages.shell(page, request)
  const [data, files] = [await pages.data(page), await pages.files(page, sender)]
  const { entity, headers } = wrapper(pages, request)
  const { libraries } = await pages.list(page, sender)
  const { loader, script, files: libraryFiles = [] } = { loader: '', script: '', ...libraries }
  const shared = [pages.assets.latePath, loader, script, ...libraryFiles.map(({ url }) => url)]
  const tags = [shell, data, files, entity].map(tagOf)
  const key = sha256(JSON.stringify([tags, headers])).slice(0, keyChars)
  const parts = ['page', 'data', 'files', 'frame'].map((name) => `${at}/${name}`)
  return Response.json(
    { key, parts: [...parts, ...shared.filter((url) => url !== '')] },
    { headers: dataHeaders('application/json', 'no-cache') },
  )
}

/** Returns the worker that opens the copy of a page, for the path of its app alone. */
function worker(pages: Pages, page: CopiedPage, request: Request): Response {
  const file = getPublicFile(pages.public, 'frame/offline-copy.js')
  const own = pages.hostOf(request)
  const scope = `/a/${page.app.id}`
  const paths = [scope, page.at, `${page.at}/`, librariesPath, latePath]
  const sources = paths.map((path) => own + path)
  return entityResponse(request, createEntity(file, workerHeaders(scope, sources.join(' '))))
}

type CopyHandler = (
  pages: Pages,
  page: CopiedPage,
  request: Request,
) => Response | Promise<Response>

/**
 * The worker of an app and what it fetches, by their paths below that of the app. None of it is a
 * document from the network.
 */
export const copyRoutes: readonly [path: string, destination: string, handler: CopyHandler][] = [
  ['/offline', 'empty', list],
  ['/offline/worker.js', 'serviceworker', worker],
  [
    '/offline/page',
    'empty',
    async (pages, page, request) => entityResponse(request, await pages.shell(page, request)),
  ],
  [
    '/offline/data',
    'empty',
    async (pages, page, request) => entityResponse(request, await pages.data(page)),
  ],
  [
    '/offline/files',
    'empty',
    async (pages, page, request) =>
      entityResponse(request, await pages.files(page, () => senderOf(request))),
  ],
  [
    '/offline/frame',
    'empty',
    (pages, _, request) => entityResponse(request, wrapper(pages, request).entity),
  ],
]
