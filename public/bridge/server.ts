import { text } from '../frame/messages.ts'
import { CallError, toJson } from './protocol.ts'

/** A request below the app: of an operation ("/value/own"), or of a model ("/ai/v1/messages"). */
export interface ServerRequest {
  /** The app whose page calls. */
  app: string
  method: string
  path: string
  body?: BodyInit | undefined
  signal: AbortSignal
}

/** Sends a request as the player. Rejects where no response arrives. */
type Send = (request: ServerRequest) => Promise<Response>

/** The viewer's requests carry the session of the player. */
const fetchOwn: Send = ({ app, method, path, body, signal }) => {
  const isModel = path.startsWith('/ai/')
  return fetch(`${isModel ? '/a' : '/api/apps'}/${app}${path}`, {
    method,
    credentials: 'same-origin',
    ...(typeof body === 'string' && { headers: { 'content-type': 'application/json' } }),
    ...(body !== undefined && { body }),
    signal,
  })
}

let send = fetchOwn

/** Sends requests in another way, in a page that is not of this server. */
export function setSend(other: Send): void {
  send = other
}

/** Sends a request, and returns its response, which may be an error. Throws `offline`. */
export async function sendToServer(request: ServerRequest): Promise<Response> {
  const response = await send(request).catch(() => undefined)
  if (response) return response
  throw new CallError('offline', 'The server did not answer. Try again.')
}

/**
 * Calls an operation of this server below the app: `callServer(call, 'GET', '/ai')`. Returns the
 * response of a success. Throws the error of the operation as a CallError.
 */
export async function callServer(
  { app, signal }: Pick<ServerRequest, 'app' | 'signal'>,
  method: string,
  path: string,
  input?: unknown,
): Promise<Response> {
  const body = input === undefined ? undefined : toJson(input)
  const response = await sendToServer({ app, method, path, body, signal })
  if (response.ok) return response
  const error: unknown = await response.json().catch(() => undefined)
  throw new CallError(text(error, 'code', 64) || 'failed', text(error, 'error', 1_000))
}
