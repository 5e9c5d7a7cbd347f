import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import type { Received } from '../providers/upstream.ts'
import type { CallDeadlines } from './deadlines.ts'
import {
  failureOfErrorBody,
  interruptionOf,
  noContent,
  unreadable,
  type UpstreamFailure,
} from './upstream-failure.ts'

const decoder = new TextDecoder()

/** Reads a JSON object, bounded. An object with an `error` is a failure. */
export async function readJsonObject(
  received: Received,
  deadlines: CallDeadlines,
): Promise<{ json: Json } | UpstreamFailure> {
  if ('json' in received) return deadlines.cause ? interruptionOf(deadlines) : received
  const bytes = await readFile(received, deadlines)
  if (!bytes) return interruptionOf(deadlines)
  if (bytes.byteLength === 0) return noContent
  const json = parseRecord(decoder.decode(bytes))
  if (!json) return unreadable
  return isRecord(json.error) ? failureOfErrorBody(json.error) : { json }
}

/** A response that is a file. */
export type ReceivedFile = Exclude<Received, { json: Json }>

/** Reads a file. Undefined when it breaks off or has more than `max` bytes. */
export async function readFile(
  received: ReceivedFile,
  deadlines: CallDeadlines,
  max = upstreamResponseBytesMax,
): Promise<Uint8Array | undefined> {
  if ('response' in received) return readBoundedBytes(received.response, deadlines, max)
  const { file } = received
  return deadlines.cause || file.size > max ? undefined : file.bytes()
}

/** Reads a body. Undefined when it breaks off or has more than `max` bytes. */
export async function readBoundedBytes(
  response: Response,
  deadlines: CallDeadlines,
  max = upstreamResponseBytesMax,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    if (hasBoundedLength(response, max)) {
      deadlines.markFirstByte()
      const whole = await response.bytes()
      return deadlines.cause ? undefined : whole
    }
    for await (const chunk of response.body ?? []) {
      deadlines.markFirstByte()
      bytes += chunk.byteLength
      if (bytes > max) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return deadlines.cause ? undefined : Buffer.concat(chunks)
}

/** Returns whether the headers declare an acceptable length, so that one read takes the body. */
function hasBoundedLength({ headers }: Response, max: number): boolean {
  const length = Number(headers.get('content-length') ?? Infinity)
  return length <= max && !headers.has('content-encoding')
}
