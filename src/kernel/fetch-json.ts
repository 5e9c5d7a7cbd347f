import { errorCodeOf } from './text.ts'

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

/** Reads at most `bytesMax` bytes of a body as text. It does not wait for the rest. */
export async function readStart(
  response: Response,
  bytesMax: number,
): Promise<{ text: string; isComplete: boolean }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > bytesMax) break
  }
  const text = Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
  return { text, isComplete: bytes <= bytesMax }
}

/** The reasons for which a request got no response. */
export type NetworkProblem = 'timeout' | 'aborted' | 'unreadable' | 'refused' | 'reset'

/** Classifies an error of `fetch`; `signal` is the caller's. */
export function classifyNetworkError(error: unknown, signal: AbortSignal): NetworkProblem {
  if (signal.aborted) return isTimeout(signal.reason) ? 'timeout' : 'aborted'
  const code = errorCodeOf(error)
  if (/^(Malformed|Invalid)|header/i.test(code)) return 'unreadable'
  return /^(ECONNREFUSED|ENOTFOUND|EPROTO|E(HOST|NET)UNREACH)|CERT/.test(code) ? 'refused' : 'reset'
}

const isTimeout = (reason: unknown): boolean =>
  reason instanceof Error && reason.name === 'TimeoutError'
