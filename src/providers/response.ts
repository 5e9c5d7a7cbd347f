import { isRecord, itemsOf } from '../core/schema.ts'
import { jsonDepthMax } from '../limits.ts'

/** How a lane of ours says no, in OpenAI's shape. */
export const errorResponse = (
  status: number,
  message: string,
  { code = null, headers = {} }: { code?: string | null; headers?: Record<string, string> } = {},
): Response => {
  const error = { message, type: 'invalid_request_error', param: null, code }
  return Response.json({ error }, { status, headers })
}

/** Server-sent events as the answer of a lane of ours. */
export const eventStreamResponse = (body: ReadableStream<Uint8Array>): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

/** What of a JSON value is an object in a list: of what is no list, nothing. */
export const recordsIn = (value: unknown): Record<string, unknown>[] =>
  itemsOf(value).filter(isRecord)

/** A JSON value that is a text; else an empty one. */
export const asString = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The beginning of a body as text; the rest is not waited for. */
export async function readPrefix(answer: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= bytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
}

/** A shorter text is never nested so deep that what it says could not be written again. */
const deepCharsMin = 8_192

/**
 * The JSON object that a text of an upstream is; undefined where it is none, or is nested more than
 * 64 deep: that can be read, and nothing that is made of it can be written.
 */
export function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isFlat = text.length < deepCharsMin || isNestedWithin(value, jsonDepthMax)
    return isFlat && isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isNestedWithin = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 &&
    (Array.isArray(value) ? value : Object.values(value)).every((part) =>
      isNestedWithin(part, depth - 1),
    ))
