import { networkInterfaces } from 'node:os'

import type { Urls } from '../config/urls.ts'
import { familyOf } from '../core/address.ts'

/**
 * Whether a request comes to one of our own hosts and, where a browser names the page that sent it,
 * from one: a page of another site can have its name lead here (DNS rebinding), and no page of
 * another site may use a visitor's browser to call tools. Ports are not looked at, since a proxy or
 * a container may change them. Addresses of this machine are ours too, so that a LAN works.
 */
export function openHosts({ base, gateway, app, mcp }: Urls) {
  const own = new Set([
    'localhost',
    ...[base, gateway, app, mcp].map((url) => new URL(url).hostname),
  ])
  const isOwn = (name: string): boolean => own.has(name) || isOfMachine(name)
  return (request: Request): boolean => {
    const host = request.headers.get('host')
    const origin = request.headers.get('origin')
    return isOwn(nameOf(`http://${host}`)) && (origin === null || isOwn(nameOf(origin)))
  }
}

/** The host of an address, without the dot of the root behind it; '' for what is no address. */
function nameOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.hostname.replace(/\.$/, '') : ''
}

function isOfMachine(name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1')
  if (familyOf(address) === 0) return false
  if (/^127\./.test(address) || address === '::1') return true
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((own) => own.address === address),
  )
}
