import { socketIdleMs, socketMessageBytesMax } from '../limits.ts'
import { second } from '../time.ts'

/** The connection to the client of a WebSocket. */
export interface ClientSocket {
  /** Returns -1 when the text waits for a slow reader, and 0 when it was dropped. */
  send(text: string): number
  close(code: number, reason: string): void
  /** Stops reading, so that the client sees the back-pressure of TCP. */
  pause(): void
  resume(): void
}

/** The server's side of one WebSocket. */
export interface SocketHandler {
  open(socket: ClientSocket): void
  message(data: string | Buffer): void
  /** The reader took what waited. */
  drain(): void
  close(): void
}

/** Turns the connection of a request into a WebSocket. Returns whether it did. */
export type Upgrade = (handler: SocketHandler, headers: Record<string, string>) => boolean

/**
 * The response of a request whose connection is a WebSocket. It passes the middleware, which logs
 * and counts it, and nothing of it is sent.
 */
export const upgradedResponse = (): Response => new Response(null, { status: 101 })

/** Returns undefined for an upgraded request, as Bun expects. */
export async function withoutUpgraded(
  pending: Response | Promise<Response>,
): Promise<Response | undefined> {
  const response = await pending
  return response.status === 101 ? undefined : response
}

/** The options of all WebSockets of the server. A larger message closes its socket with 1009. */
export const webSocketOptions: Bun.WebSocketHandler<SocketHandler> = {
  maxPayloadLength: socketMessageBytesMax,
  backpressureLimit: 4 * socketMessageBytesMax,
  idleTimeout: socketIdleMs / second,
  open: (socket) => socket.data.open(socket),
  message: (socket, data) => socket.data.message(data),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.close(),
}
