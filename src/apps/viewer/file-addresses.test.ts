import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'

import { Elysia } from 'elysia'

import { AddressClient, Costs } from '../../kernel/client.ts'
import { setRequestContext } from '../../kernel/http/request-context.ts'
import { BodyArrivals } from '../../kernel/state/body-arrivals.ts'
import { MemoryAppSource } from '../../testing/fakes/memory-app-source.ts'
import type { CachedPage } from './cached-page.ts'
import { copyOf } from './offline-copy.ts'
import { Pages } from './pages.ts'
import { viewerRoutes } from './routes.ts'

const id = 'lampKeeper_1'
const origin = 'http://localhost:3000'
const secret = 'a secret of the tests'
const script = `console.log('lamp')\n`.repeat(200)
const folder = {
  'index.html': '<!doctype html><title>Lamp</title><script type=module src=js/main.js></script>',
  'about.html': '<!doctype html><title>About</title>',
  'js/main.js': script,
  'img/Lamp 1.png': new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
}

let hosted: MemoryAppSource
let pages: Pages
let now = 0

interface Asking {
  method?: string
  at?: Pages
  host?: string
}

async function ask(path: string, headers: Record<string, string> = {}, more: Asking = {}) {
  const { method = 'GET', at = pages, host = 'localhost:3000' } = more
  const request = new Request(origin + path, { method, headers: { host, ...headers } })
  return new Elysia().use(viewerRoutes(at)).handle(request)
}

/** Returns the path of the files of the app, as its shell names it. */
async function addressOf(at = pages, host = 'localhost:3000'): Promise<string> {
  const shell = await (await ask(`/a/${id}`, {}, { at, host })).text()
  return /data-frame="[^"]*?(\/f\/[0-9a-f]{32}\/)\?wrapper"/.exec(shell)?.[1] ?? ''
}

const newPages = (apps?: string): Pages =>
  new Pages(hosted, { app: origin, ...(apps && { apps }) }, { now: () => now }, secret)

beforeEach(() => {
  now = 1_000_000
  hosted = new MemoryAppSource()
  hosted.putFolder(id, folder)
  pages = newPages()
})

