import type { Urls } from '../../kernel/config/urls.ts'
import { isLocalHost, isOwnAddress, nameOf, parseHost } from '../../kernel/http/host.ts'

/**
 * Returns the check of `Host` and `Origin` against DNS rebinding: no page of another site may call
 * tools through a visitor's browser. A name that only a local network resolves can be the Host, but
 * another device of that network cannot be the Origin. Ports are ignored, because proxies and
 * containers change them.
 */
export function hostCheck({ base, gateway, app, mcp }: Urls) {
  const own = new Set([
    'localhost',
    ...[base, gateway, app, mcp].map((url) => nameOf(new URL(url))),
  ])
  const isOwn = (name: string): boolean => own.has(name) || isOwnAddress(name)
  return (request: Request): boolean => {
    const host = nameOf(parseHost(request))
    const origin = request.headers.get('origin')
    if (host === undefined || !(isOwn(host) || isLocalHost(host))) return false
    const page = nameOf(URL.parse(origin ?? ''))
    return origin === null || (page !== undefined && (isOwn(page) || page === host))
  }
}
