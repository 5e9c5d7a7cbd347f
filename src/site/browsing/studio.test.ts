import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser, findInBrowser } from '../../testing/browsers/browser.ts'
import { dropFiles } from '../../testing/browsers/drop.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { folder } from '../../testing/fixtures/folders.ts'
import { password } from '../../testing/fixtures/people.ts'
import { payloads } from '../../testing/fixtures/script-payloads.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000

const pageOf = (word: string, more = ''): string =>
  `<!doctype html>\n<title>Boat</title>\n<h1>${word}</h1>\n<script>\n` +
  `document.body.append(document.createElement('canvas'))\n</script>\n${more}`

describe.skipIf(findBrowser('chromium') === undefined)('the studio in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let names = 0

  beforeAll(async () => {
    t = await startTestServer()
    ;({ browser, origin, close } = await openBrowserSession(() => t))
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
  const tab = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name })

  /** Signs up a person in a browser who claims an agent with one app. */
  async function claimed(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page; agent: TestAgent; id: string }> {
    names += 1
    const agent = await t.agent(`ann-${names}`)
    const id = await agent.publish({ html: pageOf('first'), title: 'Boat', store: true })
    const claim = new URL((await agent.call('POST', '/me/claim')).text('claim.url')).pathname
    const context = await browser.newContext(options)
    const page = await context.newPage()
    await page.goto(`${origin}/sign-up?next=${encodeURIComponent(claim)}`)
    await page.getByLabel('Username or email').fill(`olga${names}${'w'.repeat(30)}`)
    await page.getByLabel('Password').fill(password)
    await button(page, 'Create account').click()
    await page.goto(origin + claim)
    expect(await page.textContent('main')).toContain('Boat')
    await button(page, /^Claim @/).click()
    return { context, page, agent, id }
  }

  for (const javaScriptEnabled of [true, false]) {
    test(
      `compares, restores, lists and uploads ${javaScriptEnabled ? 'with' : 'without'} JavaScript`,
      async () => {
        const { context, page, agent, id } = await claimed({ javaScriptEnabled })
        await page.getByRole('link', { name: 'Boat', exact: true }).click()
        await agent.call('POST', `/apps/${id}/versions`, { html: pageOf('second') })
        await tab(page, 'Version history').click()
        await page.getByRole('link', { name: 'Show changes of version 2' }).click()
        const changed = page.getByRole('row').filter({ hasText: 'Removed' })
        expect(await changed.textContent()).toMatch(
          /Removed\s*<h1>first<\/h1>.*Added\s*<h1>second<\/h1>/s,
        )
        await tab(page, 'Version history').click()
        await button(page, 'Restore version 1').click()
        expect(await page.textContent('.versions-list li')).toContain('Version 1 again.')
        const html = (await agent.call('GET', `/apps/${id}/html`)).body
        expect(html).toBe(pageOf('first'))
        await tab(page, 'Listing').click()
        await button(page, 'Remove from Explore').click()
        expect(await page.getByRole('status').first().textContent()).toContain(
          'It is now off Explore',
        )
        await tab(page, 'Assets').click()
        await page.getByLabel('Name').fill('lamp.json')
        const file = { name: 'x', mimeType: 'text/plain', buffer: Buffer.from('{"lit":true}') }
        await page.getByRole('button', { name: /^File/ }).setInputFiles(file)
        await button(page, 'Upload').click()
        expect(await page.textContent('.files')).toContain('lamp.json')
        await context.close()
      },
      ms,
    )
  }

  test(
    'takes dropped files, a cover, a screenshot and an icon, exports and deletes',
    async () => {
      const { context, page, agent, id } = await claimed()
      const folder = mkdtempSync(join(tmpdir(), 'berth-drop-'))
      const file = join(folder, 'Old Harbor.png')
      const size = { width: 640, height: 480 }
      const image = { kind: 'picture', what: 'a harbor', seed: '1', ...size } as const
      await Bun.write(file, (await t.ctx.generators.generate(image)).bytes)
      const open = async (name: string): Promise<void> => {
        await page.goto(`${origin}/studio/${id}/${name}`)
        await until(() => page.evaluate<boolean>("customElements.get('file-drop') !== undefined"))
      }
      const upload = async (name: string, shown: string): Promise<void> => {
        // A dropped image is sent at once.
        await dropFiles(page, page.locator('file-drop').filter({ hasText: name }), [file])
        await page.getByText(shown).waitFor()
        await until(() => page.evaluate<boolean>("customElements.get('file-drop') !== undefined"))
      }
      await open('assets')
      // The only form of a page takes files anywhere.
      await dropFiles(page, page.locator('h1'), [file])
      await button(page, 'Upload').click()
      await page.getByAltText('old-harbor.png').waitFor()
      await open('listing')
      await dropFiles(page, page.locator('h1'), [file])
      expect(await page.inputValue('input[type=file] >> nth=0')).toBe('')
      await upload('Upload cover', 'You uploaded this cover.')
      await upload('Add screenshot 1 of 5', 'Add screenshot 2 of 5')
      await upload('Upload icon', 'Feeds and link previews show it.')
      await button(page, 'Generate icon').click()
      await page.getByText('The icon is live.').waitFor()
      expect((await agent.call('GET', `/apps/${id}`)).text('app.icon')).toContain(`/icons/${id}`)
      await tab(page, 'Version history').click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export all versions' }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`${id}.zip`)
      await tab(page, 'Listing').click()
      await button(page, 'Delete app').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete app' }).click()
      await button(page, 'Restore').waitFor()
      expect((await agent.call('GET', `/apps/${id}`)).status).toBe(404)
      rmSync(folder, { recursive: true })
      await context.close()
    },
    ms,
  )

  test(
    'says that settings are not saved, and discards or saves them',
    async () => {
      const { context, page, agent, id } = await claimed()
      await page.goto(`${origin}/studio/${id}/listing`)
      const note = page.getByText('Unsaved changes')
      const price = page.getByLabel('Price in credits')
      await page.getByLabel('Title').fill('Ferry')
      await note.waitFor()
      expect(await findViolations(page)).toEqual([])
      await button(page, 'Discard').click()
      await note.waitFor({ state: 'hidden' })
      expect(await page.getByLabel('Title').inputValue()).toBe('Boat')
      expect(await price.isVisible()).toBe(false)
      await page.getByLabel('Who can remix').selectOption('Paid remixes')
      await price.fill('40')
      await note.waitFor()
      await button(page, 'Save').click()
      await page.getByText('A remix costs 40 credits now.').waitFor()
      expect((await agent.call('GET', `/apps/${id}`)).body).toMatchObject({
        app: { title: 'Boat', priceRemix: 40 },
      })
      await context.close()
    },
    ms,
  )

  for (const javaScriptEnabled of [true, false]) {
    test(
      `publishes the steps of a framework ${javaScriptEnabled ? 'with' : 'without'} JavaScript`,
      async () => {
        const { context, page, agent } = await claimed({ javaScriptEnabled })
        const steps = ['One', 'Two'].map((title) => ({
          id: title.toLowerCase(),
          title,
          done: `${title} is there.`,
        }))
        const made = await agent.call('POST', '/frameworks', { ...folder(), steps })
        const pack = made.text('framework.id')
        await page.goto(`${origin}/studio/${pack}/files`)
        const titles = page.getByLabel('Title')
        const doneWhen = page.getByLabel('Done when')
        const row = (place: number) => page.getByRole('group', { name: `Step ${place}` })
        if (javaScriptEnabled) {
          expect(await titles.count()).toBe(2)
          await button(page, 'Add step').click()
          await page.keyboard.type('Three')
          await doneWhen.last().fill('Three is there.')
          await row(3).getByRole('button', { name: 'Move up' }).click()
          await page.keyboard.press('Enter')
          await row(2).getByRole('button', { name: 'Delete step' }).click()
          expect(await findViolations(page)).toEqual([])
        } else {
          // The empty rows.
          expect(await titles.count()).toBe(5)
          await titles.nth(0).fill('')
          await doneWhen.nth(0).fill('')
          await titles.nth(3).fill('Three')
          await doneWhen.nth(3).fill('Three is there.')
        }
        await button(page, 'Publish version 2').click()
        await page.getByText('Published.').waitFor()
        const { body } = await agent.call('GET', `/frameworks/${pack}`)
        const three = { id: 'three', title: 'Three', done: 'Three is there.' }
        const [, two] = steps
        expect(body).toMatchObject({
          framework: { version: 2, steps: javaScriptEnabled ? [three, two] : [two, three] },
        })
        await context.close()
      },
      ms,
    )
  }

  test(
    'previews each version in the sandbox',
    async () => {
      const { context, page, agent, id } = await claimed()
      await agent.call('POST', `/apps/${id}/versions`, { html: pageOf('second') })
      for (const [version, word] of [
        [1, 'first'],
        [2, 'second'],
      ] as const) {
        await page.goto(`${origin}/studio/${id}/versions`)
        await page.getByRole('link', { name: `Version ${version}`, exact: true }).click()
        const found = await findInBrowser(async () => {
          for (const frame of page.frames().slice(1)) {
            const shown = await frame.evaluate<string>(drawn).catch(() => '')
            if (shown.startsWith(word)) return shown
          }
          return undefined
        }, ms / 2)
        expect(found).toBe(`${word} 1 null`)
        expect(page.url()).toBe(`${origin}/a/${id}/versions/${version}`)
      }
      await context.close()
    },
    ms,
  )

  test(
    'passes axe-core, does not scroll sideways and runs no user-provided text',
    async () => {
      const { context, page, agent, id } = await claimed()
      const ran: string[] = []
      await context.exposeFunction('told', (what: string) => void ran.push(what))
      await context.addInitScript(`
        for (const name of ['alert', 'confirm', 'prompt']) self[name] = () => told(name + ' ' + location)
        addEventListener('securitypolicyviolation', (event) => told(event.violatedDirective + ' ' + location))`)
      await fill(agent, id)
      const look = async (path: string): Promise<void> => {
        await page.goto(origin + path)
        expect([path, ...(await findViolations(page))]).toEqual([path])
      }
      for (const path of pathsOf(agent, id)) await look(path)
      expect(ran).toEqual([])
      await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' })
      await page.goto(`${origin}/studio/${id}/safety`)
      const ground = "getComputedStyle(document.querySelector('.found mark')).backgroundColor"
      // In forced colors, the highlighted line has the color of the page.
      expect(await page.evaluate<string>(ground)).not.toStartWith('rgba')
      await page.emulateMedia({ forcedColors: 'none' })
      await agent.call('PATCH', `/apps/${id}`, { title: 'W'.repeat(80) })
      const other = await t.agent('bea')
      const claim = new URL((await other.call('POST', '/me/claim')).text('claim.url')).pathname
      for (const path of [`/studio/${id}/listing`, claim]) await look(path)
      await agent.call('DELETE', `/apps/${id}`)
      await look(`/studio/${id}`)
      await button(page, 'Restore').click()
      expect(await page.textContent('.tabs')).toContain('Analytics')
      await context.close()
    },
    2 * ms,
  )
})

