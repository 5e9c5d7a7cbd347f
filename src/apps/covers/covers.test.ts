import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'

import { unzipSync } from 'fflate'

import { day, minute } from '../../kernel/time.ts'
import { findByHandle } from '../../people/agents/agents.ts'
import { purgeApps } from '../../server/operator/maintenance-tasks.ts'
import { findReferenced } from '../../server/operator/referenced-files.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { expectError } from '../../testing/expect-error.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { findApp, getVersion, listVersions } from '../apps.ts'
import { quarantine } from '../moderation/moderation.ts'
import { enqueueCaptures } from './capture-job.ts'
import { capturedVersionsMax } from './schemas.ts'

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

const drawn = new Map<string, Uint8Array>()

/** Returns an image, which is drawn once for all tests. */
async function dataUrl(width = 800, height = 600): Promise<string> {
  const size = `${width}x${height}`
  const request = { kind: 'picture', what: 'snowy mountains', seed: '1', width, height } as const
  const bytes = drawn.get(size) ?? (await t.ctx.generators.generate(request)).bytes
  drawn.set(size, bytes)
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
  await quarantine(t.ctx, app, 'checked', 'operator')
  expect((await get(put.text('cover.small'))).status).toBe(404)
})

describe('covers of versions', () => {
  const page = (n: number): string => `<!doctype html><title>Boat</title><p>version ${n}`
  const publish = async (n: number): Promise<void> => {
    const done = await ann.call('POST', `/apps/${app}/versions`, { html: page(n) })
    expect(done.status).toBe(201)
  }
  const appCover = async (): Promise<string> =>
    (await ann.call('GET', `/apps/${app}`)).text('app.cover.large')
  const storedCover = async (n: number) => (await getVersion(t.ctx, app, n)).cover
  const hashOf = (url: string) => /-([0-9a-f]{16})\.webp$/.exec(url)?.[1] ?? ''
  const storedBytes = async () => (await findByHandle(t.ctx, 'ann'))?.storedBytes

  test('a version keeps its cover, and a restored one shows it at once', async () => {
    const capture = fakeCaptures(t)
    expect(await capture()).toHaveLength(1)
    const [url, first] = [await appCover(), await storedCover(1)]
    expect(first).toStartWith(hashOf(url))
    await publish(2)
    expect(await capture()).toEqual([page(2)])
    expect(await appCover()).not.toBe(url)
    expect(await storedCover(1)).toBe(first)
    // The public address of an older version ends.
    expect((await get(url)).status).toBe(404)

    await ann.call('POST', `/apps/${app}/versions/1/restore`)
    expect(await appCover()).toBe(url)
    expect((await get(url)).status).toBe(200)
    expect(await capture()).toEqual([])
    const zip = unzipSync((await ann.call('GET', `/apps/${app}/export`)).bytes)
    for (const n of [1, 2, 3]) {
      const image = zip[`versions/${n}/cover.webp`] ?? new Uint8Array()
      expect(new Bun.CryptoHasher('sha256').update(image).digest('hex')).toBe(
        (await storedCover(n)) ?? '',
      )
    }
  })

  test('captures each version of a quick series, and the newest again after its files change', async () => {
    const capture = fakeCaptures(t)
    await capture()
    for (let n = 2; n <= 3 + capturedVersionsMax; n += 1) await publish(n)
    const newest = 3 + capturedVersionsMax
    expect(await capture()).toEqual(
      Array.from({ length: capturedVersionsMax }, (_, at) => page(newest - at)),
    )
    expect(await storedCover(3)).toBeNull()
    expect(await storedCover(4)).not.toBeNull()
    await ann.call('PUT', `/apps/${app}/assets/data.json`, { lit: true })
    expect(await capture()).toEqual([page(newest)])
  })

  test('an uploaded cover wins, and its removal shows that of the version at once', async () => {
    const capture = fakeCaptures(t)
    const image = await dataUrl(32, 20)
    const own = (await ann.call('PUT', `/apps/${app}/cover`, { image })).text('cover.large')
    await publish(2)
    expect((await capture())[0]).toBe(page(2))
    await ann.call('POST', `/apps/${app}/versions/1/restore`)
    expect(await appCover()).toBe(own)
    await ann.call('DELETE', `/apps/${app}/cover`)
    expect(hashOf(await appCover())).toBe((await storedCover(1))?.slice(0, 16) ?? '')
    expect(await capture()).toEqual([])
  })

  test('a version that Explore does not show has a cover, which the item gets when it does', async () => {
    const capture = fakeCaptures(t)
    await capture()
    const before = await appCover()
    const html = `${page(2)}<meta http-equiv="refresh" content="0;url=https://elsewhere.test/">`
    await ann.call('POST', `/apps/${app}/versions`, { html })
    expect((await findApp(t.ctx, app))?.listedVersion).toBe(1)
    expect(await capture()).toEqual([html])
    expect(await appCover()).toBe(before)
    await ann.call('PATCH', `/apps/${app}`, { store: false })
    expect(hashOf(await appCover())).toBe((await storedCover(2))?.slice(0, 16) ?? '')
  })

  test('covers count as stored bytes and go with the app', async () => {
    const capture = fakeCaptures(t)
    const pages = await storedBytes()
    await capture()
    await ann.call('POST', `/apps/${app}/versions/1/restore`)
    const [restored, first] = (await findApp(t.ctx, app).then(listOf)) ?? []
    expect([restored?.coverBytes, first?.coverBytes]).toEqual([0, expect.any(Number)])
    const files = [first?.cover ?? '', first?.coverSmall ?? '']
    const sizes = await Promise.all(files.map(async (name) => t.ctx.storage.read(name)))
    const bytes = sizes.reduce((sum, file) => sum + (file?.length ?? 0), 0)
    expect(first?.coverBytes).toBe(bytes)
    expect(await storedBytes()).toBe(2 * (pages ?? 0) + bytes)
    await publish(3)
    await capture()
    const sweep = () => t.ctx.storage.sweep((names) => findReferenced(t.ctx.db.read, names), -day)
    await sweep()
    for (const name of files) expect(await t.ctx.storage.read(name)).toBeDefined()

    await ann.call('DELETE', `/apps/${app}`)
    t.clock.advance(31 * day)
    await purgeApps(t.ctx)
    expect(await storedBytes()).toBe(0)
    await sweep()
    for (const name of files) expect(await t.ctx.storage.read(name)).toBeUndefined()
  })

  test('a version gets no cover when the quota is full; the app keeps its own', async () => {
    await t.close()
    await open({ BYTES_PER_AGENT: '300' })
    const capture = fakeCaptures(t)
    const pages = await storedBytes()
    expect(await capture()).toHaveLength(1)
    expect([await storedCover(1), await storedBytes()]).toEqual([null, pages])
    expect(await appCover()).toContain(app)
    expect(await capture()).toEqual([])
  })

  test('a cover that neither counts nor is shown is not stored', async () => {
    await t.close()
    await open({ BYTES_PER_AGENT: '300' })
    const capture = fakeCaptures(t)
    await ann.call('PUT', `/apps/${app}/cover`, { image: await dataUrl(32, 20) })
    const { files } = await t.ctx.storage.usage()
    expect(await capture()).toHaveLength(1)
    expect((await t.ctx.storage.usage()).files).toBe(files)
    expect(t.ctx.state.reservations.size).toBe(0)
  })
})

const listOf = (found: Awaited<ReturnType<typeof findApp>>) =>
  found && listVersions(t.ctx, found, 9)

test.skipIf(findBrowser('chromium') === undefined)(
  'each version is played and its cover captured in the background',
  async () => {
    await t.close()
    await open({ BUILDER_BROWSER: findBrowser('chromium') ?? '' })
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
