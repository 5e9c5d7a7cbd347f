import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { openBrowserSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
beforeAll(async () => {
  t = await startTestServer()
})
afterAll(() => t.close())

test('an app has a manifest with its name and start address, and a preview has none', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish({ title: 'Harbor Lights', description: 'A calm game.' })
  const shell = await t.request('GET', `/a/${id}`)
  const path = `/a/${id}/manifest.webmanifest`
  expect(String(shell.body)).toContain(`<link rel=manifest href=${path} `)
  const manifest = await t.request('GET', path)
  expect(manifest.headers.get('content-type')).toBe('application/manifest+json')
  expect(JSON.parse(String(manifest.body))).toMatchObject({
    id: `/a/${id}`,
    name: 'Harbor Lights',
    description: 'A calm game.',
    start_url: `/a/${id}`,
    scope: `/a/${id}`,
    display: 'fullscreen',
    icons: [{ sizes: '192x192' }, { sizes: '512x512' }],
  })
  const request = { kind: 'sprite', what: 'a lamp', seed: '1', width: 512, height: 512 } as const
  const { bytes } = await t.ctx.generators.generate(request)
  const image = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
  t.clock.advance(1_000)
  const icon = (await ann.call('PUT', `/apps/${id}/icon`, { image })).text('icon')
  t.clock.advance(1_000)
  const { icons } = JSON.parse(String((await t.request('GET', path)).body))
  expect(icons).toEqual([{ src: icon, sizes: '512x512', type: 'image/png' }])
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  t.clock.advance(1_000)
  expect((await t.request('GET', path)).status).toBe(404)
})

describe.skipIf(findBrowser('chromium') === undefined)('chromium', () => {
  test('reads the manifest of an app without an error', async () => {
    let server: TestServer | undefined
    const session = await openBrowserSession(() => server ?? t)
    server = await startTestServer({ APP_URL: session.origin })
    const ann = await server.agent('ann')
    const id = await ann.publish({ title: 'Harbor Lights' })
    const page = await session.browser.newPage()
    await page.goto(`${session.origin}/a/${id}`)
    const devtools = await page.context().newCDPSession(page)
    const { url, errors, data = '' } = await devtools.send('Page.getAppManifest')
    expect([url, errors]).toEqual([`${session.origin}/a/${id}/manifest.webmanifest`, []])
    expect(JSON.parse(data)).toMatchObject({ name: 'Harbor Lights' })
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
    // The contexts of a test are private windows.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
    await session.close()
    await server.close()
  }, 120_000)
})