/** Reads the heading, the canvases and the origin of an app's document. */
const drawn = `document.querySelector('h1').textContent + ' ' +
  [...document.querySelectorAll('canvas')].filter((one) => one.getBoundingClientRect().width > 0).length +
  ' ' + self.origin`

const pathsOf = ({ handle }: TestAgent, id: string): string[] => [
  '/studio',
  ...['', '/apps', '/ledger', '/keys', '/notes', '/settings'].map(
    (list) => `/agents/${handle}${list}`,
  ),
  ...['', '/versions', '/changes', '/assets', '/listing', '/safety'].map(
    (name) => `/studio/${id}${name}`,
  ),
]

/** Puts payloads into every field that the studio shows. */
async function fill(agent: TestAgent, id: string): Promise<void> {
  const [text = ''] = payloads
  const asks = payloads
    .slice(0, 20)
    .map((what, at) => ({ name: `ask-${at}.png`, kind: 'picture', what }))
  const list = JSON.stringify(asks).replaceAll('<', '\\u003c')
  const html = pageOf(
    'third',
    `<textarea>\n${payloads.join('\n').replaceAll('</textarea', '</text')}\n</textarea>
<script src="https://cdn.example.com/a.js"></script>
<script type="application/json" data-assets>${list}</script>`,
  )
  const made = await agent.call('POST', `/apps/${id}/versions`, { html, note: text })
  expect(made.status).toBe(201)
  for (const note of payloads.slice(0, 25)) {
    const version = { html: pageOf('next', html.slice(pageOf('third').length)), note }
    await agent.call('POST', `/apps/${id}/versions`, version)
  }
  await agent.call('POST', `/apps/${id}/versions`, {
    html: html.replace('\n</textarea>', ' </textarea>'),
  })
  await agent.call('PATCH', `/apps/${id}`, { title: text.slice(0, 80), description: text })
  await agent.call('PUT', `/apps/${id}/assets/data.json`, { lit: true })
}
