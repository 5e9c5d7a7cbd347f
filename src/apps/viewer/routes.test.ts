import { beforeEach, describe, expect, test } from 'bun:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'

import { Elysia } from 'elysia'

import { MemoryAppSource } from '../../testing/fakes/memory-app-source.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { Pages } from './pages.ts'
import { messageResponse, viewerRoutes } from './routes.ts'

const id = 'lampKeeper_1'
/** An app without files. */
const alone = 'lampKeeper_2'
const html = '<!doctype html><title>Lamp Keeper</title><p>light the lamps</p>'
const origin = 'http://localhost:3000'
const secret = 'a secret of the tests'

let hosted: MemoryAppSource
let pages: Pages
let now = 0

interface Asking {
  apps?: string
  method?: string
}

/** Asks the viewer alone; Host is that of the address, as a server sees it. */
async function ask(path: string, headers: Record<string, string> = {}, more: Asking = {}) {
  const { apps, method = 'GET' } = more
  const url = new URL(path, origin)
  const at =
    apps === undefined
      ? pages
      : new Pages(hosted, { app: origin, apps }, { now: () => now }, secret)
  const request = new Request(url.href, { method, headers: { host: url.host, ...headers } })
  const responses = new Elysia()
    .onError(() => messageResponse(at, 'not_found'))
    .use(viewerRoutes(at))
  return responses.handle(request)
}

const get = (response: Response, name: string): string => response.headers.get(name) ?? ''

beforeEach(() => {
  now = 1_000_000
  hosted = new MemoryAppSource()
  hosted.put(id, html)
  hosted.putFile(id, 'lamp.json', 'application/json', new TextEncoder().encode('{"lit":true}'))
  pages = new Pages(hosted, { app: origin }, { now: () => now }, secret)
})

describe('the shell', () => {
  test('shows the app, its maker and a report link', async () => {
    hosted.put(id, html, { title: '<b>"Lamps" & more', maker: 'ann' })
    const text = await (await ask(`/a/${id}`)).text()
    const shell = shownPage(text)
    expect(shell.names('heading')).toContain('<b>"Lamps" & more')
    expect(shell.hrefs).toEqual(expect.arrayContaining(['/explore/@ann', `/report/${id}`]))
    expect(text).not.toContain('light the lamps')
  })

  test('links to the maker if the maker has a page', async () => {
    hosted.put(id, html, { maker: 'ann', listed: false })
    const text = await (await ask(`/a/${id}`)).text()
    shownPage(text).byText('@ann')
    expect(text).not.toContain('/explore/@')
  })

  test('allows only its own script, style, data and the wrapper', async () => {
    hosted.put(alone, html)
    const response = await ask(`/a/${alone}`)
    const csp = get(response, 'content-security-policy')
    const [, text = ''] = /<script>([^]*?)<\/script>/.exec(await response.text()) ?? []
    const hash = new Bun.CryptoHasher('sha256').update(text).digest('base64')
    expect(csp.split('; ')).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hash}' localhost:3000/a/late/`,
      expect.stringMatching(/^style-src 'sha256-[^']+'$/),
      `connect-src localhost:3000/a/${alone}/ localhost:3000/a/libraries/ localhost:3000/api/apps/${alone}/errors localhost:3000/api/apps/${alone}/own-cover`,
      `img-src localhost:3000/a/${alone}/qr.svg localhost:3000/covers/ localhost:3000/icons/ localhost:3000/static/`,
      'frame-src localhost:3000/frame',
      `manifest-src localhost:3000/a/${alone}/`,
      `worker-src localhost:3000/a/${alone}/offline/worker.js`,
      "base-uri 'none'",
      "form-action 'none'",
      "object-src 'none'",
      "frame-ancestors 'self'",
      "require-trusted-types-for 'script'",
      'trusted-types default',
    ])
    expect(get(response, 'connection-allowlist')).toBe('(response-origin)')
    expect(get(response, 'cross-origin-opener-policy')).toBe('same-origin')
  })

  test('uses the Host of the request if it is valid', async () => {
    hosted.put(alone, html)
    const lan = await ask(`/a/${alone}`, { host: '192.168.1.5:3000' })
    expect(get(lan, 'content-security-policy')).toContain('frame-src 192.168.1.5:3000/frame;')
    const evil = await ask(`/a/${alone}`, { host: "x; script-src 'unsafe-inline'" })
    expect(get(evil, 'content-security-policy')).toContain('frame-src localhost:3000/frame;')
  })

  test('adds less than 6 KB to an app, compressed, of which its script has 3 KB; the wrapper 14.5 KB', async () => {
    const size = async (path: string): Promise<number> =>
      (await (await ask(path, { 'accept-encoding': 'br' })).arrayBuffer()).byteLength
    hosted.put(alone, html)
    expect(await size(`/a/${alone}`)).toBeLessThan(6 * 1_024)
    const script = new TextEncoder().encode(pages.assets().script.text)
    expect(brotliCompressSync(script).byteLength).toBeLessThan(3 * 1_024)
    expect(await size('/frame')).toBeLessThan(14.5 * 1_024)
  })
})

