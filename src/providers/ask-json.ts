import { faultKindOf } from './upstream-error.ts'

/** Why there is no JSON: a word that repeats no address, and with it no key. */
class NoAnswer extends Error {}

/**
 * The JSON that a request is answered with, of at most `bytesMax` bytes. Redirects are not
 * followed: keys would go along. Throws what `whyOf` has words for.
 */
export async function askJson(
  request: Request,
  { signal, bytesMax }: { signal: AbortSignal; bytesMax: number },
): Promise<unknown> {
  const answer = await fetch(request, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw new NoAnswer(faultKindOf(error, signal))
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    throw new NoAnswer(`status ${answer.status}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new NoAnswer('too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** Errors of the network may repeat an address, and with it a key. */
export const whyOf = (error: unknown): string =>
  error instanceof NoAnswer ? error.message : error instanceof Error ? error.name : 'unknown'
