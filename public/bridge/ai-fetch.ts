import { field } from '../frame/messages.ts'
import type { Bridge } from './bridge.ts'
import { deferred } from './protocol.ts'

/** A request to a model: JSON, or the fields of a form. */
export type ModelBody = { body: string } | { form: [name: string, value: string | Blob][] }

/** Sends a request to a model and returns its response, whose body streams. */
export type AiFetch = (path: string, body: ModelBody, signal?: AbortSignal) => Promise<Response>

/** The cost of a response in credits, 1,000 to a USD; 0 where it comes later, in a stream. */
export const costOf = ({ headers }: Response): number =>
  Number(headers.get('x-service-cost') ?? 0) * 1_000

/** Lets pages iterate over a stream, such as the body of a reply, where the browser cannot. */
export function addStreamIterator(): void {
  const { prototype } = ReadableStream
  if (Symbol.asyncIterator in prototype) return
  Object.defineProperty(prototype, Symbol.asyncIterator, {
    configurable: true,
    writable: true,
    async *value(this: ReadableStream<unknown>) {
      const reader = this.getReader()
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          yield next.value
        }
      } finally {
        // A loop that is left ends the stream.
        reader.cancel().catch(() => undefined)
        reader.releaseLock()
      }
    },
  })
}

/**
 * Returns the function that calls models through the shell. A canceled body ends the call, as a
 * closed connection does. Throws a CallError where the call did not reach a model.
 * With `isFetch`, an aborted body has the reason of its signal, as browsers have it.
 */
export function createAiFetch(call: Bridge, { isFetch = false } = {}): AiFetch {
  const Stream = ReadableStream
  const Reply = Response
  return (path, body, signal) => {
    const ending = new AbortController()
    const end = (): void => ending.abort()
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted) end()
    const head = deferred<Response>()
    let chunks: ReadableStreamDefaultController<Uint8Array> | undefined
    const stream = new Stream<Uint8Array>({ start: (given) => void (chunks = given), cancel: end })
    const onEvent = (event: unknown): void => {
      if (event instanceof Uint8Array) return chunks?.enqueue(event)
      const status = Number(field(event, 'status'))
      const headers = {
        'content-type': String(field(event, 'type')),
        'x-service-cost': String(field(event, 'cost')),
        'x-service-code': String(field(event, 'code')),
      }
      head.resolve(new Reply(stream, { status, headers }))
    }
    const { result } = call<null>(
      'ai.request',
      { path, ...body },
      { onEvent, signal: ending.signal },
    )
    result.then(
      () => chunks?.close(),
      (error: Error) => {
        head.reject(error)
        // A body that was canceled is closed already.
        const isAborted = signal?.aborted === true
        if (!ending.signal.aborted || isAborted) {
          chunks?.error(isAborted && isFetch ? signal.reason : error)
        }
      },
    )
    return head.promise
  }
}
