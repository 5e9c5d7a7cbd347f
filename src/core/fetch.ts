import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Why an address that somebody sent was not fetched, or not to its end. */
export type Unfetched = 'address' | 'inside' | 'redirects' | 'too_long'

/** The message names the reason and never the address. */
export class NotFetched extends Error {
  constructor(readonly why: Unfetched) {
    super(`not fetched: ${why}`)
    this.name = 'NotFetched'
  }
}

/** What a fetch of somebody's address may take. */
export interface Bounds {
  /** Left out, only its head counts, and what follows is not read. */
  bytesMax?: number
  ms: number
  /** 3 when left out; each goes through the same checks. */
  redirectsMax?: number
}

/** What is sent. */
interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/** How names become addresses, and which of these are not inside: real ones, but for tests. */
export interface Network {
  resolve(name: string): Promise<string[]>
  isPublic(address: string): boolean
}

/** Networks of the special-purpose registries (RFC 6890 and its successors) that are not global. */
const specialNetworks = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
  2001::/23 2001:db8::/32 2002::/16 3fff::/20
`
const special = new BlockList()
for (const network of specialNetworks.trim().split(/\s+/)) {
  const [start = '', prefix] = network.split('/')
  special.addSubnet(start, Number(prefix), start.includes(':') ? 'ipv6' : 'ipv4')
}
/** Of IPv6 only this is global unicast: mapped, translated, local and multicast lie outside. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one of the open internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && global6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

const insideName = /(^|\.)(localhost|local|internal|intranet|lan|corp|home|private|home\.arpa)$/

/**
 * An http(s) address that, as far as its text tells, points to the open internet: every spelling
 * of a number becomes its address (WHATWG URL). Undefined when it is none.
 */
export function publicUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const host = hostOf(url)
  if (isIP(host) !== 0) return isPublicAddress(host) ? url : undefined
  return host.includes('.') && !insideName.test(host) ? url : undefined
}

/** Without the brackets of IPv6, and the dot that may end a name. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '')

const network: Network = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
}

/** A network that knows no inside, where the operator wants that. */
export const anywhere: Network = { ...network, isPublic: () => true }

/**
 * Fetches an address that somebody else chose, and reads the answer: only from the open internet,
 * from the address that was checked (a name is resolved once), bounded in bytes, time and
 * redirects. No key of ours goes along. Throws NotFetched, or what the network throws.
 */
export async function fetchGuarded(
  text: string,
  init: Sent,
  bounds: Bounds,
  signal: AbortSignal | undefined,
  net = network,
): Promise<Response> {
  const limit = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(bounds.ms)])
  let target = text
  for (let hops = bounds.redirectsMax ?? 3; hops >= 0; hops -= 1) {
    const answer = await ask(target, init, limit, net)
    const location = answer.headers.get('location')
    const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && location !== null
    if (!isRedirect) return bounded(answer, bounds.bytesMax)
    await answer.body?.cancel()
    // What was to be changed or sent stays with the address it was meant for.
    if (init.method !== undefined && init.method !== 'GET') break
    target = URL.parse(location, target)?.href ?? ''
  }
  throw new NotFetched('redirects')
}

async function ask(
  target: string,
  init: Sent,
  signal: AbortSignal,
  net: Network,
): Promise<Response> {
  const url = URL.parse(target)
  if (!url || !/^https?:$/.test(url.protocol)) throw new NotFetched('address')
  const name = hostOf(url)
  const found = isIP(name) === 0 ? await net.resolve(name) : [name]
  const address = found[0]
  // One address inside is enough to refuse a name: the next answer might begin with it.
  if (address === undefined || !found.every((one) => net.isPublic(one))) {
    throw new NotFetched('inside')
  }
  const { host } = url
  url.hostname = isIP(address) === 6 ? `[${address}]` : address
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

async function bounded(answer: Response, bytesMax: number | undefined): Promise<Response> {
  const { status, headers } = answer
  if (bytesMax === undefined) {
    await answer.body?.cancel()
    return new Response(null, { status, headers })
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new NotFetched('too_long')
    chunks.push(chunk)
  }
  const isBare = [204, 205, 304].includes(status)
  return new Response(isBare ? null : Buffer.concat(chunks), { status, headers })
}
