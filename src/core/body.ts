import { jsonBodyBytesMax, jsonDepthMax } from '../limits.ts'
import { Refusal } from '../refusals.ts'

/**
 * A request's body, whole, at most `max` bytes. Refuses too_large as soon as more is announced
 * or has come, before it is kept.
 */
export async function readBytes(request: Request, max: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > max) throw new Refusal('too_large', { bytes: announced, max })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > max) throw new Refusal('too_large', { bytes, max })
    chunks.push(chunk)
  }
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

/**
 * A request's JSON body (RFC 8259): UTF-8, at most `max` bytes (26 MB), nested at most 64 deep.
 * Answers undefined when there is none. Refuses too_large, and bad_request with what is wrong.
 */
export async function readJson(request: Request, max = jsonBodyBytesMax): Promise<unknown> {
  const bytes = await readBytes(request, max)
  if (bytes.byteLength === 0) return undefined
  return parseJson(bytes)
}

/** Parses JSON as `readJson` does. */
export function parseJson(bytes: Uint8Array): unknown {
  const value = decode(bytes)
  if (isDeeper(value, jsonDepthMax)) {
    const problem = `The body is nested more than ${jsonDepthMax} deep.`
    throw new Refusal('bad_request', { problem })
  }
  return value
}

function decode(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it does not parse' : 'it is not UTF-8'
    throw new Refusal('bad_request', { problem: `The body is not JSON: ${why}.` })
  }
}

/** Level by level, so that no nesting can exhaust the stack. */
function isDeeper(value: unknown, max: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= max; depth += 1) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    )
    if (level.length === 0) return false
  }
  return true
}
