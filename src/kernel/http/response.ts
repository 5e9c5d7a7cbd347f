import { currentClient } from '../client.ts'
import type { AppContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import { entityResponse } from './entity.ts'
import { Content, Events, Replay, Revalidated, Success, Upgraded } from './outcome.ts'
import { upgradedResponse } from './web-socket.ts'

/** An error as its client gets it. */
export interface ErrorReply {
  status: number
  headers: Readonly<Record<string, string>>
  body: object
}

/** Returns the response of an error. */
export const errorResponse = ({ status, headers, body }: ErrorReply): Response =>
  Response.json(body, { status, headers })

/** Returns the response to a request from the outcome of an operation. */
export function toResponse(ctx: AppContext, request: Request, outcome: unknown): Response {
  if (outcome instanceof Success) {
    const { value, status, headers, cookies } = outcome
    const response = Response.json(value, { status, headers })
    for (const cookie of cookies) response.headers.append('set-cookie', cookie)
    return response
  }
  if (outcome instanceof Replay) return toResponse(ctx, request, outcome.success)
  if (outcome instanceof Revalidated) return entityResponse(request, outcome.entity)
  if (outcome instanceof Upgraded) return upgradedResponse()
  if (outcome instanceof Events) return eventStream(ctx, request, outcome.open)
  if (!(outcome instanceof Content)) return Response.json(outcome)
  const { body, headers } = outcome
  // The runtime reads generators, which its types do not know.
  return new Response(body, { status: body === null ? 204 : 200, headers })
}

/**
 * Returns a response of server-sent events (WHATWG HTML, section 9.2). HEAD gets only the headers:
 * an endless body has no length. Throws `busy` past STREAMS_PER_ADDRESS, and what `open` throws.
 */
const eventStream = (ctx: AppContext, { method }: Request, open: Events['open']): Response =>
  new Response(method === 'HEAD' ? null : bytesOf(open, beginStream(ctx)), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })

const encoder = new TextEncoder()

/** Reads texts as fast as the client does. Calls `onEnd` when the stream ends. */
function bytesOf(open: Events['open'], onEnd: () => void): ReadableStream<Uint8Array> {
  const ended = new AbortController()
  ended.signal.addEventListener('abort', onEnd)
  const end = (error: unknown): never => {
    ended.abort()
    throw error
  }
  let texts: AsyncIterator<string>
  try {
    texts = open(ended.signal)
  } catch (error) {
    return end(error)
  }
  return new ReadableStream<Uint8Array>({
    async pull(out) {
      const { done, value } = await texts.next().catch(end)
      if (ended.signal.aborted) return
      if (!done) return out.enqueue(encoder.encode(value))
      ended.abort()
      out.close()
    },
    cancel: () => ended.abort(),
  })
}

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
