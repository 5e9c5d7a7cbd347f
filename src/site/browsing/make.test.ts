import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { zipSync } from 'fflate'
import type { Browser, BrowserContext, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser, findInBrowser } from '../../testing/browsers/browser.ts'
import { dropFiles } from '../../testing/browsers/drop.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { badZips } from '../../testing/fixtures/bad-zips.ts'
import { password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 180_000

const isFocused = (element: unknown): boolean =>
  Reflect.get(Object(Reflect.get(globalThis, 'document')), 'activeElement') === element
const cornersOf = (element: unknown): string =>
  String(Reflect.get(globalThis, 'getComputedStyle')(element).borderRadius)

/** Waits for a text in one of the frames of the sandbox, and returns that frame's text. */
async function appText(page: Page, expected: string): Promise<string> {
  const found = await findInBrowser(async () => {
    for (const frame of page.frames().slice(1)) {
      const text = await frame.evaluate<string>('document.body?.innerText ?? ""').catch(() => '')
      if (text.includes(expected)) return text
    }
    return undefined
  }, ms)
  if (found === undefined) throw new Error(`No frame shows "${expected}".`)
  return found
}

async function signUp(page: Page, name: string): Promise<void> {
  await page.getByLabel('Username or email').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
}

const game = zipSync({
  'game/index.html': new TextEncoder().encode(
    '<!doctype html><title>Reef</title><h1>Reef</h1><script src="js/a.js"></script>',
  ),
  'game/js/a.js': new TextEncoder().encode(
    'fetch("data/a.json").then((r) => r.json()).then((j) => document.body.append("level " + j.level))',
  ),
  'game/data/a.json': new TextEncoder().encode('{"level":7}'),
})

/** Drops a folder on a page, and then a zip. */
async function dropFolderAndZip(page: Page, folder: string): Promise<void> {
  const zip = join(folder, 'game.zip')
  await Bun.write(
    join(folder, 'kelp/index.html'),
    '<title>Kelp</title><script src="js/%C3%BC%20100%25.js"></script>',
  )
  await Bun.write(join(folder, 'kelp/js/ü 100%.js'), 'document.write("kelp grows")')
  await Bun.write(zip, game)
  const [, damaged, reason] = badZips[0] ?? ['', '', '']
  await Bun.write(join(folder, 'damaged.zip'), damaged)
  await until(() => page.evaluate<boolean>("customElements.get('page-drop') !== undefined"))
  const heading = page.getByRole('heading', { level: 1 })
  await dropFiles(page, heading, [join(folder, 'kelp')])
  await page.getByText('index.html with 1 file. It runs once you publish it.').waitFor()
  await dropFiles(page, heading, [join(folder, 'damaged.zip')])
  await page.getByText(reason).waitFor()
  await dropFiles(page, heading, [zip])
  await page.getByText('index.html with 2 files.').waitFor()
}

describe.skipIf(findBrowser('chromium') === undefined)('a person makes an app in chromium', () => {
  let t: TestServer
  let browser: Browser
  let context: BrowserContext
  let origin = ''
  let close: BrowserSession['close']
  const problems: string[] = []

  beforeAll(async () => {
    t = await startTestServer({ BUILDER_BROWSER: 'off' })
    await t.ctx.jobs.start()
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    context = await browser.newContext()
    context.on('weberror', (error) => problems.push(error.error().message))
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
    expect(problems).toEqual([])
  }, ms)

  test(
    'builds from the home page, signs up on the way, plays, changes, edits and publishes',
    async () => {
      const page = await context.newPage()
      await page.goto(origin)
      await page.getByText('Demo builder', { exact: true }).click()
      await page.getByLabel('What should it do?').fill('snake in neon')
      await page.getByRole('button', { name: 'Make it' }).click()
      expect(await page.textContent('main')).toMatch(/At most \d+ credits/)
      await page.getByRole('button', { name: 'Create an account and build' }).click()
      await signUp(page, 'ann')
      await page.getByRole('button', { name: 'I saved my codes' }).click()
      await page.getByRole('button', { name: /^Build for/ }).click()
      await page.getByRole('button', { name: 'Change it' }).waitFor()
      expect(await appText(page, 'Snake in neon')).toContain('Play')
      await page.getByLabel('Change something').fill('call it Vine')
      await page.getByRole('button', { name: 'Change it' }).click()
      await page.getByText('Version 2 ·').waitFor()
      await appText(page, 'Vine')
      await page.getByRole('link', { name: 'Code', exact: true }).click()
      // The app takes the focus when it starts.
      await appText(page, 'Vine')
      // The editor replaces the text area, and has the same label.
      await page.locator('.cm-content').click()
      await page.keyboard.press('Control+End')
      await page.keyboard.type('<p>Typed here</p> 1/2')
      // The app starts again, and leaves the focus to the editor.
      await appText(page, 'Typed here')
      await page.keyboard.type(' and on')
      await appText(page, 'and on')
      expect(await page.locator('code-editor').evaluate(isFocused)).toBe(true)
      // The panel of the editor that finds text looks like the rest of the site.
      await page.keyboard.press('Control+f')
      const find = page.getByPlaceholder('Find')
      expect(await find.evaluate(cornersOf)).toBe('8px')
      await find.fill('a/b')
      expect(await find.inputValue()).toBe('a/b')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Publish version 3' }).click()
      expect(await page.textContent('[role=status]')).toContain('Published.')
      await page.getByRole('link', { name: 'Build', exact: true }).click()
      await page.getByRole('button', { name: 'Publish on Explore' }).click()
      expect(await page.textContent('[role=status]')).toContain('Saved.')
      // The builder found a knob, which its players turn.
      const id = /[\w-]{12}/.exec(new URL(page.url()).pathname.slice('/studio/'.length))?.[0]
      await page.goto(`${origin}/a/${id}`)
      await page.getByRole('button', { name: 'Tweak' }).click()
      await page.getByLabel('Speed').fill('2')
      const app = page.frameLocator('iframe').locator('body')
      const tempo = async () => (await app.evaluate<unknown, unknown>('tempo()')) === 2 || undefined
      expect(await findInBrowser(tempo, ms)).toBe(true)
      await page.close()
    },
    ms,
  )

  test(
    'says that the demo cannot build something, and charges nothing',
    async () => {
      const page = await context.newPage()
      await page.goto(`${origin}/new`)
      await page.getByLabel('What should it do?').fill('a weather app')
      await page.getByRole('button', { name: /^Build for/ }).click()
      await page.getByText('Nothing was charged.').waitFor()
      expect(await page.inputValue('textarea[name=prompt]')).toBe('a weather app')
      await page.close()
    },
    ms,
  )

  test(
    'names a chosen file and shows it beside its form, also over another way, until it is removed',
    async () => {
      const visitor = await browser.newContext({ locale: 'de' })
      const page = await visitor.newPage()
      await page.goto(`${origin}/new`)
      await until(() => page.evaluate<boolean>("customElements.get('page-drop') !== undefined"))
      const [prompt, preview] = [page.locator('[name=prompt]'), page.locator('app-preview')]
      await prompt.waitFor()
      const buffer = Buffer.from('<!doctype html><title>Reef</title><h1>Reef</h1>')
      const file = { name: 'reef.html', mimeType: 'text/html', buffer }
      await page.locator('input[type=file]').setInputFiles(file)
      await page.getByText('reef.html', { exact: true }).waitFor()
      await appText(page, 'Reef')
      expect(await prompt.isVisible()).toBe(false)
      expect(await page.locator('[name=html]').isVisible()).toBe(true)
      await page.getByRole('button', { name: 'Seite entfernen' }).click()
      await preview.waitFor({ state: 'hidden' })
      await page.getByText('Keine Datei gewählt', { exact: true }).waitFor()
      await visitor.close()
    },
    ms,
  )

  test(
    'reads a folder and a zip without an account and publishes after sign-up',
    async () => {
      const visitor = await browser.newContext()
      const page = await visitor.newPage()
      const sent: string[] = []
      page.on('request', (request) => sent.push(request.method()))
      await page.goto(`${origin}/new`)
      const before = await t.snapshot()
      // Browsers read a dropped file again when they send it.
      const folder = mkdtempSync(join(tmpdir(), 'berth-drop-'))
      await dropFolderAndZip(page, folder)
      expect([await t.snapshot(), sent.includes('POST')]).toEqual([before, false])
      expect(await findViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Create an account and publish' }).click()
      await signUp(page, 'ben')
      await page.getByRole('link', { name: 'I saved my codes' }).click()
      await page.getByText('index.html with 2 files.').waitFor()
      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      await page.getByText('Published. Share its link').waitFor()
      expect(await appText(page, 'level 7')).toContain('Reef')
      rmSync(folder, { recursive: true })
      await visitor.close()
    },
    ms,
  )
})
