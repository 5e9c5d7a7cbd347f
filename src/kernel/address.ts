/**
 * Returns the address of the client: that of the socket or, behind a trusted proxy, the right-most
 * address of X-Forwarded-For that is not a trusted proxy. Reading stops at invalid addresses.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | null,
  trusted: readonly string[],
): string {
  let address = unmapped(peer)
  if (!forwardedFor || !trusted.includes(address)) return address
  for (const hop of forwardedFor.split(',').slice(-hopsMax).reverse()) {
    const next = unmapped(hop.trim())
    if (ipVersion(next) === 0) return address
    address = next
    if (!trusted.includes(next)) return address
  }
  return address
}

/**
 * Returns 4 or 6 for an IP address and 0 for any other text, as isIP of node:net does. Loading
 * node:net would take a tenth of the start time.
 */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)) return 4
  const address = text.replace(/%[\w.:-]+$/, '')
  const isLikely = /^[\da-f:.]{2,45}$/i.test(address) && !/[^:]:$/.test(address)
  return isLikely && URL.canParse(`http://[${address}]`) ? 6 : 0
}

/** Checks whether only a local network resolves a host name. `name` has no dot at its end. */
export const isLocalName = (name: string): boolean => !name.includes('.') || localSuffix.test(name)

const localSuffix = /(^|\.)(localhost|local|internal|intranet|lan|corp|home|private|home\.arpa)$/

/** Checks whether an IP address is one of a private network, of a link or of the own machine. */
export const isLocalAddress = (address: string): boolean => localNetworks.test(address)

const localNetworks =
  /^(10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^(::1$|f[cd]|fe[89ab])/

/** Checks whether a socket belongs to a trusted proxy. */
export const isTrustedProxy = (peer: string, trusted: readonly string[]): boolean =>
  trusted.includes(unmapped(peer))

/** The longest chain of proxies that is read. */
const hopsMax = 10

/** Returns the IPv4 address of a mapped one: ::ffff:192.0.2.1 is 192.0.2.1. */
const unmapped = (address: string): string =>
  address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address

/** Returns the network that one customer of a provider often has: an IPv4 /24, or an IPv6 /56. */
export function addressPrefix(address: string): string {
  const group = addressGroup(address)
  const lastDot = group.lastIndexOf('.')
  if (lastDot > 0) return `${group.slice(0, lastDot)}.0/24`
  if (!group.endsWith('::/64')) return group
  const parts = group.slice(0, -5).split(':')
  const last = (parts[3] ?? '0').padStart(4, '0').slice(0, 2)
  return `${[...parts.slice(0, 3), `${last}00`].join(':')}::/56`
}

/** Returns the key of rate limits: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressGroup(address: string): string {
  if (!address.includes(':') || ipVersion(address) !== 6) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4)
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
