import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { chromium, type Page } from 'playwright-core'

import { findBrowser, findWhole } from '../../testing/browsers/browser.ts'
import { openBrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
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
    start_url: `/a/${id}?installed`,
    scope: `/a/${id}`,
    display: 'fullscreen',
  })
  const own = `/icons/${id}`
  const icons = async () => JSON.parse(String((await t.request('GET', path)).body)).icons
  const png = { type: 'image/png' }
  const bare = [
    { src: `${own}/192.png`, sizes: '192x192', purpose: 'any', ...png },
    { src: `${own}/512.png`, sizes: '512x512', purpose: 'any', ...png },
    { src: `${own}/maskable.png`, sizes: '512x512', purpose: 'maskable', ...png },
  ]
  expect(await icons()).toEqual(bare)
  expect(String(shell.body)).toContain(`<link rel=apple-touch-icon href="${own}/192.png">`)
  const request = { kind: 'sprite', what: 'a lamp', seed: '1', width: 512, height: 512 } as const
  const { bytes } = await t.ctx.generators.generate(request)
  const image = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
  t.clock.advance(1_000)
  const icon = (await ann.call('PUT', `/apps/${id}/icon`, { image })).text('icon')
  t.clock.advance(1_000)
  const hash = icon.slice(-16, -4)
  expect(await icons()).toEqual(bare.map((one) => ({ ...one, src: `${one.src}?v=${hash}` })))
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  t.clock.advance(1_000)
  expect((await t.request('GET', path)).status).toBe(404)
})

test('a page and the manifest in its folder choose the orientation, display and colors', async () => {
  const ann = await t.agent('ann')
  const manifestOf = async (id: string): Promise<unknown> =>
    JSON.parse(String((await t.request('GET', `/a/${id}/manifest.webmanifest`)).body))
  const head = (orientation: string): string =>
    `<meta name="screen-orientation" content="${orientation}"><meta name=theme-color content=#aabbcc>`
  const page = await ann.publish({ html: head('landscape') })
  expect(await manifestOf(page)).toMatchObject({
    orientation: 'landscape',
    theme_color: '#aabbcc',
    display: 'fullscreen',
  })
  const wrong = await ann.publish({ html: '<meta name=screen-orientation content="up">' })
  expect(await manifestOf(wrong)).toMatchObject({ orientation: 'any' })
  const own = {
    orientation: 'portrait',
    display: 'standalone',
    background_color: 'red',
    start_url: '/',
    scope: '/',
    name: 'Another name',
  }
  const files = (text: string): object[] => [
    { path: 'index.html', text: head('landscape') },
    { path: 'manifest.json', text },
  ]
  const publish = (text: string): Promise<string> =>
    ann.publish({ html: undefined, title: 'Lamp', files: files(text) })
  const folder = await publish(JSON.stringify(own))
  expect(await manifestOf(folder)).toMatchObject({
    name: 'Lamp',
    start_url: `/a/${folder}?installed`,
    scope: `/a/${folder}`,
    orientation: 'portrait',
    display: 'standalone',
    theme_color: '#aabbcc',
    background_color: '#17191b',
  })
  expect(await manifestOf(await publish('{ not JSON'))).toMatchObject({ orientation: 'landscape' })
})

test('an installed app has its own icon in each size, which reveals no restricted app', async () => {
  const ann = await t.agent('ann')
  const read = async (id: string, name: string) => {
    const { status, headers, bytes } = await t.request('GET', `/icons/${id}/${name}.png`)
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png'])
    return bytes
  }
  const sizes = { 192: 192, 512: 512, maskable: 512 }
  const id = await ann.publish()
  const flag = await read(id, '512')
  expect(Buffer.compare(flag, await read('AAAAAAAAAAAA', '512'))).not.toBe(0)
  const request = { kind: 'sprite', what: 'a lamp', seed: '1', width: 512, height: 512 } as const
  const { bytes: drawn } = await t.ctx.generators.generate(request)
  const image = `data:image/png;base64,${Buffer.from(drawn).toString('base64')}`
  expect((await ann.call('PUT', `/apps/${id}/icon`, { image })).status).toBe(200)
  for (const [name, side] of Object.entries(sizes)) {
    const bytes = await read(id, name)
    expect(Buffer.compare(bytes, flag)).not.toBe(0)
    const { width, height } = await new Bun.Image(bytes).metadata()
    expect([name, width, height]).toEqual([name, side, side])
  }
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'link' })
  expect(Buffer.compare(await read(id, '512'), flag)).not.toBe(0)
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  expect(Buffer.compare(await read(id, '512'), flag)).toBe(0)
  for (const path of [`${id}/64.png`, `${id}/toString`, 'short/512.png', '%2e%2e/512.png'])
    expect([path, (await t.request('GET', `/icons/${path}`)).status]).toEqual([path, 404])
})

