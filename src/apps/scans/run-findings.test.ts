import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { second } from '../../kernel/time.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import type { Capture } from '../browser/preview-browser.ts'
import { enqueueCaptures } from '../covers/capture-job.ts'

setDefaultTimeout(60_000)
let t: TestServer
let ann: TestAgent
let app: string
const away = '<!doctype html><title>Away</title><h1>Away</h1>'
const here = '<!doctype html><title>Here</title><h1>Here</h1>'
const target = 'https://elsewhere.test/'

beforeEach(async () => {
  t = await startTestServer({ BUILDER_BROWSER: 'off' })
  ann = await t.agent('ann')
  app = await ann.publish({ html: away, store: true })
})
afterEach(() => t.close())

const leaves = (html: Uint8Array): Capture => {
  const isAway = new TextDecoder().decode(html).includes('Away')
  return { screenshots: [], departures: isAway ? [target] : [] }
}
const listed = async () => (await ann.call('GET', `/apps/${app}`)).text('app.listed')
const found = { code: 'redirect.run', excerpt: target }
const reason = { reasons: [expect.stringMatching(/redirect\.run.*elsewhere\.test/)] }

test('a page that navigates away goes off Explore, and its maker is notified why', async () => {
  const capture = fakeCaptures(t, leaves)
  expect(await listed()).toBe('on')
  await capture()
  expect(await listed()).toBe('off')
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [] })
  expect((await ann.call('GET', `/apps/${app}/scan`)).body).toMatchObject({
    verdict: 'warn',
    findings: [found],
  })
  const notes = (await ann.call('GET', '/me/notes')).body
  expect(JSON.stringify(notes)).toMatch(/redirect\.run.*elsewhere\.test/)
})

test('the findings of a run stay with the version', async () => {
  const capture = fakeCaptures(t, leaves)
  await capture()
  const rescanned = await ann.call('POST', `/apps/${app}/rescan`)
  expect(rescanned.body).toMatchObject({ findings: [found] })
  const list = () => ann.call('PATCH', `/apps/${app}`, { store: true })
  const rejected = await list()
  expect([rejected.status, rejected.body]).toMatchObject([422, { code: 'not_listable', ...reason }])

  await ann.call('POST', `/apps/${app}/versions`, { html: here })
  await capture()
  expect((await list()).status).toBe(200)
  const restored = await ann.call('POST', `/apps/${app}/versions/1/restore`)
  expect(restored.text('note')).toContain('redirect.run')
  expect(await listed()).toBe('on')
})

test('a version that navigates away replaces no cover and is removed from Explore', async () => {
  const capture = fakeCaptures(t, leaves)
  await ann.call('POST', `/apps/${app}/versions`, { html: here })
  await capture()
  expect(await listed()).toBe('on')
  await ann.call('POST', `/apps/${app}/versions`, { html: away })
  await capture()
  expect(await listed()).toBe('off')
})

test('an uploaded cover and many hidden versions do not keep the visible one from its run', async () => {
  const drawing = { kind: 'picture', what: 'a hill', seed: '1', width: 320, height: 200 } as const
  const { bytes } = await t.ctx.generators.generate(drawing)
  const image = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
  expect((await ann.call('PUT', `/apps/${app}/cover`, { image })).status).toBe(200)
  const hidden = `${here}<meta http-equiv="refresh" content="0;url=${target}">`
  for (let count = 0; count < 6; count += 1) {
    await ann.call('POST', `/apps/${app}/versions`, { html: `${hidden}${count}` })
  }
  await fakeCaptures(t, leaves)()
  expect(await listed()).toBe('off')
})

test('changes of the texts do not delay the run', async () => {
  const capture = fakeCaptures(t, leaves)
  for (let passed = 0; passed <= 60; passed += 5) {
    t.clock.advance(5 * second)
    await ann.call('PATCH', `/apps/${app}`, { description: `Now ${passed}` })
  }
  t.clock.advance(second)
  await enqueueCaptures(t.ctx)
  await t.ctx.jobs.runDue()
  expect(await listed()).toBe('off')
  expect(await capture()).toEqual([])
})

test('a busy machine runs the page again later and has no findings until then', async () => {
  let attempts = 0
  const capture = fakeCaptures(t, (html) => ((attempts += 1) > 2 ? leaves(html) : undefined))
  await capture()
  await capture()
  expect([attempts, await listed()]).toEqual([1, 'on'])
  t.clock.advance(300 * second)
  await capture()
  expect([attempts, await listed()]).toEqual([2, 'on'])
  t.clock.advance(300 * second)
  await capture()
  expect([attempts, await listed()]).toEqual([3, 'off'])
})

test('without a browser only the rules for texts decide', async () => {
  t.clock.advance(3_600 * second)
  await enqueueCaptures(t.ctx)
  await t.ctx.jobs.runDue()
  expect(await listed()).toBe('on')
  const html = `${here}<script>location.href = '${target}'</script>`
  const rejected = await ann.call('POST', '/apps', { html, store: true })
  expect([rejected.text('app.listed'), rejected.text('note')]).toEqual([
    'off',
    expect.stringContaining('redirect.script'),
  ])
})
