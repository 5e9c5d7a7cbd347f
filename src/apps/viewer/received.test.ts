import { describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { openServedSession } from '../../testing/browsers/session.ts'
import { until } from '../../testing/until.ts'

describe.skipIf(findBrowser('chromium') === undefined)('in Chromium, the page of an app', () => {
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
    const received = { title: 'Boats', text: '<b>"at" noon</b>', url: '', shortcut: '', files: [] }
    await shown(JSON.stringify(received))
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

  test('opens an app at a shortcut: its name, and the page of a folder', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const ann = await server.agent('ann')
    const message = `<output></output><script>
      onload = () => { document.querySelector('output').textContent =
        (service.received?.shortcut ?? 'none') + ' ' + document.title + location.search + location.hash }
      </script>`
    const page = await browser.newPage()
    const shown = (text: string): Promise<void> =>
      page.frameLocator('iframe').getByText(text, { exact: true }).waitFor()
    const open = async (id: string, at: number): Promise<void> => {
      const { body } = await server.request('GET', `/a/${id}/manifest.webmanifest`)
      const { url } = JSON.parse(String(body)).shortcuts[at]
      await page.goto(origin + url)
    }
    const head = '<meta name=shortcut content="New game"><title>Lamp</title>'
    const id = await ann.publish({ html: head + message })
    await open(id, 0)
    await shown('New game Lamp')
    await page.reload()
    await shown('none Lamp')
    const shortcuts = [
      { name: 'New', url: 'new.html?kind=list#top' },
      { name: 'Filter', url: './?kind=map' },
      { name: 'Gone', url: 'gone.html' },
      { name: 'Odd', url: '%E0%A4%A' },
    ]
    const folder = await ann.publish({
      html: undefined,
      title: 'Notes',
      files: [
        { path: 'index.html', text: `<title>Home</title>${message}<a href=new.html>New note</a>` },
        { path: 'new.html', text: `<title>Page</title>${message}` },
        { path: 'manifest.json', text: JSON.stringify({ shortcuts }) },
      ],
    })
    await open(folder, 0)
    await shown('New Page?kind=list#top')
    expect(page.url()).toBe(`${origin}/a/${folder}`)
    await open(folder, 1)
    await shown('Filter Home?kind=map')
    await page.frameLocator('iframe').getByText('New note').click()
    await shown('none Page')
    for (const [at, name] of ['Gone', 'Odd'].entries()) {
      await open(folder, at + 2)
      await shown(`${name} Home`)
    }
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
      html: `<meta name=share-target content=files><a href="https://example.com/tides">Tides</a><output>nothing</output><script>
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
    // Neither another notice nor a reload loses the files.
    await page.frameLocator('iframe').getByRole('link', { name: 'Tides' }).click()
    await notice.getByText('https://example.com/tides').waitFor()
    await notice.getByRole('button', { name: 'Close' }).click()
    await notice.getByText('Shared with this app: a.txt').waitFor()
    await page.reload()
    await notice.getByText('Shared with this app: a.txt').waitFor()
    await press('Close')
    await page.reload()
    await shown('nothing')
    expect(await notice.isVisible()).toBe(false)
    await until(async () => JSON.stringify(await kept()) === '[]')
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