test('a page and the manifest in its folder choose the shortcuts of the installed app', async () => {
  const ann = await t.agent('ann')
  const shortcutsOf = async (id: string): Promise<unknown> =>
    JSON.parse(String((await t.request('GET', `/a/${id}/manifest.webmanifest`)).body)).shortcuts
  const meta = (name: string): string => `<meta name=shortcut content="${name}">`
  const page = await ann.publish({
    html: `${meta('New &amp; fast')}${meta('Scores')}${meta('')}${meta('x'.repeat(51))}`,
  })
  expect(await shortcutsOf(page)).toEqual([
    { name: 'New & fast', url: `/a/${page}?shortcut=New+%26+fast` },
    { name: 'Scores', url: `/a/${page}?shortcut=Scores` },
  ])
  expect(String((await t.request('GET', `/a/${page}`)).body)).toContain('data-is-receiver')
  expect(await shortcutsOf(await ann.publish({ html: '<p>none</p>' }))).toBeUndefined()
  const publish = (shortcuts: unknown): Promise<string> =>
    ann.publish({
      html: undefined,
      title: 'Notes',
      files: [
        { path: 'index.html', text: meta('Of the head') },
        { path: 'new.html', text: '<p>new' },
        { path: 'manifest.json', text: JSON.stringify({ shortcuts }) },
      ],
    })
  const folder = await publish([
    { name: 'New', url: './new.html?kind=list#top' },
    { name: 'Away', url: 'https://other.example/' },
    { name: 7, url: '/' },
    'Text',
  ])
  expect(await shortcutsOf(folder)).toEqual([
    { name: 'New', url: `/a/${folder}?shortcut=New&start=new.html%3Fkind%3Dlist%23top` },
    { name: 'Away', url: `/a/${folder}?shortcut=Away` },
  ])
  for (const other of ['none', null, [], [{}]]) {
    const id = await publish(other)
    expect(await shortcutsOf(id)).toEqual([
      { name: 'Of the head', url: `/a/${id}?shortcut=Of+the+head` },
    ])
  }
  const many = await publish(Array.from({ length: 30 }, (_, at) => ({ name: `No. ${at}` })))
  expect(await shortcutsOf(many)).toHaveLength(10)
})

test('only an app that asks for shares is a target for them', async () => {
  const ann = await t.agent('ann')
  const manifestOf = async (id: string): Promise<string> =>
    String((await t.request('GET', `/a/${id}/manifest.webmanifest`)).body)
  const params = { title: 'title', text: 'text', url: 'url' }
  const texts = { method: 'GET', params }
  const takesFiles = {
    method: 'POST',
    enctype: 'multipart/form-data',
    params: { ...params, files: [{ name: 'files', accept: ['*/*'] }] },
  }
  const pages = {
    '<meta name=share-target content=text>': texts,
    '<meta name=share-target content=files>': takesFiles,
    '<meta name=share-target content=all>': undefined,
    '<p>share-target': undefined,
  }
  for (const [html, target] of Object.entries(pages)) {
    const id = await ann.publish({ html })
    const manifest = JSON.parse(await manifestOf(id))
    expect(manifest.share_target).toEqual(target && { action: `/a/${id}`, ...target })
    const shell = String((await t.request('GET', `/a/${id}`)).body)
    expect(shell.includes('data-is-receiver')).toBe(target !== undefined)
  }
  const publish = (target: object): Promise<string> =>
    ann.publish({
      html: undefined,
      title: 'Notes',
      files: [
        { path: 'index.html', text: '<p>notes' },
        { path: 'app.webmanifest', text: JSON.stringify({ share_target: target }) },
      ],
    })
  const away = { action: 'https://other.example/' }
  const folder = await publish(away)
  expect(JSON.parse(await manifestOf(folder))).toMatchObject({
    share_target: { action: `/a/${folder}`, ...texts },
  })
  const own = await publish({ ...away, params: { files: [{ name: 'x', accept: ['image/png'] }] } })
  expect(JSON.parse(await manifestOf(own))).toMatchObject({
    share_target: { action: `/a/${own}`, ...takesFiles },
  })
})

