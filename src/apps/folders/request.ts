import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { readBodyBytes, zipProblem } from '../../kernel/http/body.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import type { FileField } from './folder.ts'
import type { InputFile, ZipBounds, ZipLimits } from './unzip.ts'
import { zipReader } from './zip-reader.ts'

/** Throws the error that a kind of folder has for files that cannot be read. */
type Reject = (reasons: string[]) => never

/** Returns the request whose body is a zip; undefined for a call with another body. */
export const zipOf = ({ headers, source }: IncomingCall): Request | undefined =>
  'request' in source &&
  /^application\/(zip|x-zip-compressed)\b/i.test(headers.get('content-type') ?? '')
    ? source.request
    : undefined

export const textFile = (path: string, text: string): InputFile => ({
  path,
  bytes: new TextEncoder().encode(text),
})

/** Decodes the files of a JSON body. */
export function decodeFiles(files: FileField[], reject: Reject): InputFile[] {
  return files.map(({ path, text, base64 }) => {
    const shown = JSON.stringify(path.slice(0, 200))
    if ((text === undefined) === (base64 === undefined)) {
      return reject([`the file ${shown} must have exactly one of "text" and "base64".`])
    }
    if (text !== undefined) return textFile(path, text)
    try {
      return { path, bytes: Uint8Array.fromBase64(base64 ?? '') }
    } catch {
      return reject([`the "base64" of the file ${shown} cannot be decoded.`])
    }
  })
}

/**
 * Reads the files of a zip, the body of a request. Throws `bad_request`, `too_large`,
 * `asset_too_large` and `try_again`.
 */
export async function readZipRequest(
  request: Request,
  limits: ZipLimits,
  reject: Reject,
): Promise<InputFile[]> {
  const bytes = await readBodyBytes(request, limits.zipBytesMax)
  const problem = zipProblem({ request, bytes })
  return problem === undefined ? readZip(bytes, limits, reject) : reject([problem])
}

/** Reads the files of a zip. Throws `too_large`, `asset_too_large` and `try_again`. */
async function readZip(zip: Uint8Array, bounds: ZipBounds, reject: Reject): Promise<InputFile[]> {
  const found = await zipReader.read(zip, bounds)
  if ('reasons' in found) return reject(found.reasons)
  if ('files' in found) return found.files
  const { tooLarge: bytes, max, path } = found
  if (path !== undefined) throw new ApiError('asset_too_large', { bytes, max, path })
  throw new ApiError('too_large', { bytes, max })
}

/** Reads the fields beside a zip, in the query. Those in `json` are JSON. Throws `bad_request`. */
export function fieldsOf(
  { query }: IncomingCall,
  json: ReadonlySet<string>,
): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, text]) => {
    if (!json.has(name)) return [name, text]
    try {
      return [name, JSON.parse(String(text))]
    } catch {
      rejectRequest(`"${name}" must be JSON.`, name)
    }
  })
  return Object.fromEntries(entries)
}
