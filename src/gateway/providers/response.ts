/** Creates an error response in OpenAI's format. */
export const errorResponse = (
  status: number,
  message: string,
  { code = null, headers = {} }: { code?: string | null; headers?: Record<string, string> } = {},
): Response => {
  const error = { message, type: 'invalid_request_error', param: null, code }
  return Response.json({ error }, { status, headers })
}
