/**
 * `bun frames.ts FOLDER`: a static server whose pages are in a bare sandboxed frame, with the
 * headers that Berth sends. Its files are compressed once. Prints its port.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

import { mediaTypeOf } from '../../../src/apps/assets/upload.ts'
import { allow, fileHeaders, frameHeaders, sandbox } from '../../../src/apps/viewer/policy.ts'
import { sha256 } from '../../../src/kernel/ids.ts'

const [folder = ''] = Bun.argv.slice(2)
/** The quality of the variants that Berth stores. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
const stored = new Map(
  names.map((name) => {
    const bytes = readFileSync(join(folder, name))
    const type = mediaTypeOf(name)
    const br = /text|javascript|json/.test(type) ? brotliCompressSync(bytes, { params }) : undefined
    return [
      `/${name}`,
      { type, body: br ?? bytes, isPacked: br !== undefined, etag: sha256(bytes) },
    ]
  }),
)

/** The page around a frame, and nothing else. */
const around = (path: string): string =>
  `<!doctype html><title>Frame</title><style>iframe{border:0;width:100vw;height:100vh}</style><iframe sandbox="${sandbox}" allow="${allow}" src="${path}"></iframe>`

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch(request) {
    const { pathname, origin } = new URL(request.url)
    const html = { 'content-type': 'text/html; charset=utf-8' }
    // The start of each measured navigation.
    if (pathname === '/robots.txt') return new Response('')
    if (pathname.endsWith('/')) {
      return new Response(around(`${pathname}index.html`), {
        headers: { ...html, 'cache-control': 'no-cache' },
      })
    }
    const file = stored.get(pathname)
    if (!file) return new Response('', { status: 404 })
    const { type, body, isPacked, etag } = file
    const isPage = type.startsWith('text/html')
    const files = [origin + pathname.replace(/[^/]*$/, '')]
    const options = { ancestor: "'self'", hasWebrtc: false, isSeparate: false, files }
    const headers = new Headers(isPage ? frameHeaders(options) : fileHeaders(type))
    headers.set('etag', `"${etag}"`)
    if (isPacked) headers.set('content-encoding', 'br')
    const isKnown = request.headers.get('if-none-match') === `"${etag}"`
    return new Response(isKnown ? null : body, { status: isKnown ? 304 : 200, headers })
  },
})
console.log(server.port)
