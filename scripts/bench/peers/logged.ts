/**
 * The minimal handler with a request log: resources, their 304 and ranges with the same bytes and
 * headers, a request id and the client's address, and no lookup of state. `bun logged.ts ORIGIN
 * PATH...`. Prints its port.
 */
const [origin = '', ...paths] = Bun.argv.slice(2)
const requestHeaders = { 'accept-encoding': 'identity' }

/** Headers without those that change with each response. */
function ownOf({ headers }: Response): Headers {
  const own = new Headers(headers)
  for (const name of ['content-length', 'date', 'x-request-id']) own.delete(name)
  return own
}

async function resourceAt(path: string) {
  const whole = await fetch(origin + path, { headers: requestHeaders })
  const etag = whole.headers.get('etag') ?? ''
  const same = await fetch(origin + path, { headers: { ...requestHeaders, 'if-none-match': etag } })
  const body = new Blob([await whole.bytes()])
  return { etag, body, headers: ownOf(whole), unchanged: ownOf(same) }
}

type Resource = Awaited<ReturnType<typeof resourceAt>>

const known = new Map<string, Resource>()
for (const path of paths) known.set(path, await resourceAt(path))

function respond(request: Request, { etag, body, headers, unchanged }: Resource): Response {
  if (request.headers.get('if-none-match') === etag) {
    return new Response(null, { status: 304, headers: unchanged })
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '')
  if (!range) return new Response(body, { headers })
  const [, first = '', last = ''] = range
  const part = body.slice(Number(first), Number(last) + 1)
  const response = new Response(part, { status: 206, headers })
  response.headers.set('content-range', `bytes ${first}-${last}/${body.size}`)
  return response
}

const idChars = 12
const flushMs = 20
let count = 0
let waiting = ''

function flush(): void {
  process.stderr.write(waiting)
  waiting = ''
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: (request) => {
    const path = request.url.slice(request.url.indexOf('/', 'http://'.length))
    const resource = known.get(path)
    const response = resource ? respond(request, resource) : new Response('', { status: 404 })
    count += 1
    const id = String(count).padStart(idChars, '0')
    response.headers.set('x-request-id', id)
    const { status } = response
    const address = server.requestIP(request)?.address
    if (waiting === '') setTimeout(flush, flushMs)
    waiting += `${JSON.stringify({ id, method: request.method, route: path, status, address })}\n`
    return response
  },
})
console.log(server.port)
