import { CallError } from '../bridge/protocol.ts'
import type { ServerRequest } from '../bridge/server.ts'
import { field, text } from '../frame/messages.ts'
import type { ChatHost } from './chat-host.ts'

/** A pass is valid for an hour at least. */
const passMs = 50 * 60_000

/** Calls the tools of the server for this page alone, as the caller of the chat. */
export class AppTools {
  /** The key that the tool call of the chat named. */
  key: string | undefined
  #pass = ''
  #passEnd = 0
  #renewing: Promise<unknown> | undefined

  constructor(private readonly host: ChatHost) {}

  /** Takes the pass of the app that the view shows, which came with its page. */
  takePass(pass: string): void {
    this.#pass = pass
    this.#passEnd = Date.now() + passMs
  }

  /** Returns a valid pass. A view may be open for longer than its first one is. */
  async #passFor(id: string): Promise<string> {
    if (Date.now() < this.#passEnd) return this.#pass
    this.#renewing ??= this.call('open_app_page', { id }).finally(
      () => (this.#renewing = undefined),
    )
    const pass = text(await this.#renewing, 'pass', 64)
    this.takePass(pass)
    return pass
  }

  /** Calls a tool. Throws its error as a CallError. */
  async call(name: string, args: object, signal?: AbortSignal): Promise<unknown> {
    const result = await this.#send(name, args, signal)
    const value = field(result, 'structuredContent')
    if (field(result, 'isError') !== true) return value
    throw new CallError(text(value, 'code', 64) || 'failed', text(value, 'error', 1_000))
  }

  /** Sends a request of the bridge, and returns its response, which may be an error. */
  async send({ app, method, path, body, signal }: ServerRequest): Promise<Response> {
    const [id, pass] = [app, await this.#passFor(app)]
    if (!path.startsWith('/ai/')) {
      const input = typeof body === 'string' ? { body: JSON.parse(body) } : {}
      const result = await this.#send('use_app_data', { id, pass, method, path, ...input }, signal)
      return Response.json(field(result, 'structuredContent') ?? {}, {
        status: field(result, 'isError') === true ? 400 : 200,
      })
    }
    if (typeof body !== 'string') {
      throw new CallError('unavailable', 'Recordings are heard on the page of the app only.')
    }
    const route = path.slice('/ai/'.length)
    const result = await this.#send('use_app_model', { id, pass, path: route, body }, signal)
    const value = field(result, 'structuredContent')
    if (typeof field(value, 'status') !== 'number') throw new Error('the host refused the call')
    const headers = {
      'content-type': text(value, 'type', 200),
      'x-service-cost': text(value, 'cost', 40),
      'x-service-code': text(value, 'code', 64),
    }
    const blob = field(value, 'blob')
    const content =
      typeof blob === 'string'
        ? Uint8Array.from(atob(blob), (letter) => letter.charCodeAt(0))
        : text(value, 'text', Infinity)
    return new Response(content, { status: Number(field(value, 'status')), headers })
  }

  #send(name: string, args: object, signal?: AbortSignal): Promise<unknown> {
    const { key } = this
    const params = { name, arguments: { ...args, ...(key !== undefined && { key }) } }
    return this.host.request('tools/call', params, signal)
  }
}
