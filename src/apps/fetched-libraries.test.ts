import { expect, test } from 'bun:test'

import { recordOf } from '../kernel/schema.ts'
import { openRegistry, packed, tarball } from '../testing/fixtures/registry.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import { addLibrary } from './libraries/added.ts'
import { fetchedPerPageMax } from './libraries/library.ts'

const library = (name: string, code: string, more = {}) =>
  tarball({
    'package/package.json': JSON.stringify({
      name,
      version: '1.2.3',
      license: 'MIT',
      main: 'a.js',
      ...more,
    }),
    'package/LICENSE': 'Permission is granted',
    'package/a.js': code,
  })
const page = (...urls: string[]): string =>
  `<!doctype html><title>t</title>${urls.map((url) => `<script src="${url}"></script>`).join('')}`
const tiny = 'https://unpkg.com/tiny-lib@1.2.3'
const miner = "new CoinHive.Anonymous('key', { throttle: 0.2 }).start()"

/** Starts a server that fetches from a registry with some packages. */
async function open(packages: Record<string, Uint8Array>, options = {}) {
  const registry = openRegistry(packages, options)
  const settings = { LIBRARIES: 'fetch', LIBRARY_REGISTRY: registry.url }
  const t = await startTestServer(settings)
  const ann = await t.agent('ann')
  const publish = async (html: string) => recordOf((await ann.call('POST', '/apps', { html })).body)
  return {
    ...t,
    registry,
    publish,
    close: async () => {
      registry.close()
      await t.close()
    },
  }
}

test('a package that a page names is fetched once, with its license', async () => {
  const { request, registry, publish, close } = await open({
    'tiny-lib': library('tiny-lib', 'window.tiny = 1'),
  })
  expect(await publish(page(tiny))).toMatchObject({ scan: { verdict: 'clean' } })
  expect(await publish(page(tiny, 'https://cdn.jsdelivr.net/npm/tiny-lib'))).toMatchObject({
    scan: { verdict: 'clean' },
    note: expect.stringContaining('tiny-lib is pinned to 1.2.3'),
  })
  expect(registry.requests.filter((path) => path.endsWith('.tgz'))).toEqual(['/tiny-lib.tgz'])
  const listed = JSON.stringify((await request('GET', '/api/libraries')).body)
  expect(listed).toContain('"name":"tiny-lib","version":"1.2.3","license":"MIT","source":"fetched"')
  const license = await request('GET', '/api/libraries/license?library=tiny-lib@1.2.3')
  expect(String(license.body)).toContain('Permission is granted')
  await close()
})

test('a fetched version does not replace another one, and a missing version is a warning', async () => {
  const { registry, publish, close } = await open({
    'tiny-lib': library('tiny-lib', 'window.tiny = 1'),
    'chart.js': library('chart.js', 'window.Chart = 1'),
  })
  await publish(page('https://unpkg.com/chart.js@1.2.3/a.js'))
  expect(await publish(page('https://cdn.jsdelivr.net/npm/chart.js'))).toMatchObject({
    note: expect.stringContaining('chart.js is pinned to 4.'),
  })
  const missing = await publish(page('https://unpkg.com/none@9.9.9'))
  expect(missing).toMatchObject({ scan: { verdict: 'warn' } })
  const before = registry.requests.length
  await publish(page('https://unpkg.com/none@9.9.9'))
  expect(registry.requests.length).toBe(before)
  await close()
})

test('other hosts, paths that leave a package and texts in scripts are not fetched', async () => {
  const { registry, publish, close } = await open({
    'tiny-lib': library('tiny-lib', 'window.tiny = 1'),
  })
  await publish(
    page(
      'https://elsewhere.example/npm/tiny-lib@1.2.3',
      'https://unpkg.com/tiny-lib@1.2.3%2f..%2fa.js',
    ) + `<script>const later = '${tiny}'</script>`,
  )
  expect(registry.requests).toEqual([])
  await close()
})

const cdnjs = 'https://cdnjs.cloudflare.com/ajax/libs/'

