import { afterEach, beforeEach, expect, test } from 'bun:test'

import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer
let app: string
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  app = await (await t.agent('ann')).publish({ store: true, title: 'Fog & "Ink"' })
}
beforeEach(() => open())
afterEach(() => t.close())

const get = (path: string) => t.request('GET', path)

test('items, makers and the home page have a social card', async () => {
  for (const name of ['home', '@ann', app]) {
    const card = await get(`/cards/${name}.jpg`)
    expect([card.status, card.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    const { width, height } = await new Bun.Image(card.bytes).metadata()
    expect([width, height]).toEqual([1_200, 630])
  }
  const { body } = await get(`/explore/${app}`)
  expect(String(body)).toContain(`/cards/${app}.jpg`)
  expect(String(body)).toContain('content="summary_large_image"')
})

test('not_found: cards of unknown names and unlisted apps', async () => {
  const hidden = await (await t.agent('ben')).publish()
  for (const name of ['nothing', '@nobody', hidden, '%00']) {
    expect((await get(`/cards/${name}.jpg`)).status).toBe(404)
  }
})

test('oEmbed is rich and pages may be framed only where the operator allows it', async () => {
  const link = `http://localhost:3000/a/${app}`
  const ask = () => get(`/oembed?url=${encodeURIComponent(link)}&maxwidth=480`)
  expect((await ask()).body).toMatchObject({ type: 'link' })
  await t.close()
  await open({ EMBED_ORIGINS: 'https://blog.example' })
  const rich = await get(
    `/oembed?url=${encodeURIComponent(`http://localhost:3000/a/${app}`)}&maxwidth=480`,
  )
  expect(rich.body).toMatchObject({ type: 'rich', width: 480, height: 600 })
  expect(rich.text('html')).toContain('title="Fog &amp; &quot;Ink&quot;"')
  for (const path of [`/a/${app}`, '/frame']) {
    const policy = (await get(path)).headers.get('content-security-policy')
    expect(policy).toContain("frame-ancestors 'self' https://blog.example")
  }
  expect(String((await get(`/explore/${app}`)).body)).toContain('Embed code')
})

test('a link has a QR code, and the site a manifest', async () => {
  const code = await get(`/a/${app}/qr.svg`)
  expect([code.status, code.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const { bytes } = await get('/manifest.webmanifest')
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ name: 'Berth' })
  for (const side of [192, 512]) expect((await get(`/static/icon-${side}.png`)).status).toBe(200)
})
