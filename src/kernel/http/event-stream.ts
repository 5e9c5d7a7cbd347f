import type { AppContext } from '../../server/context.ts'
import { currentClient } from '../client.ts'
import { ApiError } from '../errors.ts'

/**
 * Returns a response of server-sent events (WHATWG HTML, section 9.2). HEAD gets only the headers:
 * an endless body has no length. `open` receives the function to call when the stream ends. Throws
 * `busy` past STREAMS_PER_ADDRESS.
 */
export const eventStream = (
  ctx: AppContext,
  { method }: Request,
  open: (onEnd: () => void) => ReadableStream<Uint8Array>,
): Response =>
  new Response(method === 'HEAD' ? null : open(beginStream(ctx)), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })

/** Counts an open stream of the client's network. Returns the function that ends it, once. */
function beginStream({ state: { limits } }: AppContext): () => void {
  const client = currentClient()
  const end = limits.streams.begin(client.prefix)
  if (!end) throw new ApiError('busy', { what: 'streams of your network', max: limits.streams.max })
  client.charge('open', 1)
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    client.charge('open', -1)
    end()
  }
}