test('a name and a path of cdnjs are those of the npm package with that file', async () => {
  const purify = 'self.DOMPurify = 1'
  const { publish, request, close } = await open({
    dompurify: packed('dompurify', { 'dist/purify.min.js': purify }),
    'pdfjs-dist': packed('pdfjs-dist', {
      'build/pdf.mjs': 'export let a',
      'build/pdf.min.js': '1',
    }),
    tiny: packed('tiny', { 'out/browser/tiny.js': 'self.tiny = 1' }),
    other: packed('other', { 'dist/a.js': 'self.other = 1' }),
  })
  const integrity = `sha256-${new Bun.CryptoHasher('sha256').update(purify).digest('base64')}`
  const safe = `<script src="${cdnjs}dompurify/1.2.3/purify.min.js" integrity="${integrity}"></script>`
  const urls = [`${cdnjs}pdf.js/1.2.3/pdf.min.js`, `${cdnjs}tiny.js/1.2.3/tiny.min.js`]
  const found = await publish(page(...urls) + safe)
  expect(found).toMatchObject({ scan: { verdict: 'clean' } })
  const { body } = await request('GET', `/a/${recordOf(found['app'])['id']}/files`)
  const names = ['pdfjs-dist@1.2.3/build/pdf.min.js', 'tiny@1.2.3/out/browser/tiny.js']
  for (const name of [...names, 'dompurify@1.2.3/dist/purify.min.js'])
    expect(JSON.stringify(body)).toContain(`"name":"berth:${name}"`)

  const wrong = `<script src="${cdnjs}dompurify/1.2.3/purify.min.js" integrity="sha256-AAAA"></script>`
  for (const tag of [wrong, page(`${cdnjs}other/1.2.3/other.js`)])
    expect(await publish(page() + tag)).toMatchObject({ scan: { verdict: 'warn' } })
  await close()
})

/** Reads a file of a package at the address of an app. */
async function readAt(t: Awaited<ReturnType<typeof open>>, published: unknown, path: string) {
  const id = String(recordOf(recordOf(published)['app'])['id'])
  const { frame } = recordOf((await t.request('GET', `/a/${id}/files`)).body)
  const address = String(frame).replace('?wrapper', '')
  const headers = { 'sec-fetch-dest': 'empty' }
  const { status, headers: sent } = await t.request('GET', `${address}npm/${path}`, { headers })
  return [path, status, sent.get('content-type')]
}

test('data, workers and WebAssembly of packages are files at the address of the page', async () => {
  const t = await open({
    emoji: packed('emoji', { 'data/all.json': '{"wave":1}', 'data/more.json': '{}' }),
    map: packed('map', {
      'dist/map.js': "icon = 'pin.png'; new Worker('map.worker.js')",
      'dist/map.worker.js': "importScripts('part.js')",
      'dist/images/pin.png': 'PNG',
      'dist/images/unused.png': 'PNG',
    }),
    draw: packed('draw', { 'libs/draco/a.wasm': 'A', 'libs/draco/b.js': 'B', 'libs/c.js': 'C' }),
  })
  const code = `fetch('https://unpkg.com/emoji@1.2.3/data/all.json')
setPath('https://cdn.jsdelivr.net/npm/draw@1.2.3/libs/draco/')`
  const published = await t.publish(
    `${page('https://unpkg.com/map@1.2.3/dist/map.js')}<script>${code}</script>`,
  )
  expect(published).toMatchObject({ scan: { verdict: 'clean' } })
  for (const [path, type] of [
    ['emoji@1.2.3/data/all.json', 'application/json'],
    ['map@1.2.3/dist/map.worker.js', 'text/javascript'],
    ['map@1.2.3/dist/images/pin.png', 'image/png'],
    ['draw@1.2.3/libs/draco/a.wasm', 'application/wasm'],
    ['draw@1.2.3/libs/draco/b.js', 'text/javascript'],
  ] as const) {
    expect(await readAt(t, published, path)).toEqual([path, 200, type])
  }
  for (const path of [
    'emoji@1.2.3/data/more.json',
    'map@1.2.3/dist/images/unused.png',
    'draw@1.2.3/libs/c.js',
    'map@1.2.3/package.json',
    'lodash@4.17.21/lodash.min.js',
  ]) {
    expect((await readAt(t, published, path)).slice(0, 2)).toEqual([path, 404])
  }
  await t.close()
})

