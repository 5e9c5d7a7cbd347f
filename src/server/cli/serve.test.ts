import { expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { printBanner } from './serve.ts'

test('a failed first sample is logged with the message of the API', async () => {
  const t = await startTestServer({ BYTES_PER_AGENT: '5', DEMO_MODELS: 'on' })
  await printBanner(t.ctx, async (request) => t.handle(request, '127.0.0.1'))
  const errors = t.lines.flatMap(({ level, error }) => (level === 'error' ? String(error) : []))
  expect(errors).toEqual([expect.stringMatching(/POST \/apps answered \d+: \w[^\n]+/)])
  await t.close()
})

test('a first run creates nothing where keys need an invitation', async () => {
  const t = await startTestServer({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'x'.repeat(32) })
  const urls: string[] = []
  const banner = await printBanner(t.ctx, async (request) => {
    urls.push(request.url)
    return t.handle(request, '127.0.0.1')
  })
  expect(urls).toEqual([])
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(banner).not.toContain('apiKey')
  await t.close()
})

test('a killed first run is repeated; later starts print the link of the sample', async () => {
  const t = await startTestServer({ DEMO_MODELS: 'on' })
  const send = async (request: Request) => t.handle(request, '127.0.0.1')
  const { promise: reached, resolve: onRequest } = Promise.withResolvers<void>()
  // A request that never responds stands for a process that died during it.
  void printBanner(t.ctx, (request) => {
    if (!request.url.endsWith('/assets/island.png')) return send(request)
    onRequest()
    return new Promise<never>(() => {})
  })
  await reached
  const second = await printBanner(t.ctx, send)
  const [link] = /http\S+\/a\/\w{12}/.exec(second) ?? []
  expect(second).toContain(`play         ${link}`)
  expect(second).toMatch(/apiKey: 'gk_/)
  const home = await t.request('GET', '/', { headers: { accept: 'text/html' } })
  expect(String(home.body)).toMatch(
    new RegExp(`<article class="feature"[^]*href="${new URL(link ?? '').pathname}"`),
  )
  const third = await printBanner(t.ctx, send)
  expect(third).toContain(`play         ${link}`)
  expect(third).not.toContain('apiKey')
  await t.close()
})
