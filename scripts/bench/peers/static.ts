/** A bare Bun.serve with static routes: `bun static.ts ORIGIN PATH...`. Prints its port. */
const [origin = '', ...paths] = Bun.argv.slice(2)
const routes: Record<string, Response> = {}
for (const path of paths) {
  // The same bytes and headers as Berth sends.
  const response = await fetch(origin + path, {
    headers: { 'accept-encoding': 'identity' },
  })
  const headers = new Headers(response.headers)
  for (const name of ['content-length', 'date']) headers.delete(name)
  routes[path] = new Response(await response.bytes(), { headers })
}
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, routes })
console.log(server.port)