test('CommonJS packages get the packages that they require', async () => {
  const t = await open({
    gif: packed(
      'gif',
      { 'index.js': "exports.read = require('schema/lib/b').default" },
      {
        dependencies: { schema: '^1.0.0' },
      },
    ),
    schema: packed('schema', {
      'lib/b.js': 'exports.__esModule = true; exports.default = 1; exports.c = 2',
    }),
  })
  const html = `<!doctype html><title>t</title><script type=module>import { read } from 'https://esm.sh/gif@1.2.3'</script>`
  const published = await t.publish(html)
  expect(published).toMatchObject({ scan: { verdict: 'clean' } })
  const id = String(recordOf(recordOf(published)['app'])['id'])
  const list = JSON.stringify((await t.request('GET', `/a/${id}/files`)).body)
  expect(list).toContain('berth:schema@1.2.3/lib/b.js?module')
  await t.close()
})

test('a busy registry is asked again, and the note says where it stays busy', async () => {
  const packages = { 'tiny-lib': library('tiny-lib', 'window.tiny = 1') }
  const late = await open(packages, { busy: 2 })
  expect(await late.publish(page(tiny))).toMatchObject({ scan: { verdict: 'clean' } })
  await late.close()

  const busy = await open(packages, { busy: 3 })
  expect(await busy.publish(page(tiny))).toMatchObject({
    scan: { verdict: 'warn' },
    note: expect.stringContaining('tiny-lib@1.2.3: status 503. Publish again later.'),
  })
  expect(await busy.publish(page(tiny))).toMatchObject({ scan: { verdict: 'clean' } })
  await busy.close()
})

test('a version that the registry lacks is the nearest one, and an empty file is missing', async () => {
  const { publish, registry, request, close } = await open({
    'tiny-lib': packed('tiny-lib', { 'dist/a.min.js': '', 'dist/b.js': 'self.tiny = 1' }),
    math: packed('math', { 'dist/math.js': 'throw 1', 'lib/browser/math.js': 'x'.repeat(2_000) }),
  })
  const near = 'https://unpkg.com/tiny-lib@1.1.0/dist/b.js'
  for (const count of [1, 2]) {
    expect(await publish(page(near))).toMatchObject({
      scan: { verdict: 'clean' },
      note: expect.stringContaining('tiny-lib@1.1.0 is not here: tiny-lib@1.2.3 is used instead.'),
    })
    expect([count, registry.requests.filter((path) => path.endsWith('.tgz')).length]).toEqual([
      count,
      1,
    ])
  }
  expect(await publish(page('https://unpkg.com/tiny-lib@1.2.3/dist/a.min.js'))).toMatchObject({
    scan: { verdict: 'warn' },
  })
  const published = await publish(page(`${cdnjs}math/1.2.3/math.js`))
  const { body } = await request('GET', `/a/${recordOf(published['app'])['id']}/files`)
  expect(JSON.stringify(body)).toContain('berth:math@1.2.3/lib/browser/math.js')
  await close()
})

test('the note says why a package was not fetched', async () => {
  const { publish, close } = await open({})
  expect(await publish(page(tiny))).toMatchObject({
    note: expect.stringContaining('The registry has no tiny-lib@1.2.3.'),
  })
  await close()
})

test.each([
  ['another integrity', { integrity: 'sha512-AAAA' }],
  ['a tarball on another host', { tarballHost: 'http://127.0.0.2:1' }],
  ['a redirect', { isMoved: true }],
])('%s is not added', async (_, options) => {
  const { request, publish, close } = await open(
    { 'tiny-lib': library('tiny-lib', 'window.tiny = 1') },
    options,
  )
  expect(await publish(page(tiny))).toMatchObject({ scan: { verdict: 'warn' } })
  expect(JSON.stringify((await request('GET', '/api/libraries')).body)).not.toContain('tiny-lib')
  await close()
})

