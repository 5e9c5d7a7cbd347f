import { LRUCache } from 'lru-cache'

import { ApiError } from '../../kernel/errors.ts'
import {
  createEntity,
  type Entity,
  entityResponse,
  rangedResponse,
} from '../../kernel/http/entity.ts'
import { decodePath } from '../../kernel/http/path.ts'
import { pathOf } from '../../kernel/http/request-context.ts'
import { getPublicFile } from '../../kernel/public-files.ts'
import { findPageName } from '../folders/page-names.ts'
import { filesPath, type Pages } from './pages.ts'
import {
  frameHeaders,
  noFileHeaders,
  pageRequestHeaders,
  supportsWebrtcDirective,
} from './policy.ts'

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
  const parts = path.split('/').map(decodePath)
  return parts.some((part) => part === null || /[/\\]/.test(part)) ? undefined : parts.join('/')
}

/**
 * Returns the handler of all requests below `/f/`. Each gets the wrapper or a file of one version,
 * or 404. It never redirects: a redirect would lead browsers without Connection-Allowlist to other
 * paths of the host. Neither names nor queries are logged, so that a page cannot send by them.
 */
export function fileAddresses(pages: Pages): (request: Request) => Promise<Response> {
  const wrapper = wrappers(pages)
  return async (request) => {
    if (!/^(?:GET|HEAD)$/.test(request.method) || !pages.isAppsHost(request)) return noFile()
    const destination = destinationOf(request)
    if (rejected.test(destination) || request.headers.has('service-worker')) return noFile()
    const [token = '', ...rest] = pathOf(request.url).slice(filesPath.length).split('/')
    const opened = pages.tokens.open(token)
    const name = nameOf(rest.join('/'))
    if (!opened || name === undefined || rest.length === 0) return noFile()
    const version = await pages.opened(opened).catch((error: unknown) => {
      // The version does not exist.
      if (error instanceof ApiError) return undefined
      throw error
    })
    if (!version) return noFile()
    const { app, table } = version
    if (destination === 'iframe') {
      const isWrapper = name === '' && request.url.endsWith('/?wrapper')
      if (isWrapper) return wrapper(request, `${filesPath}${token}/`)
      return findPageName(table.files, name) === undefined
        ? noFile()
        : new Response(pageRequestBody, { headers: pageRequestHeaders(pageRequestHash) })
    }
    const file = pages.versionFiles.find(table, name) ?? (await pages.source.upload?.(app.id, name))
    const entity = file && (await pages.versionFiles.entity(app, table, file))
    return entity ? rangedResponse(request, entity) : noFile()
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
