import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 180_000

/** A page whose text hides what it uses. Its buttons, below the bar, use a part each. */
const hiding = `<!doctype html><title>Hidden</title><body style="padding-top:6rem">
<button>db</button><button>room</button><button>scores</button><button>shared</button><button>ai</button><output></output>
<script>
const app = window.service
const uses = {
  db: async () => (await app.db.doc('a/1').set({ n: 1 })).data().n,
  room: async () => (await app.room.join('lobby')).peers.length,
  scores: async () => (await app.scores.submit(7)).score,
  shared: async () => { await app.store.set('a', 1, { shared: true }); return app.store.get('a', { shared: true }) },
  ai: async () => (await app.ai.chat('Hello')).text,
}
for (const button of document.querySelectorAll('button')) {
  button.onclick = () => uses[button.textContent]().then(
    (value) => { document.querySelector('output').textContent = button.textContent + ': ' + value },
    ({ code }) => { document.querySelector('output').textContent = button.textContent + ': ' + code })
}
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('uses of an app in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  /** Opens a browser where a new person is signed in, with 1 USD. */
  async function signIn(name: string): Promise<BrowserContext> {
    const { cookie } = await createTestSession(t, await createTestPerson(t, name, 1n))
    const context = await browser.newContext()
    const [key = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name: key, value, url: origin }])
    return context
  }

  const appOf = (page: Page): FrameLocator => page.frameLocator('iframe')

  async function open(context: BrowserContext, id: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${origin}/a/${id}`)
    return page
  }

  /** Presses a button of the bar until it counts: the first moment does not. */
  async function press(page: Page, name: string): Promise<string> {
    const bar = page.getByRole('alertdialog')
    await bar.waitFor()
    const text = (await bar.textContent()) ?? ''
    await until(async () => {
      await bar
        .getByRole('button', { name })
        .click({ timeout: 500 })
        .catch(() => undefined)
      return (await bar.count()) === 0
    })
    return text
  }

  test(
    'a use that the text of a page hides raises a bar, once for each, and not again',
    async () => {
      const id = await (await t.agent('ann')).publish({ html: hiding })
      const page = await open(await signIn('olga'), id)
      const app = appOf(page)
      const use = (name: string) => app.getByRole('button', { name }).click()
      const shows = (text: string) => app.locator('output').filter({ hasText: text }).waitFor()
      await use('db')
      expect(await press(page, 'Share and play')).toContain('shares what you do in it')
      await shows('db: 1')
      await use('room')
      expect(await press(page, 'Share and play')).toContain('now also shares')
      await shows('room: 1')
      await use('shared')
      await press(page, 'Share and play')
      await shows('shared: 1')
      await use('scores')
      const bar = page.getByRole('alertdialog')
      await bar.getByLabel('Name').fill('Olga')
      await press(page, 'Show my scores')
      await shows('scores: 7')
      await use('ai')
      expect(await press(page, 'Allow')).toContain('uses AI')
      await shows('ai: Hello')
      await page.reload()
      for (const [name, value] of [
        ['db', 1],
        ['room', 1],
        ['shared', 1],
        ['scores', 7],
      ] as const) {
        await use(name)
        await shows(`${name}: ${value}`)
      }
      expect(await page.getByRole('alertdialog').count()).toBe(0)
    },
    ms,
  )

  test(
    'a page that asks for a password and hides a use gets it without a bar, as an error',
    async () => {
      const html = `${hiding}<input type="password" aria-label="Password">`
      const id = await (await t.agent('ann')).publish({ html })
      const page = await open(await browser.newContext(), id)
      const app = appOf(page)
      await app.getByRole('button', { name: 'db' }).click()
      await app.locator('output').filter({ hasText: 'db: not_declared' }).waitFor()
      expect(await page.getByRole('alertdialog').count()).toBe(0)
    },
    ms,
  )

  test(
    'one prompt makes a game master that talks and remembers',
    async () => {
      const ann = await t.agent('ann')
      const prompt = 'make a game master that talks and remembers me'
      const begun = await ann.call('POST', '/apps', { prompt, kind: 'game', title: 'Lantern' })
      const id = begun.text('app.id')
      await t.ctx.jobs.runDue()
      const job = await ann.call('GET', `/jobs/${begun.text('job.id')}`)
      expect(job.body).toMatchObject({ job: { state: 'done' } })
      await ann.call('PATCH', `/apps/${id}`, { store: true })
      expect((await t.call('GET', `/explore/${id}`)).body).toMatchObject({ uses: ['ai', 'store'] })
      const context = await signIn('pat')
      const page = await open(context, id)
      const story = appOf(page).getByRole('log')
      const send = async (words: string) => {
        await appOf(page).getByRole('textbox').fill(words)
        await appOf(page).getByRole('button', { name: 'Send' }).click()
      }
      await send('My name is Pat and I light the lantern')
      await press(page, 'Allow')
      await story.getByText('I light the lantern').nth(1).waitFor()
      await appOf(page).getByText('Knows you as Pat.').waitFor()
      const again = await open(context, id)
      await appOf(again).getByText('Welcome back, Pat.').waitFor()
      await appOf(again).getByRole('log').getByText('I light the lantern').nth(1).waitFor()
      await appOf(again).getByRole('button', { name: 'Start over' }).click()
      await appOf(again).getByText('Tell me your name').waitFor()
      await appOf(again).getByRole('button', { name: 'Undo' }).click()
      await appOf(again).getByText('Welcome back, Pat.').waitFor()
    },
    ms,
  )
})
