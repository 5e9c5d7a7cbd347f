import { readStart } from './response.ts'
import { classifyNetworkError } from './upstream.ts'

/** A failed request. Its message contains no address and no key. */
export class FetchJsonError extends Error {
  constructor(
    message: string,
    /** The status of the response; undefined without one. */
    readonly status?: number,
  ) {
    super(message)
  }
}

/**
 * Fetches JSON of at most `bytesMax` bytes. It does not follow redirects, which would leak keys.
 * Throws an error for `describeFailure`.
 */
export async function fetchJson(
  request: Request,
  { signal, bytesMax }: { signal: AbortSignal; bytesMax: number },
): Promise<unknown> {
  const response = await fetch(request, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw new FetchJsonError(classifyNetworkError(error, signal))
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new FetchJsonError(`status ${response.status}`, response.status)
  }
  const { text, isComplete } = await readStart(response, bytesMax)
  if (!isComplete) throw new FetchJsonError('too long')
  return JSON.parse(text)
}

/** Returns a loggable reason: messages of network errors may contain an address with a key. */
export const describeFailure = (error: unknown): string =>
  error instanceof FetchJsonError ? error.message : error instanceof Error ? error.name : 'unknown'