test('an app without a copy takes no files, and opens without them', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish({ html: '<meta name=share-target content=files>' })
  const password = { audience: 'password', password: 'a long password' }
  await ann.call('PATCH', `/apps/${id}/audience`, password)
  t.clock.advance(1_000)
  const headers = { authorization: `Bearer ${ann.key}` }
  const manifest = await t.request('GET', `/a/${id}/manifest.webmanifest`, { headers })
  expect(JSON.parse(String(manifest.body))).toMatchObject({ share_target: { method: 'GET' } })
  const sent = await t.request('POST', `/a/${id}`)
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/a/${id}`])
})

test('the menu of an app leads to a page that installs it, for those who may open it', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish({ title: 'Harbor <Lights>' })
  const path = `/a/${id}/install`
  expect(shownPage((await t.request('GET', `/a/${id}`)).body).hrefs).toContain(path)
  expect(String((await t.request('GET', `/a/${id}/embed`)).body)).not.toContain(path)
  const page = await t.request('GET', path)
  expect(page.status).toBe(200)
  expect(String(page.body)).toContain(`<link rel=manifest href=/a/${id}/manifest.webmanifest `)
  expect(shownPage(page.body).text).toContain('Install Harbor <Lights>')
  const unknown = 'AAAAAAAAAAAA'
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  t.clock.advance(1_000)
  const [closed, missing] = await Promise.all(
    [id, unknown].map(async (app) => {
      const { status, body } = await t.request('GET', `/a/${app}/install`)
      return [status, String(body).replaceAll(app, '')]
    }),
  )
  expect(closed).toEqual(missing)
  expect(closed?.[0]).toBe(404)
})

describe.skipIf(findBrowser('chromium') === undefined)('chromium', () => {
  test('reads the manifest of an app without an error', async () => {
    let server: TestServer | undefined
    const session = await openBrowserSession(() => server ?? t, findWhole)
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
    const problems: string[] = []
    page.on('console', (message) => void problems.push(message.text()))
    await page.goto(`${session.origin}/a/${id}/install`)
    const there = await devtools.send('Page.getInstallabilityErrors')
    expect(there.installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
    // Private windows offer no dialog, so the test does.
    await page.evaluate(`dispatchEvent(Object.assign(new Event('beforeinstallprompt'), {
      prompt: () => Promise.resolve(dispatchEvent(new Event('appinstalled'))),
    }))`)
    await page.getByRole('button', { name: 'Install' }).click()
    await page.getByText('Installed. Open it').waitFor()
    expect(problems).toEqual([])
    const menus = page.locator('#help li')
    expect(await menus.count()).toBe(4)
    // As on an iPhone.
    await page.addInitScript('navigator.standalone = false')
    await page.reload()
    expect(await menus.allInnerTexts()).toEqual([
      'Safari on iPhone and iPad\nShare, then Add to Home Screen',
    ])
    await session.close()
    await server.close()
  }, 120_000)

  test('installs an app, and starts it without a network', async () => {
    const { origin, t: server, close } = await openServedSession()
    const id = await (await server.agent('ann')).publish({ title: 'Lamp', html: '<p>Light</p>' })
    const profile = await mkdtemp(join(tmpdir(), 'berth-installed-'))
    // Private windows install nothing.
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: findWhole() ?? '',
      headless: false,
      args: ['--no-sandbox', '--headless=new'],
    })
    const devtools = await context.browser()?.newBrowserCDPSession()
    const manifestId = `${origin}/a/${id}`
    await devtools?.send('PWA.install', { manifestId, installUrlOrBundleUrl: manifestId })
    const launch = async (): Promise<Page> => {
      const [page] = await Promise.all([
        context.waitForEvent('page'),
        devtools?.send('PWA.launch', { manifestId }),
      ])
      return page
    }
    const first = await launch()
    await first.frameLocator('iframe').getByText('Light', { exact: true }).waitFor()
    await first.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await first.close()
    await context.setOffline(true)
    const second = await launch()
    await second.getByText('@ann · offline').waitFor()
    await second.frameLocator('iframe').getByText('Light', { exact: true }).waitFor()
    await context.close()
    await rm(profile, { recursive: true, force: true })
    await close()
  }, 120_000)
})
