import { second, stopwatch } from '../core/time.ts'

/** An upstream that responded this recently counts as reachable. */
const freshMs = 10 * second
/** Time limit for opening a connection with TLS; by then, four SYN packets were sent. */
const connectMsMax = 10 * second
/** The caller's signal has the deadlines; fetch's own timeout would cut a quiet stream. */
const fetchOptions = { redirect: 'manual', timeout: false } as const

type Init = RequestInit & { signal: AbortSignal }

/**
 * The HTTP client of one upstream. It must know whether a request reached the upstream, because
 * only then the upstream may bill it. `fetch` does not report that, but it reads a streamed body
 * only after it has connected. Streaming takes three times as long, so the client streams only when
 * the upstream has not responded in the last 10 s.
 */
export class HttpClient {
  private respondedAt = -Infinity

  constructor(private readonly connectMs = connectMsMax) {}

  /** Fetches without following redirects. Rejects like a reset when no connection opens in 10 s. */
  async fetch(url: string, init: Init): Promise<Response> {
    const { body } = init
    const isReachable = !body || stopwatch() - this.respondedAt < freshMs
    const response = await (isReachable
      ? fetch(url, { ...init, ...fetchOptions })
      : this.connect(url, init, body))
    this.respondedAt = stopwatch()
    return response
  }

  private async connect(
    url: string,
    init: Init,
    source: NonNullable<Init['body']>,
  ): Promise<Response> {
    const content = new Response(source)
    const headers = new Headers(init.headers)
    // Read before the bytes: the type of a form contains its boundary.
    const type = headers.get('content-type') ?? content.headers.get('content-type')
    if (type !== null) headers.set('content-type', type)
    const bytes = await content.bytes()
    headers.set('content-length', String(bytes.byteLength))
    const unconnected = new AbortController()
    const timer = setTimeout(() => unconnected.abort(), this.connectMs)
    const body = new ReadableStream<Uint8Array>(
      {
        pull(out) {
          clearTimeout(timer)
          out.enqueue(bytes)
          out.close()
        },
      },
      { highWaterMark: 0 },
    )
    const signal = AbortSignal.any([unconnected.signal, init.signal])
    try {
      return await fetch(url, { ...init, ...fetchOptions, headers, body, signal })
    } finally {
      clearTimeout(timer)
    }
  }
}