describe('the module that the shell loads last', () => {
  test('is cached forever at an address that changes with it', async () => {
    const { latePath } = pages.assets()
    const response = await ask(latePath)
    expect(get(response, 'content-type')).toContain('text/javascript')
    expect(get(response, 'cache-control')).toContain('immutable')
    expect(await response.text()).toContain('export')
    const other = await ask(latePath.replace(/\w+\.js$/, 'other.js'))
    expect([other.status, get(other, 'cache-control')]).toEqual([404, 'no-store'])
  })
})

describe('the wrapper', () => {
  test('is the same for every app, sandboxed by its headers, without network access', async () => {
    const response = await ask('/frame', { 'sec-fetch-dest': 'iframe', 'user-agent': 'Safari' })
    const csp = get(response, 'content-security-policy')
    expect(csp.split('; ')).toEqual([
      'sandbox allow-scripts allow-forms allow-pointer-lock',
      "default-src 'none'",
      "script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:",
      "style-src 'unsafe-inline' blob: data:",
      'img-src blob: data:',
      'media-src blob: data:',
      'font-src blob: data:',
      'connect-src blob: data:',
      'worker-src blob: data:',
      "frame-src 'none'",
      "object-src 'none'",
      "manifest-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "webrtc 'block'",
      "frame-ancestors 'self'",
    ])
    expect(get(response, 'connection-allowlist')).toBe('()')
    expect(get(response, 'permissions-policy')).toContain('camera=()')
    expect(get(response, 'vary')).toBe('Accept-Encoding, Sec-Fetch-Dest, User-Agent')
  })

  test('omits webrtc for browsers that only log an error for it', async () => {
    const response = await ask('/frame', { 'user-agent': 'Mozilla/5.0 Firefox/153.0' })
    expect(get(response, 'content-security-policy')).not.toContain('webrtc')
  })

  test('is not served as a top-level page', async () => {
    for (const into of ['document', 'empty', 'embed', 'object']) {
      expect((await ask('/frame', { 'sec-fetch-dest': into })).status).toBe(404)
    }
    expect((await ask('/frame')).status).toBe(200)
  })
})

test('no response is sniffed, embedded by other origins, or sends a referrer', async () => {
  const paths = ['data', 'files', 'files/lamp.json', 'qr.svg'].map((name) => `/a/${id}/${name}`)
  for (const path of [`/a/${id}`, '/frame', '/a/noSuchApp123', ...paths]) {
    const { headers } = await ask(path)
    expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
    expect([path, headers.get('cross-origin-resource-policy')]).toEqual([path, 'same-origin'])
    expect([path, headers.get('referrer-policy')]).toEqual([path, 'no-referrer'])
  }
})

