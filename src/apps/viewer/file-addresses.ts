import { LRUCache } from 'lru-cache'

import { ApiError } from '../../kernel/errors.ts'
import {
  createEntity,
  type Entity,
  entityResponse,
  rangedResponse,
} from '../../kernel/http/entity.ts'
import { decodePath } from '../../kernel/http/path.ts'
import { pathOf, type RequestContext } from '../../kernel/http/request-context.ts'
import { getPublicFile } from '../../kernel/public-files.ts'
import { findPageName } from '../folders/page-names.ts'
import type { HostedFile } from './app-source.ts'
import type { OpenedToken } from './file-token.ts'
import { filesPath, filesRoute, type Pages } from './pages.ts'
import {
  frameHeaders,
  noFileHeaders,
  pageRequestHeaders,
  supportsWebrtcDirective,
} from './policy.ts'
import type { FileTable } from './version-files.ts'

const wrappersMax = 200
/** Destinations that would run a file as a document or a service worker. */
const rejected = /^(?:document|frame|object|embed|fencedframe|serviceworker)$/

/**
 * The document of a frame that a page leads to another page of its folder. It holds no byte of the
 * folder: it asks the shell, which knows the frame, to show that page.
 */
const pageRequest = `for(let at=self;at!==at.parent;){at=at.parent;at.postMessage({type:'service:page',url:location.href},'*')}`
const pageRequestBody = `<!doctype html><title>app</title><script>${pageRequest}</script>`
const pageRequestHash = `'sha256-${new Bun.CryptoHasher('sha256').update(pageRequest).digest('base64')}'`

const noFile = (): Response => new Response('Not found.\n', { status: 404, headers: noFileHeaders })

/** Origins without TLS get no Sec-Fetch headers, but their navigations accept HTML. */
const destinationOf = ({ headers }: Request): string =>
  headers.get('sec-fetch-dest') ??
  (headers.get('accept')?.includes('text/html') ? 'iframe' : 'empty')

/** Decodes the parts of a path, each once. No part may hold a slash of its own. */
function nameOf(path: string): string | undefined {
  if (!/[%\\]/.test(path)) return path
  const parts = path.split('/').map(decodePath)
  return parts.some((part) => part === null || /[/\\]/.test(part)) ? undefined : parts.join('/')
}

/** A request below `/f/` whose token this server or another one with its secret made. */
interface FileRequest {
  request: Request
  token: string
  opened: OpenedToken
  /** The file that it names, decoded. */
  name: string
  destination: string
}

/** Reads a request for a file or for the wrapper; undefined for all others. */
function readRequest(pages: Pages, request: Request): FileRequest | undefined {
  const { method, headers } = request
  if ((method !== 'GET' && method !== 'HEAD') || !pages.isAppsHost(request)) return undefined
  const destination = destinationOf(request)
  if (rejected.test(destination) || headers.has('service-worker')) return undefined
  const path = pathOf(request.url)
  const end = path.indexOf('/', filesPath.length)
  if (end < 0) return undefined
  const token = path.slice(filesPath.length, end)
  const opened = pages.tokens.open(token)
  const name = nameOf(path.slice(end + 1))
  return opened && name !== undefined ? { request, token, opened, name, destination } : undefined
}

/**
 * Returns the handlers of all requests below `/f/`. Each gets the wrapper or a file of one version,
 * or 404. It never redirects: a redirect would lead browsers without Connection-Allowlist to other
 * paths of the host. Neither names nor queries are logged, so that a page cannot send by them.
 */
export function fileAddresses(pages: Pages) {
  const wrapper = wrappers(pages)
  const { versionFiles } = pages
  /** Returns the response of an open version, or its file that has to be read for that. */
  const respond = (input: FileRequest, table: FileTable): Response | HostedFile | undefined => {
    const { request, token, name, destination } = input
    if (destination === 'iframe') {
      const isWrapper = name === '' && request.url.endsWith('/?wrapper')
      if (isWrapper) return wrapper(request, `${filesPath}${token}/`)
      return findPageName(table.files, name) === undefined
        ? noFile()
        : new Response(pageRequestBody, { headers: pageRequestHeaders(pageRequestHash) })
    }
    const file = versionFiles.find(table, name)
    const known = file && versionFiles.known(file)
    return known ? rangedResponse(request, known) : file
  }
  return {
    /**
     * Returns a response from memory, without a promise, which costs as much as all the rest
     * (docs/bench.md, viewer). Returns undefined where `serve` has to find or read something.
     */
    fromMemory(request: Request, context?: RequestContext): Response | undefined {
      // A name or a query could carry what a page knows.
      if (context) context.route = filesRoute
      const input = readRequest(pages, request)
      if (!input) return noFile()
      const table = pages.knownTable(input.opened)
      const found = table && respond(input, table)
      return found instanceof Response ? found : undefined
    },

    async serve(request: Request): Promise<Response> {
      const input = readRequest(pages, request)
      if (!input) return noFile()
      const version = await pages.opened(input.opened).catch((error: unknown) => {
        // The version does not exist.
        if (error instanceof ApiError) return undefined
        throw error
      })
      if (!version) return noFile()
      const { app, table } = version
      const found = respond(input, table)
      if (found instanceof Response) return found
      const file = found ?? (await pages.source.upload?.(app.id, input.name))
      const entity = file && (await versionFiles.entity(app, table, file))
      return entity ? rangedResponse(request, entity) : noFile()
    },
  }
}

/** Returns a function that serves the wrapper at the address of a version. */
function wrappers(pages: Pages) {
  const page = getPublicFile(pages.public, 'frame/files.html')
  const made = new LRUCache<string, Entity>({ max: wrappersMax })
  return (request: Request, path: string): Response => {
    const hasWebrtc = supportsWebrtcDirective(request.headers.get('user-agent') ?? '')
    const files = pages.fileSources(path, request)
    const key = `${files.join(' ')} ${hasWebrtc}`
    const kept =
      made.get(key) ?? createEntity(page, frameHeaders({ ...pages.framing, hasWebrtc, files }))
    made.set(key, kept)
    return entityResponse(request, kept)
  }
}
