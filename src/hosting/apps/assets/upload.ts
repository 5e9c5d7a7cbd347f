import { Value } from '@sinclair/typebox/value'

import { readBodyBytes } from '../../../http/body.ts'
import { ApiError, isApiError } from '../../../errors.ts'
import { assetBytesMax } from '../../../limits.ts'
import { UploadEnvelopeSchema } from './schemas.ts'

/** A 4 MB file in base64 inside JSON, and some room for the words around it. */
const uploadBytesMax = Math.ceil(assetBytesMax / 3) * 4 + 65_536

/**
 * The file a request brings: its body, or, sent as application/json, what is inside
 * `{ "data": "data:..." }`. Any other JSON is itself the file. Refuses asset_too_large, and
 * bad_request for a data URL that cannot be read.
 */
export async function readUpload(request: Request): Promise<Uint8Array> {
  const bytes = await readBodyBytes(request, uploadBytesMax).catch(asTooLarge)
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type) || !startsAsEnvelope(bytes)) return bytes
  const sent = parsed(bytes)
  return Value.Check(UploadEnvelopeSchema, sent) ? bytesOf(sent.data) : bytes
}

function asTooLarge(error: unknown): never {
  if (!isApiError(error, 'too_large')) throw error
  const [{ bytes }] = error.details
  throw new ApiError('asset_too_large', { bytes, max: assetBytesMax })
}

/** A look at the first bytes, so that JSON files of 4 MB are not parsed for nothing. */
const startsAsEnvelope = (bytes: Uint8Array): boolean =>
  /^\s*\{\s*"data"\s*:\s*"data:/.test(new TextDecoder().decode(bytes.subarray(0, 200)))

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ApiError('bad_request', { problem: 'The body is not JSON: it does not parse.' })
  }
}

/** The bytes of a data URL (RFC 2397). */
function bytesOf(url: string): Uint8Array {
  const comma = url.indexOf(',')
  const text = url.slice(comma + 1)
  try {
    if (comma < 0) throw new SyntaxError('no comma')
    if (/;base64$/i.test(url.slice(0, comma))) return Uint8Array.fromBase64(text)
    return new TextEncoder().encode(decodeURIComponent(text))
  } catch {
    const problem = '"data" is a data URL: data:<type>;base64,<the file in base64>.'
    throw new ApiError('bad_request', { problem })
  }
}
