import { fetchGuarded } from '../../core/fetch.ts'
import { isRecord } from '../../core/schema.ts'
import { minute } from '../../core/time.ts'
import { upstreamAnswerBytesMax } from '../../limits.ts'
import type { HttpClient } from '../http-client.ts'
import { outputTokenLimit } from '../request-body.ts'
import { parseRecord } from '../response.ts'
import { classifyNetworkError, type UpstreamCall, UpstreamError } from '../upstream.ts'
import type { ProviderKind } from './provider-kinds.ts'
import { withRequiredUsage } from './usage.ts'

/** A provider that is spoken to through its package. */
export interface AiSdkUpstream {
  name: string
  /** Without a slash at its end. */
  baseUrl: string
  apiKey?: string
  line: HttpClient
}

/**
 * The network of one request, as its provider's package is given it: redirects are refused, the
 * key goes to the provider alone, answers are bounded, and it is remembered how far things went.
 */
export class ProviderFetch {
  /** Requests that were answered. */
  answers = 0
  /** The status of the last of them. */
  status = 0
  /** Bytes of their bodies. */
  bytes = 0
  /** Whether a stream of events broke off. */
  isCut = false
  readonly fetch: typeof fetch

  constructor(
    private readonly to: AiSdkUpstream,
    private readonly kind: ProviderKind,
    private readonly call: UpstreamCall,
  ) {
    const { preconnect } = fetch
    const ask = (where: Parameters<typeof fetch>[0], init: RequestInit = {}) =>
      this.ask(where instanceof Request ? where.url : String(where), init)
    this.fetch = Object.assign(ask, { preconnect })
  }

  private async ask(where: string, init: RequestInit): Promise<Response> {
    const { name } = this.to
    const { signal } = this.call
    const url = this.addressOf(where)
    const answer = await this.send(url, init).catch((error: unknown) => {
      throw new UpstreamError(classifyNetworkError(error, signal), name)
    })
    this.answers += 1
    this.status = answer.status
    if (answer.status >= 300 && answer.status < 400) {
      await answer.body?.cancel()
      throw new UpstreamError('redirect', name)
    }
    const { ok, status, headers } = answer
    const bounded = new Response(this.bounded(answer), { status, headers })
    const { requiredUsage: usage } = this.kind
    const isChat = this.call.path === '/chat/completions'
    if (!ok || !usage || !isChat || isEvents(headers)) return bounded
    const text = await bounded.text()
    const said = parseRecord(text)
    const told = said ? JSON.stringify(withRequiredUsage(said, usage)) : text
    return new Response(told, { status, headers })
  }

  /** What a provider made, from where it lies; behind a redirect the key is not taken along. */
  async take(where: string, bytesMax: number): Promise<Response> {
    const { signal } = this.call
    const url = this.addressOf(where)
    const answer = await this.send(url, {}, bytesMax)
    const at = answer.headers.get('location')
    if (answer.status < 300 || answer.status >= 400 || at === null) return answer
    await answer.body?.cancel()
    const target = URL.parse(at, url)?.href ?? ''
    return fetchGuarded(target, {}, { bytesMax, ms: mediaFetchMs }, signal)
  }

  private send(
    url: string,
    init: RequestInit,
    bytesMax = upstreamAnswerBytesMax,
  ): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    const { baseUrl } = this.to
    const isOther = !isWithin(url, baseUrl) && !this.isHome(url)
    if (isOther) withoutKeys(headers)
    if (isOther && URL.parse(url)?.host !== URL.parse(baseUrl)?.host) {
      const bounds = { bytesMax, ms: mediaFetchMs }
      return fetchGuarded(url, { headers: Object.fromEntries(headers) }, bounds, this.call.signal)
    }
    const body = this.bodyOf(init.body)
    return this.to.line.fetch(url, { ...init, headers, body, signal: this.call.signal })
  }

  private bodyOf(body: RequestInit['body']): RequestInit['body'] {
    const most = outputTokenLimit(this.call)
    if (!this.kind.adjustBody || typeof body !== 'string' || most === undefined) return body ?? null
    const asked: unknown = JSON.parse(body)
    if (isRecord(asked)) this.kind.adjustBody(asked, most)
    return JSON.stringify(asked)
  }

  /** What a package has built in goes where the operator says. */
  private addressOf(url: string): string {
    const { defaultBaseUrls: homes = [] } = this.kind
    const [own] = homes
    const home = homes.find((prefix) => isWithin(url, prefix))
    const { baseUrl } = this.to
    return home === undefined || baseUrl === own ? url : baseUrl + url.slice(home.length)
  }

  private isHome = (url: string): boolean =>
    this.kind.defaultBaseUrls?.some((home) => isWithin(url, home)) ?? false

  private bounded({ body, headers }: Response): ReadableStream<Uint8Array> | null {
    if (!body) return null
    const reader = body.getReader()
    return new ReadableStream<Uint8Array>({
      pull: async (out) => {
        const { done, value } = await reader.read().catch((error: unknown) => {
          if (!isEvents(headers) || this.call.signal.aborted) throw error
          // An error would take along what came before it and is not read yet.
          this.isCut = true
          return { done: true, value: undefined }
        })
        if (done || !value) return out.close()
        this.bytes += value.byteLength
        if (this.bytes <= upstreamAnswerBytesMax) return out.enqueue(value)
        await reader.cancel()
        throw new UpstreamError('unreadable', this.to.name)
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }
}

const isEvents = (headers: Headers): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** What a provider made and laid on another host is fetched within this. */
const mediaFetchMs = 2 * minute

const isWithin = (url: string, base: string): boolean => url === base || url.startsWith(`${base}/`)

/** Pictures and sounds lie on other hosts, which are not told the key. */
function withoutKeys(headers: Headers): void {
  for (const name of ['authorization', 'x-api-key', 'x-goog-api-key', 'xi-api-key']) {
    headers.delete(name)
  }
}
