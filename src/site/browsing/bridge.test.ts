import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

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
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ APP_URL: origin })
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  async function open(html: string): Promise<Page> {
    const ann = await t.agent('ann')
    const id = await ann.publish({ html })
    const page = await browser.newPage()
    await page.goto(`${origin}/a/${id}`)
    return page
  }

  /** Waits for the output of an app, which is in the innermost frame. */
  async function outputOf(page: Page): Promise<unknown> {
    const output = page.frameLocator('iframe').frameLocator('iframe').locator('output')
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
  expect(policy.match(/\/api\/[^ ;]*/g)).toEqual([`/api/apps/${plain.id}/errors`])
  expect(plain.list).not.toContain('bridge')
  expect(String(user.shell.body)).toContain('service:call')
  expect(user.shell.headers.get('content-security-policy')).toContain(`/api/apps/${user.id}/`)
  expect(user.list).toContain('"script":"/a/libraries/bridge.')
  await t.close()
})
