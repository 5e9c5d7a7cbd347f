import { jsonDepthMax } from '../../kernel/limits.ts'
import { isRecord, itemsOf, type Json } from '../../kernel/schema.ts'

/** Creates an error response in OpenAI's format. */
export const errorResponse = (
  status: number,
  message: string,
  { code = null, headers = {} }: { code?: string | null; headers?: Record<string, string> } = {},
): Response => {
  const error = { message, type: 'invalid_request_error', param: null, code }
  return Response.json({ error }, { status, headers })
}

/** Returns an error for tools of OpenAI's type `custom`, for models that accept only functions. */
export const rejectCustomTools = (tools: unknown): Response | undefined =>
  recordsIn(tools).some(({ type }) => type === 'custom')
    ? errorResponse(
        400,
        'This model accepts only tools of the type function, not of the type custom.',
      )
    : undefined

/** Creates a response of server-sent events. */
export const eventStreamResponse = (body: ReadableStream<Uint8Array>): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

/** Returns the objects in a JSON list; an empty list for any other value. */
export const recordsIn = (value: unknown): Json[] => itemsOf(value).filter(isRecord)

/** Returns a JSON string; '' for any other value. */
export const asString = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Reads at most `bytesMax` bytes of a body as text. It does not wait for the rest. */
export async function readStart(
  response: Response,
  bytesMax: number,
): Promise<{ text: string; isComplete: boolean }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > bytesMax) break
  }
  const text = Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
  return { text, isComplete: bytes <= bytesMax }
}

/** A shorter text cannot be nested too deep to serialize. */
const deepCharsMin = 8_192

/**
 * Parses a JSON object. Returns undefined for any other text, and for one nested more than 64 deep:
 * it could be parsed but not serialized again.
 */
export function parseRecord(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isShallow = text.length < deepCharsMin || isNestedWithin(value, jsonDepthMax)
    return isShallow && isRecord(value) ? value : undefined
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
