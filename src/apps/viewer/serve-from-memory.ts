import { entityResponse } from '../../kernel/http/entity.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { idChars } from '../../kernel/ids.ts'
import { mayBeSignedIn } from '../../people/sessions.ts'
import type { Pages } from './pages.ts'

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
  if (page?.app.state !== 'live' || page.app.restricted) return undefined
  const { headers } = request
  // The routes record the agent of a request with a key, and the person of a session.
  if (headers.has('authorization') || headers.has('x-api-key')) return undefined
  if (mayBeSignedIn(request, context)) return undefined
  if (pages.appsHost !== undefined && headers.get('host') === pages.appsHost) return undefined
  if (path.length === shellChars) {
    const shell = pages.knownShell(page, request)
    if (!shell) return undefined
    pages.source.recordOpen(page.app, request, context)
    context.route = '/a/:id'
    return entityResponse(request, shell)
  }
  if (!page.data || path.slice(shellChars) !== '/data') return undefined
  pages.source.recordOpen(page.app, request, context)
  context.route = '/a/:id/data'
  return entityResponse(request, page.data)
}
