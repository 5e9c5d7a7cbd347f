import { second } from '../core/time.ts'
import {
  classifyNetworkError,
  type ConnectRequest,
  type SocketListener,
  type UpstreamAddress,
  UpstreamError,
  type UpstreamSocket,
} from './upstream.ts'

/** Time for a handshake. */
const connectMs = 10 * second

/**
 * Opens a session at `/realtime` below the base URL of an upstream. Returns a response with the
 * status of a refused handshake. Throws UpstreamError without a response.
 */
export async function connectRealtime(
  { name, baseUrl, apiKey }: UpstreamAddress,
  { model, isBeta, signal }: ConnectRequest,
): Promise<UpstreamSocket | Response> {
  const url = new URL(`${baseUrl}/realtime`)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.searchParams.set('model', model)
  const headers: Record<string, string> = {}
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (isBeta) headers['openai-beta'] = 'realtime=v1'
  const socket = new WebSocket(url.href, { headers, perMessageDeflate: false })
  const own = new OwnSocket(socket, apiKey)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
  const status = await handshakeOf(socket, limit)
  if (status === 'open') return own
  socket.terminate()
  if (typeof status === 'number') return new Response(null, { status })
  const kind = signal.aborted ? classifyNetworkError(signal.reason, signal) : 'refused'
  throw new UpstreamError(kind, name)
}

/** Waits for the handshake. Returns its status where it was refused. */
function handshakeOf(socket: WebSocket, signal: AbortSignal): Promise<'open' | 'failed' | number> {
  const { promise, resolve } = Promise.withResolvers<'open' | 'failed' | number>()
  socket.addEventListener('open', () => resolve('open'))
  socket.addEventListener('close', () => resolve('failed'))
  socket.addEventListener('error', (event) => {
    const message = 'message' in event ? String(event.message) : ''
    const status = Number(/status code: (\d{3})/.exec(message)?.[1])
    resolve(status >= 300 && status < 600 ? status : 'failed')
  })
  signal.addEventListener('abort', () => resolve('failed'))
  if (signal.aborted) resolve('failed')
  return promise
}

class OwnSocket implements UpstreamSocket {
  private listener: SocketListener | undefined
  private readonly early: string[] = []
  private isClosed = false

  constructor(
    private readonly socket: WebSocket,
    private readonly secret: string | undefined,
  ) {
    socket.addEventListener('message', ({ data }) => this.receive(data))
    socket.addEventListener('close', () => {
      this.isClosed = true
      this.listener?.close()
    })
  }

  get bufferedAmount(): number {
    return this.socket.bufferedAmount
  }

  send(text: string): void {
    if (!this.isClosed) this.socket.send(text)
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  close(): void {
    this.socket.resume()
    this.socket.close()
  }

  listen(listener: SocketListener): void {
    this.listener = listener
    for (const text of this.early.splice(0)) listener.message(text)
    if (this.isClosed) listener.close()
  }

  private receive(data: unknown): void {
    const text = typeof data === 'string' ? data : ''
    // An error may repeat the key of the operator.
    const safe = this.secret ? text.replaceAll(this.secret, '[key]') : text
    if (this.listener) this.listener.message(safe)
    else this.early.push(safe)
  }
}
