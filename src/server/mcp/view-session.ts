import { newSecret } from '../../kernel/ids.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'

/** The extension with which hosts show apps in their chats (MCP Apps, 2026-01-26). */
export const viewExtension = 'io.modelcontextprotocol/ui'
export const viewType = 'text/html;profile=mcp-app'

const sessionHeader = 'mcp-session-id'
/** Sessions of hosts that show views. Nothing is kept for one: its name says all that is known. */
const prefix = 'views-'

/** Returns whether the client of a request has declared in `initialize` that it shows views. */
export const isViewSession = ({ headers }: Request): boolean =>
  headers.get(sessionHeader)?.startsWith(prefix) === true

/**
 * Names the session of a client that declares in `initialize` that it shows views. The revisions
 * with `initialize` repeat no capabilities with later requests, but the name of the session.
 */
export function withViewSession(message: unknown, response: Response): Response {
  const isInitialize = isRecord(message) && message['method'] === 'initialize'
  if (!isInitialize || response.status !== 200) return response
  if (!showsViews(recordOf(message['params'])['capabilities'])) return response
  response.headers.set(sessionHeader, prefix + newSecret())
  return response
}

/** Returns whether the capabilities of a client say that it shows views. */
export function showsViews(capabilities: unknown): boolean {
  const extension = recordOf(recordOf(capabilities)['extensions'])[viewExtension]
  if (!isRecord(extension)) return false
  const { mimeTypes } = extension
  return mimeTypes === undefined || (Array.isArray(mimeTypes) && mimeTypes.includes(viewType))
}
