import { networkInterfaces } from 'node:os'

import type { Urls } from '../config/urls.ts'
import { ipVersion } from '../core/address.ts'

/**
 * Returns the check of `Host` and `Origin` against DNS rebinding: no page of another site may call
 * tools through a visitor's browser. Addresses of this machine are allowed, so that a LAN works.
 * Ports are ignored, because proxies and containers change them.
 */
export function hostCheck({ base, gateway, app, mcp }: Urls) {
  const own = new Set([
    'localhost',
    ...[base, gateway, app, mcp].map((url) => new URL(url).hostname),
  ])
  const isOwn = (name: string): boolean => own.has(name) || isLocalAddress(name)
  return (request: Request): boolean => {
    const host = request.headers.get('host')
    const origin = request.headers.get('origin')
    return isOwn(hostNameOf(`http://${host}`)) && (origin === null || isOwn(hostNameOf(origin)))
  }
}

/** Returns the host name of a URL without the dot of the root zone; '' for an invalid URL. */
function hostNameOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.hostname.replace(/\.$/, '') : ''
}

function isLocalAddress(name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1')
  if (ipVersion(address) === 0) return false
  if (/^127\./.test(address) || address === '::1') return true
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((own) => own.address === address),
  )
}
