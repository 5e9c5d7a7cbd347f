/**
 * The minimal handler with a request log: one page and its 304 with the same bytes and headers, a
 * request id and the client's address, and no lookup. `bun logged.ts ORIGIN PATH`. Prints its
 * port.
 */
const [origin = '', path = ''] = Bun.argv.slice(2)
const requestHeaders = { 'accept-encoding': 'identity' }
const whole = await fetch(origin + path, { headers: requestHeaders })
const etag = whole.headers.get('etag') ?? ''
const same = await fetch(origin + path, { headers: { ...requestHeaders, 'if-none-match': etag } })
const page = new Blob([await whole.bytes()])

/** Headers without those that change with each response. */
function ownOf({ headers }: Response): Headers {
  const own = new Headers(headers)
  for (const name of ['content-length', 'date', 'x-request-id']) own.delete(name)
  return own
}

const [headers, unchanged] = [ownOf(whole), ownOf(same)]
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
    const response =
      request.headers.get('if-none-match') === etag
        ? new Response(null, { status: 304, headers: unchanged })
        : new Response(page, { headers })
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
