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

/** Returns the objects in a JSON list; an empty list for any other value. */
export const recordsIn = (value: unknown): Json[] => itemsOf(value).filter(isRecord)

/** Returns a JSON string; '' for any other value. */
export const asString = (value: unknown): string => (typeof value === 'string' ? value : '')

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
