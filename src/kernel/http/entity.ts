import { LRUCache } from 'lru-cache'

import { sha256 } from '../ids.ts'
import { lazy } from '../lazy.ts'
import type { PublicFile } from '../public-files.ts'
import { qualityValues } from './accept.ts'

/** A resource in up to four encodings, each with its own strong ETag (RFC 9110, 8.8.3). */
export interface Entity {
  variants: Variant[]
}

type Encoding = 'br' | 'zstd' | 'gzip' | 'identity'

interface Variant {
  encoding: Encoding
  etag: string
  headers: Headers
  notModifiedHeaders: Headers
  /** A Response shares the bytes of a Blob, but copies an array. */
  content: () => Blob
}

/** A Blob may be a file on disk, and a function makes bytes: both only for a response. */
type Bytes = Uint8Array | Blob | (() => Uint8Array)

/** The bytes of each encoding. */
type Content = Pick<PublicFile, 'etag'> & { identity: Bytes } & {
  [E in Exclude<Encoding, 'identity'>]?: Bytes | undefined
}

export const toBlob = (bytes: Uint8Array | Blob): Blob =>
  bytes instanceof Blob ? bytes : new Blob([new Uint8Array(bytes)])

/** Compresses a small text, which takes one or two milliseconds. */
export function compressText(text: string) {
  // Loaded at first use: the import would take a tenth of the start.
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

/** Returns a function that creates the Blob once, where its bytes are still to be made. */
function blobOf(bytes: Bytes): () => Blob {
  if (typeof bytes === 'function') return lazy(() => toBlob(bytes()))
  const blob = toBlob(bytes)
  return () => blob
}

/** Creates an entity. Later requests for an encoding neither copy nor compress its content. */
export function createEntity(content: Content, headers: Record<string, string>): Entity {
  const variants: Variant[] = []
  for (const encoding of ['br', 'zstd', 'gzip', 'identity'] as const) {
    const bytes = content[encoding]
    if (!bytes) continue
    const plain = encoding === 'identity'
    const etag = `"${content.etag}${plain ? '' : `-${encoding}`}"`
    const own = new Headers({ ...headers, etag, vary: withEncoding(headers['vary']) })
    if (!plain) own.set('content-encoding', encoding)
    const notModifiedHeaders = new Headers([...own].filter(([name]) => repeated.includes(name)))
    const all = { encoding, etag, headers: own, notModifiedHeaders }
    variants.push({ ...all, content: blobOf(bytes) })
  }
  return { variants }
}

/** Creates the entity of a file whose URL changes with its content. Browsers cache it forever. */
export const createImmutableEntity = (file: Content & { type: string }): Entity =>
  createEntity(file, {
    'content-type': file.type,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  })

const withEncoding = (more: string | undefined): string =>
  more === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${more}`

const orders = new LRUCache<string, Encoding[]>({ max: 500 })

/** Returns the encodings that a client accepts, best first. `identity` is always last. */
function encodings(header: string): Encoding[] {
  const known = orders.get(header)
  if (known) return known
  const found = qualityValues(header)
  const other = found.get('*') ?? 0
  const weight = (name: string): number =>
    found.get(name === 'gzip' && found.has('x-gzip') && !found.has('gzip') ? 'x-gzip' : name) ??
    other
  // `identity` is acceptable where the header does not name it, but as the last choice.
  const identity = found.get('identity') ?? 0
  const all: Encoding[] = ['br', 'zstd', 'gzip']
  const accepted = all.filter((name) => weight(name) > 0 && weight(name) >= identity)
  const order: Encoding[] = [...accepted.sort((a, b) => weight(b) - weight(a)), 'identity']
  orders.set(header, order)
  return order
}

function variantFor(request: Request, { variants }: Entity): Variant {
  const order = encodings(request.headers.get('accept-encoding') ?? '')
  for (const encoding of order) {
    const found = variants.find((variant) => variant.encoding === encoding)
    if (found) return found
  }
  throw new Error('the entity has no identity encoding')
}

/** Compares If-None-Match with an ETag by weak comparison (RFC 9110, 13.1.2). */
function matches(header: string | null, etag: string): boolean {
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

/** Returns the bytes of an entity in all its encodings, for the limit of a cache. */
export const bytesOf = ({ variants }: Entity): number =>
  variants.reduce((sum, { content }) => sum + content().size, 1_000)

/** Returns the media type and the content of an entity, uncompressed. */
export function contentOf({ variants }: Entity): { type: string; content: Blob } {
  const plain = variants.find(({ encoding }) => encoding === 'identity')
  if (!plain) throw new Error('the entity has no identity encoding')
  return { type: plain.headers.get('content-type') ?? '', content: plain.content() }
}

/** Returns 200 or 304 for GET and HEAD. The runtime omits the body of a HEAD response. */
export function entityResponse(request: Request, entity: Entity): Response {
  const { etag, headers, notModifiedHeaders, content } = variantFor(request, entity)
  return matches(request.headers.get('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: notModifiedHeaders })
    : new Response(content(), { headers })
}

/** One range of bytes. Several ranges are answered with the whole, as RFC 9110, 14.2 allows. */
const oneRange = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/

/** Returns the first and the last byte of a range; undefined where the content ends before it. */
function boundsOf([, first, last, suffix]: string[], size: number): [number, number] | undefined {
  const start = suffix === undefined ? Number(first) : Math.max(0, size - Number(suffix))
  const end = last ? Math.min(Number(last), size - 1) : size - 1
  return start <= end ? [start, end] : undefined
}

/**
 * Returns what `entityResponse` returns, or 206 or 416 for a range of the uncompressed bytes (RFC
 * 9110, section 14). Players of audio and video ask for ranges.
 */
export function rangedResponse(request: Request, entity: Entity): Response {
  const plain = entity.variants.find(({ encoding }) => encoding === 'identity')
  const range = oneRange.exec(request.headers.get('range') ?? '')
  const known = request.headers.get('if-range')
  const isSame = known === null || known === plain?.etag
  if (!plain || !range || !isSame || request.method !== 'GET') {
    return entityResponse(request, entity)
  }
  const headers = new Headers(plain.headers)
  const content = plain.content()
  const bounds = boundsOf(range, content.size)
  headers.set('content-range', `bytes ${bounds?.join('-') ?? '*'}/${content.size}`)
  if (!bounds) return new Response(null, { status: 416, headers })
  const [start, end] = bounds
  return new Response(content.slice(start, end + 1), { status: 206, headers })
}

/** The headers of a 304, which update a cache (RFC 9110, 15.4.5). */
const repeated = ['etag', 'vary', 'cache-control', 'content-security-policy']
