import { ipVersion, isLocalName } from './address.ts'
import { lazy } from './lazy.ts'
import { errorCodeOf } from './text.ts'

/** The reason for which a fetch failed: the URL, a private address, redirects, or the length. */
export type FetchFailure = 'address' | 'inside' | 'redirects' | 'too_long'

/** A fetch that was blocked or cut off. The message never contains the URL. */
export class GuardedFetchError extends Error {
  constructor(readonly reason: FetchFailure) {
    super(`not fetched: ${reason}`)
    this.name = 'GuardedFetchError'
  }
}

/** The limits of a fetch. */
export interface FetchBounds {
  /** Bytes of the body. Without it the body is not read. */
  bytesMax?: number
  ms: number
  /** 3 by default. Each redirect passes the same checks. */
  redirectsMax?: number
}

interface FetchInput {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/** Resolves names and tells public addresses from private ones. Tests replace it. */
export interface Network {
  resolve(name: string): Promise<string[]>
  isPublic(address: string): boolean
}

/** Networks of the special-purpose registries (RFC 6890 and successors) that are not global. */
const specialNetworks = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
  2001::/23 2001:db8::/32 2002::/16 3fff::/20
`

/**
 * Returns the special networks, and the global unicast range of IPv6. Mapped, translated, local and
 * multicast addresses lie outside it. The start of the server does not load node:net.
 */
const blockLists = lazy(() => {
  const { BlockList } = process.getBuiltinModule('node:net')
  const [special, global6] = [new BlockList(), new BlockList()]
  for (const network of specialNetworks.trim().split(/\s+/)) {
    const [start = '', prefix] = network.split('/')
    special.addSubnet(start, Number(prefix), start.includes(':') ? 'ipv6' : 'ipv4')
  }
  global6.addSubnet('2000::', 3, 'ipv6')
  return { special, global6 }
})

/** Checks whether an IP address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const { special, global6 } = blockLists()
  const family = ipVersion(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && global6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/**
 * Parses an http(s) URL whose host may be public, judged by its text alone: every spelling of a
 * number becomes its address (WHATWG URL). Returns undefined for any other text.
 */
export function publicUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const host = hostOf(url)
  if (ipVersion(host) !== 0) return isPublicAddress(host) ? url : undefined
  return isLocalName(host) ? undefined : url
}

/** Returns the host without the brackets of IPv6 and without a dot at its end. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '')

const network: Network = {
  resolve: async (name) => {
    const { lookup } = await import('node:dns/promises')
    return (await lookup(name, { all: true })).map(({ address }) => address)
  },
  isPublic: isPublicAddress,
}

/** A network without private addresses, for URLs that the operator chose. */
export const anyNetwork: Network = { ...network, isPublic: () => true }

/**
 * Fetches a URL that a client chose, within bounds of bytes, time and redirects. It connects only
 * to public addresses. It resolves a name once, so that it connects to the address that it checked.
 * Throws GuardedFetchError and the errors of the network.
 */
export async function fetchGuarded(
  text: string,
  init: FetchInput,
  bounds: FetchBounds,
  signal: AbortSignal | undefined,
  net = network,
): Promise<Response> {
  const limit = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(bounds.ms)])
  let target = text
  for (let hops = bounds.redirectsMax ?? 3; hops >= 0; hops -= 1) {
    const response = await fetchPublic(target, init, limit, net)
    const location = response.headers.get('location')
    const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== null
    if (!isRedirect) return readBounded(response, bounds.bytesMax)
    await response.body?.cancel()
    // A body is sent only to the URL that it was meant for.
    if (init.method !== undefined && init.method !== 'GET') break
    target = URL.parse(location, target)?.href ?? ''
  }
  throw new GuardedFetchError('redirects')
}

async function fetchPublic(
  target: string,
  init: FetchInput,
  signal: AbortSignal,
  net: Network,
): Promise<Response> {
  const url = URL.parse(target)
  if (!url || !/^https?:$/.test(url.protocol)) throw new GuardedFetchError('address')
  const name = hostOf(url)
  const addresses = ipVersion(name) === 0 ? await net.resolve(name) : [name]
  const [address] = addresses
  // One private address blocks the name, because the next lookup might return it first.
  if (address === undefined || !addresses.every((one) => net.isPublic(one))) {
    throw new GuardedFetchError('inside')
  }
  const { host } = url
  url.hostname = ipVersion(address) === 6 ? `[${address}]` : address
  url.username = url.password = ''
  return fetch(url, {
    ...init,
    headers: { 'accept-encoding': 'identity', ...init.headers, host },
    redirect: 'manual',
    keepalive: false,
    signal,
    tls: { serverName: name },
  })
}

async function readBounded(response: Response, bytesMax: number | undefined): Promise<Response> {
  const { status, headers } = response
  if (bytesMax === undefined) {
    await response.body?.cancel()
    return new Response(null, { status, headers })
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new GuardedFetchError('too_long')
    chunks.push(chunk)
  }
  const hasNoBody = [204, 205, 304].includes(status)
  return new Response(hasNoBody ? null : Buffer.concat(chunks), { status, headers })
}

/** A failed request. Its message contains no address and no key. */
export class FetchJsonError extends Error {
  constructor(
    message: string,
    /** The status of the response; undefined without one. */
    readonly status?: number,
  ) {
    super(message)
  }
}

/**
 * Fetches JSON of at most `bytesMax` bytes. It does not follow redirects, which would leak keys.
 * Throws an error for `describeFailure`.
 */
export async function fetchJson(
  request: Request,
  { signal, bytesMax }: { signal: AbortSignal; bytesMax: number },
): Promise<unknown> {
  const response = await fetch(request, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw new FetchJsonError(classifyNetworkError(error, signal))
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new FetchJsonError(`status ${response.status}`, response.status)
  }
  const { text, isComplete } = await readStart(response, bytesMax)
  if (!isComplete) throw new FetchJsonError('too long')
  return JSON.parse(text)
}

/** Returns a loggable reason: messages of network errors may contain an address with a key. */
export const describeFailure = (error: unknown): string =>
  error instanceof FetchJsonError ? error.message : error instanceof Error ? error.name : 'unknown'

/** Reads at most `bytesMax` bytes of a body as text. It does not wait for the rest. */
export async function readStart(
  response: Response,
  bytesMax: number,
): Promise<{ text: string; isComplete: boolean }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > bytesMax) break
  }
  const text = Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
  return { text, isComplete: bytes <= bytesMax }
}

/** The reasons for which a request got no response. */
export type NetworkProblem = 'timeout' | 'aborted' | 'unreadable' | 'refused' | 'reset'

/** Classifies an error of `fetch`; `signal` is the caller's. */
export function classifyNetworkError(error: unknown, signal: AbortSignal): NetworkProblem {
  if (signal.aborted) return isTimeout(signal.reason) ? 'timeout' : 'aborted'
  const code = errorCodeOf(error)
  if (/^(Malformed|Invalid)|header/i.test(code)) return 'unreadable'
  return /^(ECONNREFUSED|ENOTFOUND|EPROTO|E(HOST|NET)UNREACH)|CERT/.test(code) ? 'refused' : 'reset'
}

const isTimeout = (reason: unknown): boolean =>
  reason instanceof Error && reason.name === 'TimeoutError'