describe('a file of a folder', () => {
  test('has an address with its type, which any origin may read and keep', async () => {
    const response = await ask(`${await addressOf()}js/main.js`)
    expect(await response.text()).toBe(script)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'timing-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=31536000, immutable',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox",
    })
    expect(response.headers.has('set-cookie')).toBe(false)
  })

  test('has the type and the encoding that the loader of Unity needs', async () => {
    const part = new Uint8Array(brotliCompressSync('scene'))
    const names = ['Build/a.wasm.br', 'Build/a.framework.js.gz', 'a.wasm.br', 'Build/a.txt.br']
    hosted.putFolder(id, { ...folder, ...Object.fromEntries(names.map((name) => [name, part])) })
    pages = newPages()
    const address = await addressOf()
    const shown = names.map(async (name) => {
      const { headers } = await ask(address + name)
      return [headers.get('content-type'), headers.get('content-encoding')]
    })
    expect(await Promise.all(shown)).toEqual([
      ['application/wasm', 'br'],
      ['text/javascript; charset=utf-8', 'gzip'],
      ['application/octet-stream', null],
      ['application/octet-stream', null],
    ])
  })

  test('comes in ranges, and without its bytes for HEAD', async () => {
    const path = `${await addressOf()}img/Lamp%201.png`
    const range = async (bytes: string) => {
      const response = await ask(path, { range: `bytes=${bytes}` })
      const at = response.headers.get('content-range')
      return [response.status, at, [...new Uint8Array(await response.arrayBuffer())]]
    }
    expect(await range('2-4')).toEqual([206, 'bytes 2-4/10', [3, 4, 5]])
    expect(await range('-2')).toEqual([206, 'bytes 8-9/10', [9, 10]])
    expect(await range('8-')).toEqual([206, 'bytes 8-9/10', [9, 10]])
    expect(await range('10-')).toEqual([416, 'bytes */10', []])
    const head = await ask(path, {}, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test('is found by its exact name only, and everything else is 404 for any origin', async () => {
    const at = await addressOf()
    const paths = [
      'js/Main.js',
      'js%2fmain.js',
      'js%5cmain.js',
      'js//main.js',
      './js/../missing.js',
      'js/main.js/',
      'js',
      '%zz',
      '%252e%252e/frame',
    ]
    for (const path of [...paths.map((one) => at + one), '/f/', '/f/abc/index.html', `/f/x${at}`]) {
      const response = await ask(path)
      const { status, headers } = response
      expect([path, status, headers.get('location')]).toEqual([path, 404, null])
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect((await ask(`${at}js/main.js`, {}, { method })).status).toBe(404)
    }
  })

  test('is no document and no service worker', async () => {
    const at = await addressOf()
    for (const into of ['document', 'frame', 'object', 'embed', 'serviceworker']) {
      for (const name of ['js/main.js', 'index.html', '?wrapper']) {
        expect((await ask(at + name, { 'sec-fetch-dest': into })).status).toBe(404)
      }
    }
    expect((await ask(`${at}js/main.js`, { 'service-worker': 'script' })).status).toBe(404)
    expect((await ask(`${at}js/main.js`, { 'sec-fetch-dest': 'iframe' })).status).toBe(404)
    expect((await ask(`${at}js/main.js`, { 'sec-fetch-dest': 'script' })).status).toBe(200)
  })

  test('ends with its app, and older versions keep theirs while it lives', async () => {
    const at = await addressOf()
    const text = async () => (await ask(`${at}index.html`)).status
    expect(await text()).toBe(200)
    hosted.putFolder(id, { ...folder, 'new.js': '1' })
    now += 1_000
    expect(await addressOf()).not.toBe(at)
    expect(await text()).toBe(200)
    for (const state of ['quarantined', 'taken_down', 'closed'] as const) {
      hosted.put(id, 'x', { state })
      now += 1_000
      expect([state, await text()]).toEqual([state, 404])
    }
  })

  test('has the same address on all servers with one secret, and another with another', async () => {
    const at = await addressOf()
    expect(await addressOf(newPages())).toBe(at)
    const other = new Pages(hosted, { app: origin }, { now: () => now }, 'another')
    expect(await addressOf(other)).not.toBe(at)
    expect((await ask(`${at}js/main.js`, {}, { at: other })).status).toBe(404)
  })

  test('is only at the host of apps, if there is one', async () => {
    const at = newPages('http://apps.localhost:3000')
    const path = `${await addressOf(at)}js/main.js`
    expect((await ask(path, {}, { at })).status).toBe(404)
    expect((await ask(path, {}, { at, host: 'apps.localhost:3000' })).status).toBe(200)
  })

  test('gets a new address when it changes in the same version', async () => {
    const at = await addressOf()
    hosted.putFile(id, 'js/main.js', 'text/javascript', new TextEncoder().encode('2'))
    pages = newPages()
    expect(await addressOf()).not.toBe(at)
  })
})

describe('the wrapper of a page with files', () => {
  test('reaches the address of its version and nothing else', async () => {
    const at = await addressOf()
    const headers = { 'sec-fetch-dest': 'iframe', 'user-agent': 'Safari', 'accept-encoding': 'br' }
    const response = await ask(`${at}?wrapper`, headers)
    const text = new TextDecoder().decode(brotliDecompressSync(await response.bytes()))
    expect(text).toContain('service:page')
    const own = `http://localhost:3000${at} https://localhost:3000${at}`
    const loads = `blob: data: ${own}`
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      'sandbox allow-scripts allow-forms allow-pointer-lock',
      "default-src 'none'",
      `script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' ${loads}`,
      `style-src 'unsafe-inline' ${loads}`,
      ...['img', 'media', 'font', 'connect', 'worker'].map((kind) => `${kind}-src ${loads}`),
      `frame-src ${own}`,
      "object-src 'none'",
      "manifest-src 'none'",
      `base-uri ${own}`,
      `form-action ${own}`,
      "webrtc 'block'",
      "frame-ancestors 'self'",
    ])
    expect(response.headers.get('connection-allowlist')).toBe(`("${own.replace(' ', '*" "')}*")`)
    const shell = await ask(`/a/${id}`)
    expect(shell.headers.get('content-security-policy')).toContain(
      `; frame-src localhost:3000${at};`,
    )
  })

  test('names the configured host with its scheme', async () => {
    const at = newPages('https://apps.example')
    const path = await addressOf(at)
    const into = { 'sec-fetch-dest': 'iframe' }
    const response = await ask(`${path}?wrapper`, into, { at, host: 'apps.example' })
    const own = `https://apps.example${path}`
    expect(response.headers.get('connection-allowlist')).toBe(`("${own}*")`)
    expect(response.headers.get('content-security-policy')).toContain(`frame-src ${own};`)
  })

  test('is not that of a page without files', async () => {
    hosted.put('noFiles_0001', '<!doctype html><p>alone')
    const shell = await (await ask('/a/noFiles_0001')).text()
    expect(shell).toContain('data-frame="/frame"')
  })
})

