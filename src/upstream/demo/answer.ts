/** How the demo says no, in OpenAI's shape. */
export const refuse = (status: number, message: string): Response =>
  Response.json(
    { error: { message, type: 'invalid_request_error', param: null, code: null } },
    { status },
  )

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
