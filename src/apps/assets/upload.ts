import { Value } from '@sinclair/typebox/value'

import { brotli } from '../../kernel/compress.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { fileProblem, readBodyBytes } from '../../kernel/http/body.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { lazy } from '../../kernel/lazy.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import { detectFileKind, type FileKind } from '../../store/file-kind.ts'
import type { InputFile } from '../folders/unzip.ts'
import { UploadEnvelopeSchema } from './schemas.ts'
import type { assets } from './tables.ts'

/** Size of a 4 MB file in base64, and space for the JSON around it. */
const uploadBytesMax = Math.ceil(assetBytesMax / 3) * 4 + 65_536

/**
 * Reads the file of a call: its body, or for application/json the data URL of `{ "data":
 * "data:..." }`. Other JSON is itself the file, except where the call has no request. Throws
 * `asset_too_large`, and `bad_request` for an invalid data URL.
 */
export async function readUpload({ source }: IncomingCall): Promise<Uint8Array> {
  if ('value' in source) return bytesOf(readEnvelope()(source.value).data)
  const { request } = source
  const bytes = await readBodyBytes(request, uploadBytesMax).catch(asTooLarge)
  const problem = fileProblem({ request, bytes })
  if (problem !== undefined) rejectRequest(problem)
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type) || !startsAsEnvelope(bytes)) return bytes
  return fileIn(parsed(bytes)) ?? bytes
}

const readEnvelope = lazy(() => createValidator(UploadEnvelopeSchema))

const fileIn = (sent: unknown): Uint8Array | undefined =>
  Value.Check(UploadEnvelopeSchema, sent) ? bytesOf(sent.data) : undefined

function asTooLarge(error: unknown): never {
  if (!isApiError(error, 'too_large')) throw error
  const [{ bytes }] = error.details
  throw new ApiError('asset_too_large', { bytes, max: assetBytesMax })
}

/** Reads only the first bytes, so that large JSON files are not parsed. */
const startsAsEnvelope = (bytes: Uint8Array): boolean =>
  /^\s*\{\s*"data"\s*:\s*"data:/.test(new TextDecoder().decode(bytes.subarray(0, 200)))

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    rejectRequest('The body is not JSON: it does not parse. Check its quotes, commas and brackets.')
  }
}

/** Decodes the data URL of a field "data" (RFC 2397). Throws `bad_request`. */
export function bytesOf(url: string): Uint8Array {
  const comma = url.indexOf(',')
  const text = url.slice(comma + 1)
  try {
    if (comma < 0) throw new SyntaxError('no comma')
    if (/;base64$/i.test(url.slice(0, comma))) return Uint8Array.fromBase64(text)
    return new TextEncoder().encode(decodeURIComponent(text))
  } catch {
    rejectRequest('"data" must be a data URL: data:<type>;base64,<the file in base64>.')
  }
}

const text = '; charset=utf-8'

/** Media types of the files that pages load, by extension. Text is UTF-8. */
const types = new Map(
  Object.entries({
    aac: 'audio/aac',
    atlas: `text/plain${text}`,
    avif: 'image/avif',
    bmp: 'image/bmp',
    cjs: `text/javascript${text}`,
    css: `text/css${text}`,
    csv: `text/csv${text}`,
    flac: 'audio/flac',
    fnt: `text/xml${text}`,
    frag: `text/plain${text}`,
    gif: 'image/gif',
    glb: 'model/gltf-binary',
    glsl: `text/plain${text}`,
    gltf: 'model/gltf+json',
    htm: `text/html${text}`,
    html: `text/html${text}`,
    ico: 'image/x-icon',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    js: `text/javascript${text}`,
    json: 'application/json',
    ktx2: 'image/ktx2',
    m4a: 'audio/mp4',
    m4v: 'video/mp4',
    map: 'application/json',
    md: `text/markdown${text}`,
    mid: 'audio/midi',
    mjs: `text/javascript${text}`,
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    obj: `text/plain${text}`,
    oga: 'audio/ogg',
    ogg: 'audio/ogg',
    ogv: 'video/ogg',
    opus: 'audio/ogg',
    otf: 'font/otf',
    pdf: 'application/pdf',
    png: 'image/png',
    svg: `image/svg+xml${text}`,
    ttf: 'font/ttf',
    txt: `text/plain${text}`,
    vert: `text/plain${text}`,
    vtt: `text/vtt${text}`,
    wasm: 'application/wasm',
    wav: 'audio/wav',
    weba: 'audio/webm',
    webm: 'video/webm',
    webmanifest: 'application/manifest+json',
    webp: 'image/webp',
    woff: 'font/woff',
    woff2: 'font/woff2',
    xhtml: `application/xhtml+xml${text}`,
    xml: `text/xml${text}`,
    zip: 'application/zip',
  }),
)

