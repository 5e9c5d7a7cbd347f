import { expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { printBanner } from './first-run.ts'

test('a failed first sample is logged with the message of the API', async () => {
  const h = await startTestServer({ BYTES_PER_AGENT: '5', DEMO_MODELS: 'on' })
  await printBanner(h.ctx, async (request) => h.handle(request, '127.0.0.1'))
  const errors = h.lines.flatMap(({ level, error }) => (level === 'error' ? String(error) : []))
  expect(errors).toEqual([expect.stringMatching(/POST \/apps answered \d+: \w[^\n]+/)])
  await h.close()
})

test('a first run creates nothing where keys need an invitation', async () => {
  const h = await startTestServer({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'x'.repeat(32) })
  const urls: string[] = []
  const banner = await printBanner(h.ctx, async (request) => {
    urls.push(request.url)
    return h.handle(request, '127.0.0.1')
  })
  expect(urls).toEqual([])
  expect(h.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(banner).not.toContain('apiKey')
  await h.close()
})

test('a killed first run is repeated; later starts print the link of the sample', async () => {
  const h = await startTestServer({ DEMO_MODELS: 'on' })
  const send = async (request: Request) => h.handle(request, '127.0.0.1')
  const { promise: reached, resolve: onRequest } = Promise.withResolvers<void>()
  // A request that never responds stands for a process that died during it.
  void printBanner(h.ctx, (request) => {
    if (!request.url.endsWith('/assets/island.png')) return send(request)
    onRequest()
    return new Promise<never>(() => {})
  })
  await reached
  const second = await printBanner(h.ctx, send)
  const [link] = /http\S+\/a\/\w{12}/.exec(second) ?? []
  expect(second).toContain(`play         ${link}`)
  expect(second).toMatch(/apiKey: 'gk_/)
  const home = await h.request('GET', '/', { headers: { accept: 'text/html' } })
  expect(String(home.body)).toMatch(
    new RegExp(`<article class="feature"[^]*href="${new URL(link ?? '').pathname}"`),
  )
  const third = await printBanner(h.ctx, send)
  expect(third).toContain(`play         ${link}`)
  expect(third).not.toContain('apiKey')
  await h.close()
})