test('a frame gets no byte of a page, but a document that asks the shell for it', async () => {
  const at = await addressOf()
  for (const path of ['about.html', 'about', 'index.html', '']) {
    for (const headers of [{ 'sec-fetch-dest': 'iframe' }, { accept: 'text/html,*/*' }]) {
      const response = await ask(at + path, headers)
      const text = await response.text()
      expect(text).toContain('service:page')
      expect(text).not.toContain('About')
      const [, code = ''] = /<script>([^]*?)<\/script>/.exec(text) ?? []
      const hash = new Bun.CryptoHasher('sha256').update(code).digest('base64')
      expect(response.headers.get('content-security-policy')).toBe(
        `sandbox allow-scripts; default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
      )
      expect(response.headers.get('connection-allowlist')).toBe('()')
    }
  }
  expect((await ask(`${at}missing`, { 'sec-fetch-dest': 'iframe' })).status).toBe(404)
})

test('a page that came alone finds its assets by the paths that it writes', async () => {
  hosted.put('alone_000001', '<!doctype html><img src=img/Ship.png>')
  hosted.putFile('alone_000001', 'img-ship.png', 'image/png', new Uint8Array([7]))
  const shell = await (await ask('/a/alone_000001')).text()
  const at = /(\/f\/[0-9a-f]{32}\/)/.exec(shell)?.[1] ?? ''
  expect([...(await (await ask(`${at}img/Ship.png`)).bytes())]).toEqual([7])
  expect((await ask(`${at}img-ship.png`)).status).toBe(200)
})

describe('the shell of a restricted app', () => {
  const alone = 'lampKeeper_2'
  const shellFor = async (visitor: string, app: string) => {
    const headers = { host: 'localhost:3000', cookie: visitor }
    const request = new Request(`${origin}/a/${app}`, { headers })
    const clock = { now: () => now }
    const client = new AddressClient('192.0.2.1', new Costs(clock))
    setRequestContext(request, { id: 'visit', client, bodyArrivals: new BodyArrivals(clock) })
    const page = await pages.find(app)
    return page && pages.shell(page, request)
  }

  beforeEach(() => {
    Object.assign(hosted, {
      findPass: async (_: string, { headers }: { headers: Headers }) => ({
        kind: 'person',
        id: headers.get('cookie'),
      }),
    })
  })

  test('is rendered once for a page without files, until the app changes', async () => {
    hosted.put(alone, '<p>alone</p>', { restricted: true })
    const first = await shellFor('personAAAAAA', alone)
    expect(first).toBeDefined()
    expect(await shellFor('personBBBBBB', alone)).toBe(first)
    hosted.put(alone, '<p>alone</p>', { restricted: true, access: 1 })
    hosted.commitCount += 1
    expect(await shellFor('personAAAAAA', alone)).not.toBe(first)
  })

  test('is rendered once for each visitor of a page with files', async () => {
    hosted.putFolder(id, folder)
    const stored = hosted.apps.get(id)
    if (!stored) throw new Error('the app is missing')
    hosted.apps.set(id, { ...stored, app: { ...stored.app, restricted: true } })
    hosted.commitCount += 1
    const [first, second] = [await shellFor('personAAAAAA', id), await shellFor('personBBBBBB', id)]
    expect(second).not.toBe(first)
    expect(await shellFor('personAAAAAA', id)).toBe(first)
    const texts = await Promise.all(
      [first, second].map((one) => one?.variants.at(-1)?.content().text()),
    )
    const addresses = texts.map((text) => /\/f\/[0-9a-f]{64}\//.exec(text ?? '')?.[0])
    expect(new Set(addresses).size).toBe(2)
    expect(addresses).not.toContain(undefined)
  })
})

test('the content of a page is not read again for the next visit, nor for that of its copy', async () => {
  const alone = 'lampKeeper_2'
  const knob = '<meta name="berth:knob" content="name=speed; type=range; min=1; max=9; value=4">'
  hosted.put(alone, `<title>alone</title>${knob}`)
  const html = spyOn(hosted, 'html')
  const hasKnobs = async (page: CachedPage, host: string) => {
    const shell = await pages.shell(page, new Request(origin, { headers: { host } }))
    return (await shell.variants.at(-1)?.content().text())?.includes('data-knobs')
  }
  const page = await pages.find(alone)
  if (!page) throw new Error('the app is missing')
  for (let round = 1; round <= 2; round += 1) {
    const copy = await copyOf(pages, page)
    for (const host of ['localhost:3000', 'lamp.local:3000']) {
      expect(await hasKnobs(page, host)).toBe(true)
      expect(copy && (await hasKnobs(copy, host))).toBe(false)
    }
    if (round === 1) html.mockClear()
  }
  expect(html).not.toHaveBeenCalled()
  hosted.put(alone, '<title>alone</title>', { version: 2 })
  hosted.commitCount += 1
  const changed = await pages.find(alone)
  expect(changed && (await hasKnobs(changed, 'localhost:3000'))).toBe(false)
})
