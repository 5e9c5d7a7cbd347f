/** A collector that reads everything that it receives. Prints its port. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.arrayBuffer()
    return Response.json({})
  },
})
console.log(server.port)
