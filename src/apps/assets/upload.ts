import { Value } from '@sinclair/typebox/value'

import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { fileProblem, readBodyBytes } from '../../kernel/http/body.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import { UploadEnvelopeSchema } from './schemas.ts'

/** Size of a 4 MB file in base64, and space for the JSON around it. */
const uploadBytesMax = Math.ceil(assetBytesMax / 3) * 4 + 65_536

/**
 * Reads the file of a call: its body, or for application/json the data URL of `{ "data":
 * "data:..." }`. Other JSON is itself the file. Throws `asset_too_large`, and `bad_request` for an
 * invalid data URL.
 */
export async function readUpload({ source }: IncomingCall): Promise<Uint8Array> {
  if ('value' in source) {
    return fileIn(source.value) ?? new TextEncoder().encode(JSON.stringify(source.value))
  }
  const { request } = source
  const bytes = await readBodyBytes(request, uploadBytesMax).catch(asTooLarge)
  const problem = fileProblem({ request, bytes })
  if (problem !== undefined) rejectRequest(problem)
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type) || !startsAsEnvelope(bytes)) return bytes
  return fileIn(parsed(bytes)) ?? bytes
}

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