test('a package with another name in it, or blocked by the safety check, is not used', async () => {
  const { publish, request, close } = await open({
    'tiny-lib': library('react', 'window.tiny = 1'),
    'other-lib': library('other-lib', miner),
  })
  expect(await publish(page(tiny))).toMatchObject({ scan: { verdict: 'warn' } })
  expect(JSON.stringify((await request('GET', '/api/libraries')).body)).not.toContain('1.2.3')
  expect(await publish(page('https://unpkg.com/other-lib@1.2.3'))).toMatchObject({
    note: expect.stringContaining('other-lib@1.2.3 is not used: the safety check blocked it.'),
  })
  await close()
})

test('a script larger than a page may be is used', async () => {
  const { publish, close } = await open({
    'tiny-lib': library('tiny-lib', `window.tiny='${'a'.repeat(4_400_000)}'`),
  })
  expect(await publish(page(tiny))).toMatchObject({ scan: { verdict: 'clean' } })
  await close()
}, 60_000)

const filesOf = async (t: Awaited<ReturnType<typeof open>>, published: unknown) => {
  const id = String(recordOf(recordOf(published)['app'])['id'])
  return JSON.stringify((await t.request('GET', `/a/${id}/files`)).body)
}

test('a blocked copy does not take the files of the program with it', async () => {
  const t = await open(
    { lodash: packed('lodash', { 'more.js': miner }, { version: '4.17.21' }) },
    { versions: { lodash: '4.17.21' } },
  )
  const urls = ['lodash.min.js', 'more.js'].map(
    (file) => `https://unpkg.com/lodash@4.17.21/${file}`,
  )
  const published = await t.publish(page(...urls))
  expect(published).toMatchObject({
    scan: { warnings: [{ help: expect.stringContaining('lodash@4.17.21 has no more.js here.') }] },
    note: expect.stringContaining('The fetched lodash@4.17.21 is not used'),
  })
  const files = await filesOf(t, published)
  expect(files).toContain('"name":"berth:lodash@4.17.21/lodash.min.js"')
  expect(files).not.toContain('more.js')
  await t.close()
})

test('what is used in place of a blocked package is checked, too', async () => {
  const t = await open({})
  for (const version of ['1.0.0', '1.0.1']) {
    const files = new Map([['a.js', new TextEncoder().encode(`${miner} // ${version}`)]])
    await addLibrary(t.ctx, { name: 'evil', version, license: 'MIT', files }, 'fetched')
  }
  const published = await t.publish(page('https://unpkg.com/evil@1.0.1/a.js'))
  expect(published).toMatchObject({ scan: { verdict: 'warn' } })
  expect(await filesOf(t, published)).not.toContain('evil@')
  await t.close()
})

test('one publish fetches a bounded number of packages, and the next one the rest', async () => {
  const names = Array.from({ length: fetchedPerPageMax + 1 }, (_, at) => `lib-${at}`)
  const t = await open(
    Object.fromEntries(
      names.map((name) => [name, packed(name, { 'a.js': `self.own = '${name}'` })]),
    ),
  )
  const html = page(...names.map((name) => `https://unpkg.com/${name}@1.2.3/a.js`))
  const fetched = () => t.registry.requests.filter((path) => path.endsWith('.tgz')).length
  expect(await t.publish(html)).toMatchObject({
    scan: { warnings: [{ help: expect.stringContaining(`lib-${fetchedPerPageMax}@1.2.3`) }] },
    note: expect.stringContaining(`at most ${fetchedPerPageMax} packages. Publish again`),
  })
  expect(fetched()).toBe(fetchedPerPageMax)
  expect(await t.publish(html)).toMatchObject({ scan: { verdict: 'clean' } })
  expect(fetched()).toBe(names.length)
  await t.close()
})
