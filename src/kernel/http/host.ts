import { networkInterfaces } from 'node:os'

import { ipVersion, isLocalAddress, isLocalName } from '../address.ts'
import { type Urls, urlsOf } from '../config/load.ts'
import type { Config } from '../config/settings.ts'

/** A name or an address with an optional port (RFC 9110, 7.2), without a user. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i

/** Parses the Host header of a request. Returns null for an invalid or missing one. */
export function parseHost({ headers }: Pick<Request, 'headers'>): URL | null {
  const host = headers.get('host') ?? ''
  return hostPattern.test(host) ? URL.parse(`http://${host}`) : null
}

/** Returns the name or address of an http(s) URL, without brackets and the last dot. */
export function nameOf(url: URL | null): string | undefined {
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  return url.hostname.replace(/^\[|\]$|\.$/g, '')
}

/**
 * Returns the function that finds the host which pages name. That is the host of APP_URL. Without
 * APP_URL it is the requested host, if that is configured or local. It is undefined for any other
 * (docs/operating.md, "Addresses").
 */
export function pageHosts(
  urls: Pick<Urls, 'app'> & Partial<Urls>,
  isConfigured: boolean,
): (request: Pick<Request, 'headers'>) => string | undefined {
  const { host: main } = new URL(urls.app)
  const own = new Set(Object.values(urls).map((url) => new URL(url).host))
  // Most requests have the host of the one before, whose parsing takes longer than a look-up.
  let last: { given: string; host: string } | undefined
  return (request) => {
    const given = request.headers.get('host')
    if (isConfigured || given === null || given === main) return main
    if (given === last?.given) return last.host
    const url = parseHost(request)
    const name = nameOf(url)
    if (!url || name === undefined) return undefined
    if (!own.has(url.host) && !isLocalHost(name)) return undefined
    last = { given, host: url.host }
    return url.host
  }
}

/**
 * Returns the public URLs as the client of a request reaches them: without APP_URL, at the host
 * that it requested, if pages name that one.
 */
export function urlsFor({ config, urls }: { config: Config; urls: Urls }, headers: Headers): Urls {
  const host = config.appUrl === '' ? pageHosts(urls, false)({ headers }) : undefined
  return host === undefined ? urls : urlsOf(config, `http://${host}`)
}

/** Without its own address, a server cannot link the parts of a page under a public name. */
export const wrongHostPage = (): Response =>
  new Response(
    'This server does not know the address that you opened. Open it by a local name or address, or set APP_URL to its public address and restart it.\n',
    { status: 421, headers: { 'content-type': 'text/plain; charset=utf-8' } },
  )

/** Checks whether a name or address is of a local network or of this machine. */
export const isLocalHost = (name: string): boolean =>
  ipVersion(name) === 0 ? isLocalName(name) : isLocalAddress(name) || isOwnAddress(name)

/** Checks whether an address is one of this machine. */
export const isOwnAddress = (address: string): boolean =>
  /^127\.|^::1$/.test(address) ||
  Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address))
