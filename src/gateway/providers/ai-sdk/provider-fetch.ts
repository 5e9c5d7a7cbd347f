import type { AiSdkKind } from '../../../kernel/config/providers.ts'
import { fetchGuarded } from '../../../kernel/fetch.ts'
import { upstreamResponseBytesMax } from '../../../kernel/limits.ts'
import { downloadMs, type HttpClient } from '../http-client.ts'
import { receiveResponse, type UpstreamAddress, UpstreamError } from '../upstream.ts'
import type { ProviderKind } from './provider-kinds.ts'

/** A provider that is called through its AI SDK package. */
export type AiSdkUpstream = UpstreamAddress & { client: HttpClient }
export type TypedUpstream = AiSdkUpstream & { kind: AiSdkKind }

/**
 * The `fetch` that a provider package gets for one request. It rejects redirects, sends the key to
 * the provider only, bounds responses, and records how far the request went.
 */
export class ProviderFetch {
  /** Responses received. */
  responses = 0
  /** Status of the last response. */
  status = 0
  /** Bytes of all bodies. */
  bytes = 0
  /** True when a body broke off. */
  isCut = false
  readonly fetch: typeof fetch

  constructor(
    private readonly upstream: AiSdkUpstream,
    private readonly kind: ProviderKind,
    private readonly call: { signal: AbortSignal },
  ) {
    const { preconnect } = fetch
    const request = (input: Parameters<typeof fetch>[0], init: RequestInit = {}) =>
      this.request(input instanceof Request ? input.url : String(input), init)
    this.fetch = Object.assign(request, { preconnect })
  }

  private async request(address: string, init: RequestInit): Promise<Response> {
    const { name } = this.upstream
    const sent = this.send(this.rebase(address), init)
    const response = await receiveResponse(sent, name, this.call.signal)
    const { status, headers } = response
    this.responses += 1
    this.status = status
    return new Response(this.bound(response), { status, headers })
  }

  /** Downloads a result of the provider. A redirect is followed without the key. */
  async download(address: string, bytesMax: number): Promise<Response> {
    const url = this.rebase(address)
    const response = await this.send(url, {}, bytesMax)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return response
    await response.body?.cancel()
    const target = URL.parse(location, url)?.href ?? ''
    return fetchGuarded(target, {}, { bytesMax, ms: downloadMs }, this.call.signal)
  }

  private send(
    url: string,
    init: RequestInit,
    bytesMax = upstreamResponseBytesMax,
  ): Promise<Response> {
    const { baseUrl, client } = this.upstream
    const { signal } = this.call
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    const isForeign = !isBelow(url, baseUrl) && this.defaultBaseOf(url) === undefined
    if (isForeign) for (const name of keyHeaders) headers.delete(name)
    if (isForeign && URL.parse(url)?.host !== URL.parse(baseUrl)?.host) {
      const bounds = { bytesMax, ms: downloadMs }
      return fetchGuarded(url, { headers: Object.fromEntries(headers) }, bounds, signal)
    }
    return client.fetch(url, { ...init, headers, signal })
  }

  /** Replaces a base URL that is built into the package by the configured one. */
  private rebase(url: string): string {
    const { baseUrl } = this.upstream
    const builtIn = this.defaultBaseOf(url)
    return builtIn === undefined || baseUrl === this.kind.defaultBaseUrls?.[0]
      ? url
      : baseUrl + url.slice(builtIn.length)
  }

  private defaultBaseOf(url: string): string | undefined {
    return this.kind.defaultBaseUrls?.find((base) => isBelow(url, base))
  }

  private bound({ body, headers }: Response): ReadableStream<Uint8Array> | null {
    if (!body) return null
    const reader = body.getReader()
    return new ReadableStream<Uint8Array>({
      pull: async (out) => {
        const { done, value } = await reader.read().catch((error: unknown) => {
          if (this.call.signal.aborted) throw error
          this.isCut = true
          // In a stream, an error would discard the chunks that are not read yet.
          if (!isEventStream(headers)) throw error
          return { done: true, value: undefined }
        })
        if (done || !value) return out.close()
        this.bytes += value.byteLength
        if (this.bytes <= upstreamResponseBytesMax) return out.enqueue(value)
        await reader.cancel()
        throw new UpstreamError('unreadable', this.upstream.name)
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }
}

const isEventStream = (headers: Headers): boolean =>
  /^(text\/event-stream|application\/vnd\.amazon\.eventstream)/.test(
    headers.get('content-type') ?? '',
  )

const isBelow = (url: string, base: string): boolean => url === base || url.startsWith(`${base}/`)

/** Removed from requests to other hosts, such as for generated media. */
const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'xi-api-key']
