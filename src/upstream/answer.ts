import { isRecord } from '../core/shape.ts'

/** How a lane of ours says no, in OpenAI's shape. */
export const refuse = (
  status: number,
  message: string,
  { code = null, headers = {} }: { code?: string | null; headers?: Record<string, string> } = {},
): Response => {
  const error = { message, type: 'invalid_request_error', param: null, code }
  return Response.json({ error }, { status, headers })
}

export const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
