import { field, text } from '../frame/messages.ts'

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Returns the result of a request of the host. */
type RequestHandler = () => Promise<object>

/**
 * The host of a chat that shows this page in a frame. Both send JSON-RPC with postMessage (MCP
 * Apps, 2026-01-26, "Communication Protocol").
 */
export class ChatHost {
  #last = 0
  readonly #waiting = new Map<number, Waiting>()
  readonly #listeners = new Map<string, (params: unknown) => void>()
  readonly #handlers = new Map<string, RequestHandler>([['ping', async () => ({})]])

  constructor(private readonly window: Window) {
    addEventListener('message', ({ source, data }) => {
      if (source === window && field(data, 'jsonrpc') === '2.0') this.#take(data)
    })
  }

  /** Sends a request. Rejects with the error of the host. */
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    this.#last += 1
    const id = this.#last
    signal?.addEventListener('abort', () => {
      if (!this.#waiting.delete(id)) return
      this.notify('notifications/cancelled', { requestId: id })
    })
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#post({ id, method, params })
    })
  }

  notify(method: string, params: object = {}): void {
    this.#post({ method, params })
  }

  /** Registers the listener of a notification. */
  on(method: string, listener: (params: unknown) => void): void {
    this.#listeners.set(method, listener)
  }

  /** Registers the handler of a request of the host. */
  handle(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler)
  }

  #post(message: object): void {
    this.window.postMessage({ jsonrpc: '2.0', ...message }, '*')
  }

  #take(data: unknown): void {
    const [id, method] = [field(data, 'id'), text(data, 'method', 100)]
    if (method === '') return this.#settle(Number(id), data)
    if (id === undefined) return this.#listeners.get(method)?.(field(data, 'params'))
    const handler = this.#handlers.get(method)
    if (!handler) {
      return this.#post({ id, error: { code: -32_601, message: `There is no ${method} here.` } })
    }
    handler().then(
      (result) => this.#post({ id, result }),
      () => this.#post({ id, error: { code: -32_603, message: `${method} failed.` } }),
    )
  }

  #settle(id: number, data: unknown): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    const error = field(data, 'error')
    if (error === undefined) waiting?.resolve(field(data, 'result'))
    else waiting?.reject(new Error(text(error, 'message', 1_000)))
  }
}
