import { answer } from '../core/entity.ts'
import { idChars } from '../core/ids.ts'
import { requestContextOf } from '../http/request-context.ts'
import type { Pages } from './pages.ts'

const shellChars = '/a/'.length + idChars

/**
 * What nearly every visit asks for, the shell and the page of a live app, from memory and without
 * the router, which costs as much as the rest together. Undefined leaves a request to the routes.
 */
export function quickAnswer(pages: Pages, request: Request, path: string): Response | undefined {
  if (!path.startsWith('/a/') || request.method !== 'GET') return undefined
  const page = pages.fresh(path.slice('/a/'.length, shellChars))
  if (page?.app.state !== 'live') return undefined
  const { headers } = request
  // Who comes with a key is taken note of, by the routes.
  if (headers.has('authorization') || headers.has('x-api-key')) return undefined
  const host = headers.get('host')
  if (host !== null && host === pages.appsHost) return undefined
  if (path.length === shellChars) {
    pages.hosted.opened(page.app, request)
    requestContextOf(request).route = '/a/:id'
    return answer(request, pages.shell(page, host))
  }
  if (!page.data || path.slice(shellChars) !== '/data') return undefined
  pages.hosted.opened(page.app, request)
  requestContextOf(request).route = '/a/:id/data'
  return answer(request, page.data)
}
