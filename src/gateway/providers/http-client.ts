import { fetchGuarded } from '../../kernel/fetch.ts'
import { minute, second, stopwatch } from '../../kernel/time.ts'
import type { DownloadRequest, UpstreamAddress } from './upstream.ts'

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

/** Time limit for the download of a result. */
export const downloadMs = 2 * minute

/**
 * Downloads a result. Only the origin of the upstream receives its key and may be private; every
 * other address, also of a redirect, must be public. The caller bounds the body of the origin.
 * Throws GuardedFetchError and the errors of the network.
 */
export async function download(
  { baseUrl, apiKey, client }: UpstreamAddress & { client: HttpClient },
  { url: text, bytesMax, signal }: DownloadRequest,
): Promise<Response> {
  const url = URL.parse(text, `${baseUrl}/`)
  const bounds = { bytesMax, ms: downloadMs }
  if (url?.origin !== new URL(baseUrl).origin) {
    return fetchGuarded(url?.href ?? '', {}, bounds, signal)
  }
  url.username = url.password = ''
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  const limit = AbortSignal.any([signal, AbortSignal.timeout(downloadMs)])
  const response = await client.fetch(url.href, { headers, signal: limit })
  const location = response.headers.get('location')
  if (response.status < 300 || response.status >= 400 || location === null) return response
  await response.body?.cancel()
  return fetchGuarded(URL.parse(location, url.href)?.href ?? '', {}, bounds, signal)
}
