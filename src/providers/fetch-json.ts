import { classifyNetworkError } from './upstream-error.ts'

/** Why there is no JSON: a word that repeats no address, and with it no key. */
class FetchJsonError extends Error {}

/**
 * The JSON that a request is answered with, of at most `bytesMax` bytes. Redirects are not
 * followed: keys would go along. Throws what `whyOf` has words for.
 */
export async function fetchJson(
  request: Request,
  { signal, bytesMax }: { signal: AbortSignal; bytesMax: number },
): Promise<unknown> {
  const answer = await fetch(request, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw new FetchJsonError(classifyNetworkError(error, signal))
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    throw new FetchJsonError(`status ${answer.status}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new FetchJsonError('too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** Errors of the network may repeat an address, and with it a key. */
export const describeFailure = (error: unknown): string =>
  error instanceof FetchJsonError ? error.message : error instanceof Error ? error.name : 'unknown'
