/**
 * A bare pass-through: `bun pass.ts UPSTREAM_PORT`. With `read`, JavaScript reads the response, as
 * every gateway must that counts its tokens. Prints its port.
 */
const reads = Bun.argv[3] === 'read'

/** Passes on what a reader reads. */
function readThrough(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(out) {
      const { done, value } = await reader.read()
      if (done) out.close()
      else out.enqueue(value)
    },
  })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  idleTimeout: 0,
  fetch: async (request) => {
    const { body, status, headers } = await fetch(
      `http://127.0.0.1:${Bun.argv[2]}/v1/chat/completions`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
        body: await request.bytes(),
        signal: request.signal,
      },
    )
    const type = headers.get('content-type') ?? ''
    return new Response(reads && body ? readThrough(body) : body, {
      status,
      headers: { 'content-type': type },
    })
  },
})
console.log(server.port)
