import { afterEach, beforeEach, expect, test } from 'bun:test'

import { shownPage } from '../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../testing/fixtures/test-server.ts'

let t: TestServer
let app: string
let ann: TestAgent
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  ann = await t.agent('ann')
  app = await ann.publish({ store: true, title: 'Fog & "Ink"' })
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

const oembed = (query = '') =>
  get(`/oembed?url=${encodeURIComponent(`http://localhost:3000/a/${app}`)}${query}`)
const policyOf = async (path: string) => (await get(path)).headers.get('content-security-policy')

test('a card shows the title and the maker, and changes with them', async () => {
  const key = async () =>
    /cards\/\w+\.jpg\?(\w+)/.exec(String((await get(`/explore/${app}`)).body))?.[1]
  const [before, card] = [await key(), await get(`/cards/${app}.jpg`)]
  await ann.call('PATCH', `/apps/${app}`, { title: 'Ink' })
  expect(await key()).not.toBe(before)
  expect((await get(`/cards/${app}.jpg`)).bytes).not.toEqual(card.bytes)
  // The font of the site has no such characters.
  await ann.call('PATCH', `/apps/${app}`, { title: '霧とインク' })
  expect((await get(`/cards/${app}.jpg`)).status).toBe(200)
})

test('other sites show an app in a sandboxed frame with its own address and size', async () => {
  const rich = await oembed('&maxwidth=480')
  expect(rich.body).toMatchObject({ type: 'rich', width: 480, height: 600 })
  const code = rich.text('html')
  expect(code).toContain(`src="http://localhost:3000/a/${app}/embed"`)
  expect(code).toContain('title="Fog &amp; &quot;Ink&quot;"')
  for (const path of [`/a/${app}/embed`, '/frame']) {
    expect(await policyOf(path)).toContain("frame-ancestors 'self' *")
    expect(await policyOf(path)).toContain('sandbox allow-scripts ')
  }
  // Only the frame's own page may be in a frame: it has no link that acts.
  expect(await policyOf(`/a/${app}`)).toEndWith('trusted-types default')
  expect(await policyOf(`/a/${app}`)).toContain("frame-ancestors 'self';")
  const page = shownPage((await get(`/a/${app}/embed`)).body)
  expect(page.byRole('banner').hrefs).toEqual([`/a/${app}`])
  expect(String((await get(`/explore/${app}`)).body)).toContain(`/a/${app}/embed`)
})

test('the maker turns embedding off for an app, and the operator for all', async () => {
  const change = { embeds: false }
  const changed = await ann.call('PATCH', `/apps/${app}`, change)
  expect(changed.body).toMatchObject({ app: change })
  const check = async () => {
    expect((await oembed()).body).toMatchObject({ type: 'link' })
    const frame = await get(`/a/${app}/embed`)
    expect([frame.status, shownPage(frame.body).names('heading')]).toEqual([
      403,
      ['Not shown on other sites'],
    ])
    expect(String((await get(`/explore/${app}`)).body)).not.toContain('/embed')
    expect((await get(`/a/${app}`)).status).toBe(200)
  }
  await check()
  const denied = await (await t.agent('ben')).call('PATCH', `/apps/${app}`, { embeds: true })
  expect(denied.status).toBe(404)
  await t.close()
  await open({ EMBED_ORIGINS: 'none' })
  await check()
  await t.close()
  await open({ EMBED_ORIGINS: 'https://blog.example' })
  expect(await policyOf(`/a/${app}/embed`)).toContain("frame-ancestors 'self' https://blog.example")
})

test('a link has a QR code, and the site a manifest', async () => {
  const code = await get(`/a/${app}/qr.svg`)
  expect([code.status, code.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const { bytes } = await get('/manifest.webmanifest')
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ name: 'Berth' })
  for (const side of [192, 512]) expect((await get(`/static/icon-${side}.png`)).status).toBe(200)
})
