import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { findBrowser, findWhole } from '../../testing/browsers/browser.ts'
import { openBrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

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
    start_url: `/a/${folder}`,
    scope: `/a/${folder}`,
    orientation: 'portrait',
    display: 'standalone',
    theme_color: '#aabbcc',
    background_color: '#17191b',
  })
  expect(await manifestOf(await publish('{ not JSON'))).toMatchObject({ orientation: 'landscape' })
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
    expect(shell.includes('data-takes-shares')).toBe(target !== undefined)
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
    await session.close()
    await server.close()
  }, 120_000)

  test('gives an app what is shared with it, once, and only where it asks for that', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const ann = await server.agent('ann')
    const html = (head: string): string =>
      `${head}<output></output><script>
      document.querySelector('output').textContent = JSON.stringify(service.received ?? null)
      </script>`
    const page = await browser.newPage()
    const shown = (text: string): Promise<void> =>
      page.frameLocator('iframe').getByText(text, { exact: true }).waitFor()
    const query = `title=Boats&text=${encodeURIComponent('<b>"at" noon</b>')}&other=1`
    const id = await ann.publish({ html: html('<meta name=share-target content=text>') })
    await page.goto(`${origin}/a/${id}?${query}`)
    await shown(JSON.stringify({ title: 'Boats', text: '<b>"at" noon</b>', url: '', files: [] }))
    const rest = `${origin}/a/${id}?other=1`
    expect(page.url()).toBe(rest)
    await page.reload()
    await shown('null')
    expect(page.url()).toBe(rest)
    const challenge = `${origin}/a/${id}?challenge=aaaaaaaaaaaa`
    await page.goto(challenge)
    await shown('null')
    expect(page.url()).toBe(challenge)
    const other = await ann.publish({ html: html('') })
    await page.goto(`${origin}/a/${other}?${query}`)
    await shown('null')
    await close()
  }, 120_000)

  /** Returns what a person does with an installed app. */
  function openInstalled(origin: string, page: Page) {
    const notice = page.locator('#notice')
    return {
      notice,
      shown: (text: string): Promise<void> =>
        page.frameLocator('iframe').getByText(text, { exact: true }).waitFor(),
      async install(app: string): Promise<void> {
        await page.goto(`${origin}/a/${app}/install`)
        await page.getByText('A copy is saved').waitFor()
      },
      /** Presses a button of the notice until it counts: the first moment does not. */
      press: (name: string): Promise<unknown> =>
        until(async () => {
          await notice.getByRole('button', { name }).click()
          return !(await notice.isVisible())
        }),
      /** A browser shares by a navigation that sends a form. */
      async share(app: string, sizes: Record<string, number>): Promise<void> {
        await page.goto('about:blank')
        await page.setContent(
          `<form method=post enctype=multipart/form-data action="${origin}/a/${app}"><input name=title value=Boats><input type=file name=files multiple></form>`,
        )
        // A script can choose files and send them, too.
        await page.evaluate(`{
          const all = new DataTransfer()
          for (const [name, bytes] of Object.entries(${JSON.stringify(sizes)})) {
            all.items.add(new File(['x'.repeat(bytes)], name, { type: 'text/plain' }))
          }
          document.querySelector('input[type=file]').files = all.files
          document.forms[0].submit()
        }`)
      },
      kept: () =>
        page.evaluate(
          'caches.keys().then((names) => names.filter((name) => name.startsWith("shared")))',
        ),
    }
  }

  test('gives an installed app the files shared with it after a press, once', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const ann = await server.agent('ann')
    const id = await ann.publish({
      html: `<meta name=share-target content=files><output>nothing</output><script>
      const { title, files } = service.received ?? { files: [] }
      Promise.all(files.map(async (file) => [file.name, file.type, await file.text()])).then((all) => {
        if (title) document.querySelector('output').textContent = JSON.stringify([title, all])
      })</script>`,
    })
    const page = await browser.newPage()
    const { notice, shown, install, press, share, kept } = openInstalled(origin, page)
    await install(id)
    await share(id, { 'a.txt': 3, 'large.txt': 11 * 1_048_576, 'b.txt': 1 })
    await notice.getByText('Shared with this app: a.txt · b.txt · Boats').waitFor()
    // Any site can send a form, so the app knows nothing of it yet.
    await shown('nothing')
    await press('Open')
    const files = [
      ['a.txt', 'text/plain', 'xxx'],
      ['b.txt', 'text/plain', 'x'],
    ]
    await shown(JSON.stringify(['Boats', files]))
    expect(page.url()).toBe(`${origin}/a/${id}`)
    await page.locator('#reload').dispatchEvent('click')
    await shown('nothing')
    await page.reload()
    await shown('nothing')
    await page.goto(`${origin}/a/${id}?shared`)
    await shown('nothing')
    await share(id, { 'a.txt': 3 })
    await notice.getByText('Shared with this app: a.txt').waitFor()
    await press('Close')
    await page.reload()
    await shown('nothing')
    expect([await notice.isVisible(), await kept()]).toEqual([false, []])
    const texts = '<meta name=share-target content=text><output>nothing</output>'
    for (const html of [texts, '<output>nothing</output>']) {
      const other = await ann.publish({ html })
      await install(other)
      await share(other, { 'a.txt': 3 })
      await shown('nothing')
      expect(page.url()).toBe(`${origin}/a/${other}`)
      expect(await kept()).toEqual([])
    }
    await close()
  }, 240_000)
})
