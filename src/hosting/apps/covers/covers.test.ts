import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { minute } from '../../../core/time.ts'
import { findBrowser } from '../../../testing/browsers/browser.ts'
import { expectError } from '../../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../../testing/fixtures/test-server.ts'
import { quarantine } from '../../moderation/moderation.ts'
import { enqueueCaptures } from './captures.ts'

setDefaultTimeout(60_000)
let t: TestServer
let ann: TestAgent
let app: string
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  ann = await t.agent('ann')
  app = await ann.publish({ store: true })
}
beforeEach(() => open())
afterEach(() => t.close())

async function dataUrl(width = 800, height = 600): Promise<string> {
  const request = { kind: 'picture', what: 'snowy mountains', seed: '1', width, height } as const
  const { bytes } = await t.ctx.generators.generate(request)
  return `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
}

const get = (url: string) => t.request('GET', new URL(url).pathname)

async function sizeOf(url: string) {
  const shown = await get(url)
  expect(shown.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
  const { width, height, format } = await new Bun.Image(shown.bytes).metadata()
  return [format, width, height]
}

test('an uploaded cover has two sizes at immutable addresses until it is removed', async () => {
  const put = await ann.call('PUT', `/apps/${app}/cover`, { image: await dataUrl() })
  expect(put.status).toBe(200)
  expect(await sizeOf(put.text('cover.large'))).toEqual(['webp', 960, 600])
  expect(await sizeOf(put.text('cover.small'))).toEqual(['webp', 480, 300])
  expect(put.text('cover.color')).toMatch(/^#[0-9a-f]{6}$/)
  const listed = await t.call('GET', '/explore')
  expect(listed.text('items.0.cover.large')).toBe(put.text('cover.large'))
  expect((await ann.call('DELETE', `/apps/${app}/cover`)).status).toBe(200)
  expect((await ann.call('GET', `/apps/${app}`)).body).toMatchObject({ app: { cover: null } })
  expect((await get(put.text('cover.large'))).status).toBe(404)
})

test('screenshots have five positions', async () => {
  const image = await dataUrl(300, 900)
  for (const position of [5, 1]) {
    await ann.call('PUT', `/apps/${app}/screenshots/${position}`, { image })
  }
  const page = await t.call('GET', `/explore/${app}`)
  expect(page.body).toMatchObject({ screenshots: [{ position: 1 }, { position: 5 }] })
  expect(await sizeOf(page.text('screenshots.1.large'))).toEqual(['webp', 960, 600])
  const left = await ann.call('DELETE', `/apps/${app}/screenshots/1`)
  expect(left.body).toMatchObject({ screenshots: [{ position: 5 }] })
  const at = (method: string, n: number) => () =>
    ann.call(method, `/apps/${app}/screenshots/${n}`, { image })
  await expectError(t, 404, 'not_found', at('DELETE', 1))
  await expectError(t, 400, 'bad_request', at('PUT', 6))
})

test('an invalid cover and a stranger change nothing', async () => {
  const bob = await t.agent('bob')
  const image = await dataUrl()
  const path = `/apps/${app}/cover`
  await expectError(t, 404, 'not_found', () => bob.call('PUT', path, { image }))
  await expectError(t, 401, 'no_key', () => t.call('PUT', path, { body: { image } }))
  for (const bad of ['data:image/png;base64,AAAA', 'https://example.com/a.png']) {
    await expectError(t, 400, 'bad_request', () => ann.call('PUT', path, { image: bad }))
  }
})

test('the cover of a quarantined app is not served', async () => {
  const put = await ann.call('PUT', `/apps/${app}/cover`, { image: await dataUrl() })
  await quarantine(t.ctx, app, 'checked')
  expect((await get(put.text('cover.small'))).status).toBe(404)
})

test.skipIf(findBrowser('chromium') === undefined)(
  'each version is played and its cover captured in the background',
  async () => {
    await t.close()
    await open({ BUILDER_BROWSER: 'auto' })
    const html = `<!doctype html><title>Play</title><style>body{margin:0;background:#123456}</style>
      <canvas width=960 height=600></canvas><footer>Made by nobody</footer><script>
      const c = document.querySelector('canvas').getContext('2d')
      const draw = (color) => { c.fillStyle = color; c.fillRect(0, 0, 960, 590) }
      c.fillStyle = 'white'; c.fillRect(10, 10, 20, 20)
      addEventListener('keydown', () => draw('rgb(200,30,30)'))</script>`
    const game = await ann.publish({ html, store: true })
    t.clock.advance(minute)
    await enqueueCaptures(t.ctx)
    await t.ctx.jobs.runDue()
    const { body } = await t.call('GET', `/explore/${game}`)
    expect(body).toMatchObject({
      item: { cover: { color: expect.stringMatching(/^#[0-9a-f]{6}$/) } },
    })
    await enqueueCaptures(t.ctx)
    expect(await t.ctx.jobs.poll()).toBe(0)
  },
)
