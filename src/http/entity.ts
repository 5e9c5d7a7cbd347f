import { LRUCache } from 'lru-cache'

import { sha256 } from '../core/ids.ts'
import { qualityValues } from './accept.ts'

/** One resource in up to three encodings, each with a strong ETag of its own. RFC 9110, 8.8.3. */
export interface Entity {
  variants: Variant[]
}

type Encoding = 'br' | 'gzip' | 'identity'

interface Variant {
  encoding: Encoding
  etag: string
  headers: Headers
  unchanged: Headers
  bytes: number
  /** A Blob, because a Response copies an array of bytes and shares a Blob. */
  content: Blob
}

interface Content {
  /** Names the content; it need not be quoted. */
  etag: string
  identity: Uint8Array
  br?: Uint8Array | undefined
  gzip?: Uint8Array | undefined
}

/** A small text of ours, compressed on the spot: a millisecond or two. */
export function compressText(text: string): Required<Content> {
  // Loaded here, since a start of the house would wait a tenth of its time for it.
  const { brotliCompressSync, constants } = process.getBuiltinModule('node:zlib')
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
  const identity = new TextEncoder().encode(text)
  return {
    etag: sha256(identity).slice(0, 32),
    identity,
    br: brotliCompressSync(identity, { params }),
    gzip: Bun.gzipSync(identity, { level: 6 }),
  }
}

/** Prepares everything an answer needs, so that a request copies nothing and compresses nothing. */
export function createEntity(content: Content, headers: Record<string, string>): Entity {
  const variants: Variant[] = []
  for (const encoding of ['br', 'gzip', 'identity'] as const) {
    const bytes = content[encoding]
    if (!bytes) continue
    const plain = encoding === 'identity'
    const etag = `"${content.etag}${plain ? '' : `-${encoding}`}"`
    const own = new Headers({ ...headers, etag, vary: vary(headers['vary']) })
    if (!plain) own.set('content-encoding', encoding)
    const unchanged = new Headers([...own].filter(([name]) => repeated.includes(name)))
    const all = { encoding, etag, headers: own, unchanged }
    variants.push({ ...all, bytes: bytes.byteLength, content: new Blob([new Uint8Array(bytes)]) })
  }
  return { variants }
}

/** A file whose address changes with its content, so that browsers keep it for good. */
export const createImmutableEntity = (file: Content & { type: string }): Entity =>
  createEntity(file, {
    'content-type': file.type,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  })

const vary = (more: string | undefined): string =>
  more === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${more}`

const orders = new LRUCache<string, Encoding[]>({ max: 500 })

/** Encodings a client takes, best first. Identity is always last: it is never wrong to send it. */
function encodings(header: string): Encoding[] {
  const known = orders.get(header)
  if (known) return known
  const found = qualityValues(header)
  const other = found.get('*') ?? 0
  const weight = (name: string): number =>
    found.get(name === 'gzip' && found.has('x-gzip') && !found.has('gzip') ? 'x-gzip' : name) ??
    other
  // Unnamed, identity is acceptable, but only what is left when nothing else is.
  const identity = found.get('identity') ?? 0
  const all: Encoding[] = ['br', 'gzip']
  const taken = all.filter((name) => weight(name) > 0 && weight(name) >= identity)
  const order: Encoding[] = [...taken.sort((a, b) => weight(b) - weight(a)), 'identity']
  orders.set(header, order)
  return order
}

function variantFor(request: Request, { variants }: Entity): Variant {
  const order = encodings(request.headers.get('accept-encoding') ?? '')
  for (const encoding of order) {
    const found = variants.find((variant) => variant.encoding === encoding)
    if (found) return found
  }
  throw new Error('an entity without its own bytes')
}

/** If-None-Match by weak comparison. RFC 9110, 13.1.2. */
function matches(header: string | null, etag: string): boolean {
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

/** 200 or 304, for GET and HEAD alike: the server itself leaves the body of a HEAD away. */
export function entityResponse(request: Request, whole: Entity): Response {
  const { etag, headers, unchanged, content } = variantFor(request, whole)
  return matches(request.headers.get('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: unchanged })
    : new Response(content, { headers })
}

/** A 304 repeats only what a cache must update. RFC 9110, 15.4.5. */
const repeated = ['etag', 'vary', 'cache-control', 'content-security-policy']
