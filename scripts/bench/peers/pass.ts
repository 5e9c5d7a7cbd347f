/** A bare pass-through: `bun pass.ts UPSTREAM_PORT`. Prints its port. */
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
    return new Response(body, { status, headers: { 'content-type': type } })
  },
})
console.log(server.port)
