import { expect, test } from 'bun:test'

import { recordOf } from '../kernel/schema.ts'
import { openRegistry, tarball } from '../testing/fixtures/registry.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

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

/** Starts a server that fetches from a registry with some packages. */
async function open(packages: Record<string, Uint8Array>, options = {}) {
  const registry = openRegistry(packages, options)
  const settings = { LIBRARIES: 'fetch', LIBRARY_REGISTRY: registry.url }
  const server = await startTestServer(settings)
  const ann = await server.agent('ann')
  const publish = async (html: string) => recordOf((await ann.call('POST', '/apps', { html })).body)
  return {
    ...server,
    registry,
    publish,
    close: async () => {
      registry.close()
      await server.close()
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

test('other hosts, other names of cdnjs and texts in scripts are not fetched', async () => {
  const { registry, publish, close } = await open({
    'tiny-lib': library('tiny-lib', 'window.tiny = 1'),
  })
  await publish(
    page(
      'https://elsewhere.example/npm/tiny-lib@1.2.3',
      'https://cdnjs.cloudflare.com/ajax/libs/tiny-lib/1.2.3/a.js',
      'https://unpkg.com/tiny-lib@1.2.3%2f..%2fa.js',
    ) + `<script>const later = '${tiny}'</script>`,
  )
  expect(registry.requests).toEqual([])
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
  const miner = "new CoinHive.Anonymous('key', { throttle: 0.2 }).start()"
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