describe("an app's page as data", () => {
  const encoded: [accept: string, encoding: string][] = [
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0', ''],
    ['*', 'br'],
    ['*;q=0', ''],
    ['identity, br;q=0.2', ''],
    ['deflate', ''],
    ['', ''],
  ]
  for (const [accept, encoding] of encoded) {
    test(`Accept-Encoding "${accept}" gives ${encoding || 'identity'}`, async () => {
      const response = await ask(`/a/${id}/data`, { 'accept-encoding': accept })
      expect(get(response, 'content-encoding')).toBe(encoding)
      const bytes = new Uint8Array(await response.arrayBuffer())
      const plain =
        encoding === 'br' ? brotliDecompressSync(bytes) : encoding ? gunzipSync(bytes) : bytes
      expect(new TextDecoder().decode(plain)).toBe(html)
    })
  }

  test('is never rendered as a page', async () => {
    const { headers } = await ask(`/a/${id}/data`)
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('vary')).toBe('Accept-Encoding')
  })

  test('has a strong ETag per encoding, and responds 304 only to that ETag', async () => {
    const plain = get(await ask(`/a/${id}/data`), 'etag')
    const br = get(await ask(`/a/${id}/data`, { 'accept-encoding': 'br' }), 'etag')
    expect(plain).toMatch(/^"[0-9a-f]{64}"$/)
    expect(br).toBe(plain.replace(/"$/, '-br"'))
    const again = (tags: string) =>
      ask(`/a/${id}/data`, { 'accept-encoding': 'br', 'if-none-match': tags })
    const known = await again(`"other", W/${br}`)
    expect([known.status, get(known, 'etag'), get(known, 'vary')]).toEqual([
      304,
      br,
      'Accept-Encoding',
    ])
    expect(await known.text()).toBe('')
    expect((await again('*')).status).toBe(304)
    expect((await again(plain)).status).toBe(200)
  })

  test('changes with a new version', async () => {
    const before = get(await ask(`/a/${id}/data`), 'etag')
    hosted.put(id, `${html}<p>new`)
    hosted.commitCount += 1
    const after = await ask(`/a/${id}/data`, { 'if-none-match': before })
    expect([after.status, await after.text()]).toEqual([200, `${html}<p>new`])
  })
})

describe("an app's files", () => {
  test('are listed with URLs that contain their content hash', async () => {
    const list: { files: { url: string }[] } = JSON.parse(
      await (await ask(`/a/${id}/files`)).text(),
    )
    const [{ url } = { url: '' }] = list.files
    expect<unknown>(list.files).toEqual([
      { name: 'lamp.json', type: 'application/json', bytes: 12, url: expect.any(String) },
    ])
    const response = await ask(url)
    expect(get(response, 'cache-control')).toBe('private, max-age=31536000, immutable')
    expect(get(response, 'content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ lit: true })
    const known = await ask(url, { 'if-none-match': get(response, 'etag') })
    expect(known.status).toBe(304)
  })

  test('are never rendered as pages', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    hosted.putFile(id, 'lamp.svg', 'image/svg+xml', new TextEncoder().encode(svg))
    const response = await ask(`/a/${id}/files/lamp.svg`)
    expect(get(response, 'content-type')).toBe('image/svg+xml')
    expect(get(response, 'content-disposition')).toBe('attachment')
    expect(get(response, 'content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  test('are revalidated under a URL with another hash', async () => {
    const response = await ask(`/a/${id}/files/lamp.json?h=0`)
    expect(get(response, 'cache-control')).toBe('no-cache')
  })

  test('that do not exist are 404', async () => {
    for (const name of ['none.png', '..%2F..%2Fetc%2Fpasswd', '%00']) {
      expect((await ask(`/a/${id}/files/${name}`)).status).toBe(404)
    }
  })
})

describe('HEAD', () => {
  test('has the headers of GET without a body', async () => {
    const app = new Elysia().use(viewerRoutes(pages)).listen({ hostname: '127.0.0.1', port: 0 })
    try {
      for (const path of [
        `/a/${id}`,
        `/a/${id}/data`,
        `/a/${id}/files`,
        '/frame',
        '/a/noSuchApp123',
      ]) {
        const url = `http://127.0.0.1:${app.server?.port}${path}`
        const headers = { 'accept-encoding': 'identity' }
        const [got, head] = [
          await fetch(url, { headers }),
          await fetch(url, { headers, method: 'HEAD' }),
        ]
        expect(head.status).toBe(got.status)
        for (const name of ['etag', 'content-type', 'content-length', 'content-security-policy']) {
          expect([path, name, get(head, name)]).toEqual([path, name, get(got, name)])
        }
        expect(await head.text()).toBe('')
      }
    } finally {
      await app.stop(true)
    }
  })
})

describe('states', () => {
  const hashOf = (text: string): string =>
    new Bun.CryptoHasher('sha256').update(text).digest('base64')
  const states: [
    state: 'building' | 'taken_down' | 'closed',
    page: number,
    data: number,
    says: string,
  ][] = [
    ['building', 200, 404, 'Being built'],
    ['taken_down', 410, 410, 'Taken down'],
    ['closed', 410, 410, 'App deleted'],
  ]
  for (const [state, page, data, says] of states) {
    test(state, async () => {
      hosted.put(id, html, { state })
      const response = await ask(`/a/${id}`)
      expect([response.status, get(response, 'cache-control')]).toEqual([page, 'no-store'])
      const text = await response.text()
      expect(shownPage(text).names('heading')).toContain(says)
      // Long work tells how far it is, and only that looks again by itself.
      expect(text.includes('<progress value=0.15')).toBe(state === 'building')
      expect(text.includes('<noscript><meta http-equiv=refresh')).toBe(state === 'building')
      const policy = get(response, 'content-security-policy')
      const [script = ''] = /(?<=<script>)[^]*(?=<\/script>)/.exec(text) ?? []
      expect(script.includes('auto-refresh')).toBe(state === 'building')
      expect(policy.includes(`script-src 'sha256-${hashOf(script)}'`)).toBe(state === 'building')
      for (const below of ['data', 'files', 'files/lamp.json']) {
        const rejected = await ask(`/a/${id}/${below}`)
        expect(rejected.status).toBe(data)
        expect(await rejected.json()).toEqual({
          error: expect.any(String),
          code: data === 410 ? 'taken_down' : 'not_found',
        })
      }
    })
  }

  test('an unknown or malformed id is not found', async () => {
    for (const path of ['/a/noSuchApp123', '/a/x', '/a/%2e%2e', '/a/<script>']) {
      const response = await ask(path)
      expect(response.status).toBe(404)
      expect(await response.text()).toContain('App not found')
      const policy = get(response, 'content-security-policy')
      expect(policy).toEndWith("base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
      expect(get(response, 'x-frame-options')).toBe('DENY')
    }
    expect(hosted.finds).toBe(1)
  })

  test('a takedown applies at once when reported, and within a second otherwise', async () => {
    expect((await ask(`/a/${id}/data`)).status).toBe(200)
    hosted.put(id, html, { state: 'taken_down' })
    now += 1_000
    expect((await ask(`/a/${id}/data`)).status).toBe(410)
    hosted.put(id, html)
    hosted.commitCount += 1
    expect((await ask(`/a/${id}/data`)).status).toBe(200)
  })

  test('concurrent requests query the source once', async () => {
    for (let i = 0; i < 20; i += 1) await ask(`/a/${id}/data`)
    expect(hosted.finds).toBe(1)
  })
})

describe('a separate host for apps', () => {
  const apps = 'https://apps.example'

  test('serves the wrapper and nothing else', async () => {
    hosted.put(alone, html)
    const shell = await ask(`/a/${alone}`, {}, { apps })
    const csp = get(shell, 'content-security-policy')
    expect(csp).toContain(`connect-src ${origin}/a/${alone}/ ${origin}/a/libraries/ ${origin}/api/`)
    expect(csp).toContain(`img-src ${origin}/a/${alone}/qr.svg `)
    expect(csp).toContain(`frame-src ${apps}/frame;`)
    expect(get(shell, 'connection-allowlist')).toBe(`(response-origin "${apps}")`)
    expect(await shell.text()).toContain(`data-frame="${apps}/frame"`)
    const there = { host: 'apps.example' }
    const frame = await ask('/frame', there, { apps })
    expect(frame.status).toBe(200)
    expect(get(frame, 'content-security-policy')).toEndWith(`frame-ancestors ${origin}`)
    // On the host of other pages the header would log a warning in browsers.
    expect(get(frame, 'origin-agent-cluster')).toBe('?1')
    for (const path of ['/frame', `/a/${id}`]) {
      expect((await ask(path)).headers.has('origin-agent-cluster')).toBe(false)
    }
    expect(shell.headers.has('origin-agent-cluster')).toBe(false)
    for (const path of ['/', `/a/${id}`, `/a/${id}/data`, '/api/on']) {
      expect((await ask(path, there, { apps })).status).toBe(404)
    }
    expect((await ask('/frame', {}, { apps })).status).toBe(404)
  })
})
