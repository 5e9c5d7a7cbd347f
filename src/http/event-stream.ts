/**
 * Returns a response of server-sent events (WHATWG HTML, section 9.2). HEAD gets only the headers:
 * an endless body has no length.
 */
export const eventStream = (
  { method }: Request,
  open: () => ReadableStream<Uint8Array>,
): Response =>
  new Response(method === 'HEAD' ? null : open(), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })
