import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000

/** A page that shows what an expression gives, as JSON, or the code of its error. */
const shows = (expression: string): string => `<!doctype html><title>Bridge</title><output></output>
<script>
const show = (value) => { document.querySelector('output').textContent = JSON.stringify(value) }
${expression}.then(show, ({ code, message }) => show({ code, message }))
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('service in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  /** Opens a page, as a signed-in person where there is one. */
  async function open(html: string, cookie?: string): Promise<Page> {
    const ann = await t.agent('ann')
    const id = await ann.publish({ html })
    const context = await browser.newContext()
    const [name = '', value = ''] = cookie?.split('=') ?? []
    if (cookie !== undefined) await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    await page.goto(`${origin}/a/${id}`)
    return page
  }

  /** Signs in a new person with 1 USD. */
  async function signIn(name: string): Promise<string> {
    return (await createTestSession(t, await createTestPerson(t, name, 1n))).cookie
  }

  /** Presses a button of the bar until it counts: the first moment does not. */
  async function press(page: Page, name: string): Promise<void> {
    const bar = page.getByRole('alertdialog')
    await bar.waitFor()
    await until(async () => {
      await bar
        .getByRole('button', { name })
        .click({ timeout: 500 })
        .catch(() => undefined)
      return (await bar.count()) === 0
    })
  }

  /** Waits for the output of an app, which is in the innermost frame. */
  async function outputOf(page: Page): Promise<unknown> {
    const output = page.frameLocator('iframe').locator('output')
    await output.filter({ hasText: /./ }).waitFor()
    return JSON.parse((await output.textContent()) ?? '')
  }

  test(
    'answers a call of an app, whose own network stays closed',
    async () => {
      const page = await open(
        shows(`Promise.all([
          service.ai.limits(),
          fetch('/api/status').then(() => 'reached', () => 'blocked'),
        ])`),
      )
      expect(await outputOf(page)).toEqual([
        { textBytesMax: 65_536, fileBytesMax: 20_971_520 },
        'blocked',
      ])
    },
    ms,
  )

  test(
    'speaks the language of the player in bars, boards and dialogs around an app',
    async () => {
      const ann = await t.agent('ann')
      const asks = 'service.scores.show().then(() => confirm("Weiter?"))'
      const id = await ann.publish({ title: 'Ahoi', html: `<script>${asks}</script>` })
      const context = await browser.newContext({ locale: 'de-DE' })
      const page = await context.newPage()
      await page.goto(`${origin}/a/${id}`)
      const board = page.getByRole('dialog', { name: 'Punkte in Ahoi' })
      await board.getByText('Es gibt noch keine Punkte. Sei der Erste.').waitFor()
      await board.getByRole('button', { name: 'Schließen' }).click()
      const app = page.frameLocator('iframe')
      await app.getByRole('button', { name: 'Abbrechen' }).click()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Vollbild' }).waitFor()
      await context.close()
    },
    ms,
  )

  test(
    'ends a call with an error of a code and a message',
    async () => {
      const page = await open(
        shows(`new Promise((resolve, reject) => {
          void service.ai
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => data.error ? reject(data.error) : resolve(data)
          parent.parent.postMessage({ type: 'service:call', name: 'ai.nothing' }, '*', [port2])
        })`),
      )
      expect(await outputOf(page)).toEqual({
        code: 'not_found',
        message: 'service has no ai.nothing.',
      })
    },
    ms,
  )

  test(
    'waits for the player, who agrees in the shell, and streams the reply',
    async () => {
      const page = await open(
        shows(`(async () => {
          let text = ''
          const reply = service.ai.chat('Tell me of the sea', { onText: (delta) => { text += delta } })
          let iterated = ''
          for await (const piece of reply) iterated += piece
          const result = await reply
          return { same: text === result.text && iterated === text, ...result }
        })()`),
        await signIn('olga'),
      )
      const bar = page.getByRole('alertdialog')
      await bar.waitFor()
      expect(await bar.textContent()).toMatch(/“Bridge” by @ann uses AI.*a turn.*demo models only/)
      // A script presses nothing.
      await bar.getByRole('button', { name: 'Allow' }).dispatchEvent('click')
      expect(await bar.count()).toBe(1)
      await press(page, 'Allow')
      const result = await outputOf(page)
      expect(result).toMatchObject({
        same: true,
        text: expect.stringContaining('Tell me of the sea'),
        truncated: false,
        credits: expect.any(Number),
      })
      expect(await bar.count()).toBe(0)
    },
    ms,
  )

  test(
    'asks once for a name, and shows the board of an app above it',
    async () => {
      const page = await open(
        shows(`(async () => {
          const empty = await service.scores.top()
          const first = await service.scores.submit(1250)
          const second = await service.scores.submit(900)
          void service.scores.show()
          return { empty, first, second, mine: await service.scores.mine() }
        })()`),
      )
      const bar = page.getByRole('alertdialog')
      await bar.getByLabel('Name').fill('Olga')
      await press(page, 'Show my scores')
      const best = { rank: 1, score: 1_250, name: 'Olga', isMe: true }
      expect(await outputOf(page)).toEqual({
        empty: [],
        first: { ...best, isBest: true },
        second: { ...best, isBest: false },
        mine: best,
      })
      const board = page.getByRole('dialog', { name: 'Scores of Bridge' })
      expect(await board.getByRole('row').allTextContents()).toEqual(['1Olga (you)1,250'])
      await board.getByRole('button', { name: 'Close' }).click()
      await board.waitFor({ state: 'hidden' })
    },
    ms,
  )

  test(
    'refuses for the rest of the visit after Not now',
    async () => {
      const page = await open(
        shows(`(async () => {
          const codes = []
          for (const text of ['one', 'two']) {
            await service.ai.chat(text).catch(({ code }) => codes.push(code))
          }
          return codes
        })()`),
        await signIn('ben'),
      )
      await press(page, 'Not now')
      expect(await outputOf(page)).toEqual(['not_granted', 'not_granted'])
    },
    ms,
  )

  test(
    'creates an image and speech for a page, as files of the page',
    async () => {
      const page = await open(
        shows(`(async () => {
          const image = await service.ai.image('A boat')
          const shown = new Image()
          shown.src = image.url
          await shown.decode()
          const speech = await service.ai.speech('Hi')
          const { text } = await service.ai.transcribe(speech.blob)
          return [shown.width > 0, image.credits > 0, speech.blob.type.startsWith('audio/'), text !== '']
        })()`),
        await signIn('cyra'),
      )
      await press(page, 'Allow')
      expect(await outputOf(page)).toEqual([true, true, true, true])
    },
    ms,
  )

  test(
    'takes no consent from a page: neither by a false bar, nor by messages or requests',
    async () => {
      const page = await open(
        `<!doctype html><title>Thief</title><button>Allow</button><output></output><script>
        const tries = []
        const call = service.ai.chat('Hello').then(() => 'paid', ({ code }) => code)
        document.querySelector('button').onclick = async () => {
          for (const type of ['service:consent', 'service:call', 'service:hello']) {
            parent.parent.postMessage({ type, name: 'consent', uses: ['ai'], dailyCap: 9 }, '*')
          }
          const id = location.ancestorOrigins?.[0] ?? ''
          const request = { method: 'PUT', body: '{"uses":["ai"],"dailyCap":9,"remember":true}' }
          tries.push(await fetch(id + '/api/apps/x/consent', request).then(() => 'sent', () => 'blocked'))
          const child = document.createElement('iframe')
          child.srcdoc = '<script>top.postMessage({ type: "service:call", name: "ai.limits" }, "*", [new MessageChannel().port2])<' + '/script>'
          document.body.append(child)
          tries.push(await Promise.race([call, new Promise((done) => setTimeout(done, 1_000, 'waits'))]))
          document.querySelector('output').textContent = JSON.stringify(tries)
        }
        </script>`,
        await signIn('dora'),
      )
      await page.getByRole('alertdialog').waitFor()
      const inner = page.frameLocator('iframe')
      await inner.getByRole('button', { name: 'Allow' }).click()
      expect(await outputOf(page)).toEqual(['blocked', 'waits'])
      expect(await page.getByRole('alertdialog').count()).toBe(1)
    },
    ms,
  )

  test(
    'stops a page that calls in a loop at its cap, and at the calls that may run',
    async () => {
      const page = await open(
        shows(`Promise.allSettled(Array.from({ length: 300 }, () => service.ai.chat('Hello'))).then((all) => {
          const codes = all.map(({ status, reason }) => status === 'fulfilled' ? 'paid' : reason.code)
          return [...new Set(codes)].sort()
        })`),
        await signIn('emma'),
      )
      await press(page, 'Allow')
      const codes = await outputOf(page)
      expect(codes).toContain('too_many_calls')
      expect(['holds_limit', 'paid', 'rate_limited', 'too_many_calls']).toEqual(
        expect.arrayContaining(Array.isArray(codes) ? codes : [codes]),
      )
    },
    ms,
  )

  test(
    'offers only its own page in the frame of another site, which could cover the bar',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ html: shows(`service.ai.chat('Hello')`) })
      const other = Bun.serve({
        port: 0,
        fetch: () =>
          new Response(`<!doctype html><iframe src="${origin}/a/${id}/embed"></iframe>`, {
            headers: { 'content-type': 'text/html' },
          }),
      })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await signIn('fred')).split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`http://localhost:${other.port}`)
      const bar = page.frameLocator('iframe').getByRole('alertdialog')
      const link = bar.getByRole('link', { name: 'Open on its own page' })
      expect(await link.getAttribute('href')).toBe(`/a/${id}`)
      expect(await bar.getByRole('button', { name: 'Allow' }).count()).toBe(0)
      await context.close()
      await other.stop(true)
    },
    ms,
  )

  test(
    'asks the player for a call that is more than a sponsor has left',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ html: shows(`service.ai.chat('Hello').then(() => 'paid')`) })
      await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 1, playerDailyCap: 1 })
      const visitor = await browser.newPage()
      await visitor.goto(`${origin}/a/${id}`)
      await visitor.getByRole('link', { name: 'Sign in' }).waitFor()
      await visitor.close()
      const context = await browser.newContext()
      const [name = '', value = ''] = (await signIn('gina')).split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}/a/${id}`)
      await press(page, 'Allow')
      expect(await outputOf(page)).toBe('paid')
      await context.close()
    },
    ms,
  )

  test(
    'offers a higher cap for a call above the cap of the day, until the player declines',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({
        html: shows(`(async () => {
          const chat = () => service.ai.chat('Hello').then(() => 'paid', ({ code }) => code)
          return [...(await Promise.all([chat(), chat()])), await chat()]
        })()`),
      })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await signIn('hugo')).split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}/robots.txt`)
      const isSet = await page.evaluate(
        `fetch('/api/apps/${id}/consent', { method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: '{"uses":["ai"],"dailyCap":0,"remember":false}' }).then(({ ok }) => ok)`,
      )
      expect(isSet).toBe(true)
      await page.goto(`${origin}/a/${id}`)
      const bar = page.getByRole('alertdialog')
      expect(await bar.textContent()).toContain('spent 0 credits of at most 0 credits')
      await press(page, 'Not now')
      expect(await outputOf(page)).toEqual(['daily_cap', 'daily_cap', 'daily_cap'])
      await page.reload()
      await press(page, 'Allow')
      expect(await outputOf(page)).toEqual(['paid', 'paid', 'paid'])
      await context.close()
    },
    ms,
  )

  test(
    'offers to sign in where nobody could pay',
    async () => {
      const page = await open(shows(`service.ai.chat('Hello')`))
      const link = page.getByRole('link', { name: 'Sign in' })
      expect(await link.getAttribute('href')).toStartWith('/sign-in?next=%2Fa%2F')
    },
    ms,
  )
})

test('a page that uses no part of service gets no byte of the bridge', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const read = async (html: string) => {
    const id = await ann.publish({ html })
    const [shell, list] = await Promise.all([
      t.request('GET', `/a/${id}`),
      t.request('GET', `/a/${id}/files`),
    ])
    return { id, shell, list: JSON.stringify(list.body) }
  }
  const plain = await read('<!doctype html><title>Plain</title><p>Our service is good.')
  const user = await read(shows('service.ai.limits()'))
  expect(String(plain.shell.body)).not.toContain('service:call')
  const policy = plain.shell.headers.get('content-security-policy') ?? ''
  expect([...policy.matchAll(/\/api\/[^ ;]*/g)].map(([path]) => path)).toEqual(
    ['errors', 'own-cover'].map((name) => `/api/apps/${plain.id}/${name}`),
  )
  expect(plain.list).not.toMatch(/bridge|\/a\/libraries\//)
  expect(String(user.shell.body)).toContain('service:call')
  expect(user.shell.headers.get('content-security-policy')).toContain(`/api/apps/${user.id}/`)
  expect(user.list).toContain('"script":"/a/libraries/bridge.')
  await t.close()
})
