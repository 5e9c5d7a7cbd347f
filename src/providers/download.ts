import { fetchGuarded } from '../core/fetch.ts'
import { minute } from '../core/time.ts'
import type { HttpClient } from './http-client.ts'
import type { DownloadRequest, UpstreamAddress } from './upstream.ts'

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