const typeOf = (name: string): string | undefined =>
  types.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '')

/**
 * Returns the media type of a file by its name; bytes of no type where the name says nothing. A
 * mirror of wget has "style.css?ver=1.2" as a name.
 */
export const mediaTypeOf = (name: string): string =>
  typeOf(name) ?? typeOf(name.replace(/\?.*$/s, '')) ?? 'application/octet-stream'

/** Returns the kind of an uploaded file. Throws `asset_too_large` and `bad_asset`. */
export async function readAsset(bytes: Uint8Array): Promise<FileKind> {
  if (bytes.length > assetBytesMax) {
    throw new ApiError('asset_too_large', { bytes: bytes.length, max: assetBytesMax })
  }
  const kind = await detectFileKind(bytes)
  if ('reason' in kind) throw new ApiError('bad_asset', { why: `${kind.reason}.` })
  return kind
}

/**
 * Returns the kind of a file of a folder by its content; undefined where it is none of an asset's.
 * Throws `asset_too_large` above `max` bytes.
 */
export async function readFolderFile(
  { path, bytes }: InputFile,
  max: number,
): Promise<FileKind | undefined> {
  if (bytes.length > max) throw new ApiError('asset_too_large', { path, bytes: bytes.length, max })
  const kind = await detectFileKind(bytes, max)
  // A script or a text can be JSON, too.
  const isOther = 'reason' in kind || (kind.kind === 'json' && !/\.json$/i.test(path))
  return isOther ? undefined : kind
}

/** A file with what its content says of it, where that is known. */
export interface CheckedFile extends InputFile {
  kind: FileKind | undefined
}

/** An asset before it belongs to a version. */
export type AssetRow = Omit<typeof assets.$inferSelect, 'app' | 'version'>

/** Stores the bytes of a file, with its compressed variants. Its name gives its media type. */
export async function fileRow(
  ctx: AppContext,
  { path: name, bytes, kind: file }: CheckedFile,
): Promise<AssetRow> {
  const type = file?.type ?? mediaTypeOf(name)
  const stored = await ctx.storage.put(bytes)
  return {
    name,
    sha256: stored.sha256,
    kind: file?.kind ?? 'file',
    type,
    bytes: bytes.length,
    ...(await storeCompressed(ctx, type, bytes)),
    width: file?.kind === 'picture' ? file.width : null,
    height: file?.kind === 'picture' ? file.height : null,
    lastsMs: file?.kind === 'sound' ? Math.round(file.seconds * 1_000) : null,
    what: null,
    seed: null,
    maker: 'upload',
    created: ctx.clock.now(),
  }
}

/** Stores the compressed variants of a file, where they are smaller. */
async function storeCompressed(
  { storage }: AppContext,
  type: string,
  bytes: Uint8Array,
): Promise<Pick<AssetRow, 'br' | 'zstd'>> {
  const { br, zstd } = await compressFile(type, bytes)
  return {
    br: br ? (await storage.put(br)).sha256 : null,
    zstd: zstd ? (await storage.put(zstd)).sha256 : null,
  }
}

/** Types whose bytes are compressed already. */
const compressed =
  /^(?:image\/(?!svg|bmp|x-icon|ktx)|audio\/(?!wav)|video\/|font\/woff|application\/(?:zip|pdf|gzip))/
const bytesMin = 1_024
/** A variant must save a twentieth, or its decompression is not worth it. */
const ratioMax = 0.95
/** Larger files are compressed at a lower quality, which takes a tenth of the time. */
const fastBytes = 1_048_576
const zstdLevel = 12

/** Compresses a file once, on threads of the pool. Leaves out variants that are not smaller. */
async function compressFile(
  type: string,
  bytes: Uint8Array,
): Promise<{ br?: Uint8Array; zstd?: Uint8Array }> {
  if (bytes.length < bytesMin || compressed.test(type)) return {}
  const [br, zstd] = await Promise.all([
    brotli(bytes, bytes.length > fastBytes ? 5 : 9),
    Bun.zstdCompress(bytes, { level: zstdLevel }),
  ])
  const isWorth = (one: Uint8Array): boolean => one.length < bytes.length * ratioMax
  return { ...(isWorth(br) && { br }), ...(isWorth(zstd) && { zstd }) }
}
