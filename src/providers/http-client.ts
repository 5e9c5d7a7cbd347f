import { second, stopwatch } from '../core/time.ts'

/** An upstream that answered so lately is asked as one that can be reached. */
const freshMs = 10 * second

/** The deadlines are the caller's signal: the client's own would cut a quiet stream. */
const common = { redirect: 'manual', timeout: false } as const

/** A connection, with its TLS, that is not open by then opens no more: four SYNs were sent. */
const opensWithinMs = 10 * second

type Init = RequestInit & { signal: AbortSignal }

/**
 * The line to one upstream. Only a request that reached it may be billed, and `fetch` does not tell
 * whether it did; but a body that is a stream it begins to read once it is connected. That takes
 * three times as long, so it is done only where nothing was heard for a while.
 */
export class HttpClient {
  private heardAt = -Infinity

  constructor(private readonly withinMs = opensWithinMs) {}

  /**
   * Redirects are not followed. Rejects, as for a connection that was reset, when none opens within
   * ten seconds.
   */
  async fetch(url: string, init: Init): Promise<Response> {
    const { body } = init
    const isKnown = !body || stopwatch() - this.heardAt < freshMs
    const asking = isKnown ? fetch(url, { ...init, ...common }) : this.connect(url, init, body)
    const answer = await asking
    this.heardAt = stopwatch()
    return answer
  }

  private async connect(
    url: string,
    init: Init,
    given: NonNullable<Init['body']>,
  ): Promise<Response> {
    const whole = new Response(given)
    const headers = new Headers(init.headers)
    // A form's tells the boundary of its parts: it must be asked before the bytes are.
    const type = headers.get('content-type') ?? whole.headers.get('content-type')
    if (type !== null) headers.set('content-type', type)
    const bytes = await whole.bytes()
    headers.set('content-length', String(bytes.byteLength))
    const unreached = new AbortController()
    const late = setTimeout(() => unreached.abort(), this.withinMs)
    const body = new ReadableStream<Uint8Array>(
      {
        pull(out) {
          clearTimeout(late)
          out.enqueue(bytes)
          out.close()
        },
      },
      { highWaterMark: 0 },
    )
    const signal = AbortSignal.any([unreached.signal, init.signal])
    try {
      return await fetch(url, { ...init, ...common, headers, body, signal })
    } finally {
      clearTimeout(late)
    }
  }
}
