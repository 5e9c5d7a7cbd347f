/**
 * Server-sent events (WHATWG HTML, section 9.2) as the answer to a request. HEAD gets their head
 * alone: they may never end, and the framework would count their bytes.
 */
export const eventStream = (
  { method }: Request,
  open: () => ReadableStream<Uint8Array>,
): Response =>
  new Response(method === 'HEAD' ? null : open(), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })
