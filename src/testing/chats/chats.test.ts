/** Apps in the chats of two hosts, in a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

import { hour } from '../../kernel/time.ts'
import { findBrowser } from '../browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../browsers/session.ts'
import { callTool } from '../fixtures/mcp-server.ts'
import { startTestServer, type TestAgent, type TestServer } from '../fixtures/test-server.ts'
import { isThorough } from '../thorough.ts'
import { until } from '../until.ts'
import { allApps, folder, idOf, library, type ShownApp, usualApps } from './apps.ts'
import { type HostName, hostNames, serveHosts } from './host-pages.ts'

const ms = 180_000

describe.skipIf(findBrowser('chromium') === undefined)('in the chats of hosts', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let ann: TestAgent
  const hosts = serveHosts()

  beforeAll(async () => {
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ APP_URL: origin })
    ann = await t.agent('ann')
  }, ms)
  afterAll(async () => {
    await close()
    await hosts.stop()
    await t.close()
  })

  /** Opens a page of a host. The theme of its chat is not that of the system. */
  async function openHost(name: HostName, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ colorScheme: null, ...options })
    const page = await context.newPage()
    await page.goto(hosts.urlOf(name))
    return page
  }

  /** Calls a tool in a page of a host, whose sandbox has the policy of a path. */
  const call = (page: Page, name: string, args: object, policy = '') => {
    const sandbox = hosts.sandbox + policy
    const given = { url: `${origin}/mcp`, sandbox, key: ann.key, name, args }
    return page.evaluate(`self.host.call(${JSON.stringify(given)})`)
  }
  const shownIn = (page: Page): ShownApp => {
    const view = page.frameLocator('iframe').last().frameLocator('iframe')
    return { view, app: view.frameLocator('main iframe').frameLocator('iframe') }
  }
  const recorded = async (page: Page, field: string): Promise<unknown> =>
    page.evaluate(`self.host.${field}`)

  /** Returns what an app has saved for the agent. */
  const saved = async (id: string): Promise<string> => {
    const by = { key: ann.key }
    const { pass } = (await callTool(t, 'open_app_page', { id }, by)).structuredContent
    const args = { id, pass, method: 'GET', path: '/value/own?key=berth:localStorage' }
    return JSON.stringify((await callTool(t, 'use_app_data', args, by)).structuredContent)
  }

  for (const [turn, host] of hostNames.entries()) {
    // CI plays each of the usual apps in one of the hosts.
    const apps = isThorough ? allApps : usualApps.filter((_, at) => at % 2 === turn % 2)
    test.each(apps.map((app) => [app.name, app] as const))(
      `of ${host}, an app works: %s`,
      async (_, { body, play, kept }) => {
        const id = idOf((await ann.call('POST', '/apps', body)).body)
        const page = await openHost(host)
        await call(page, 'play_app', { id })
        await play(shownIn(page))
        const heights = await recorded(page, 'heights')
        expect(Array.isArray(heights) && heights.length > 0).toBe(true)
        if (kept !== undefined) {
          await until(async () => (await saved(id)).includes('"2"'))
          await page.goto(hosts.urlOf(host))
          await call(page, 'play_app', { id })
          await shownIn(page).app.getByText(kept, { exact: true }).waitFor()
        }
        await page.context().close()
      },
      ms,
    )
  }

  // Some hosts allow no more.
  test.each((isThorough ? allApps : [library, folder]).map((app) => [app.name, app] as const))(
    'an app works where a host allows only what the specification says: %s',
    async (_, { body, play }) => {
      const id = idOf((await ann.call('POST', '/apps', body)).body)
      const page = await openHost('reference')
      await call(page, 'play_app', { id }, 'strict')
      await play(shownIn(page))
      await page.context().close()
    },
    ms,
  )

  test(
    'a view follows the theme, the language, the size and the display mode of its host',
    async () => {
      const html = `<!doctype html><title>Facts</title><style>html{color-scheme:light dark}</style><p id=out></p><div style="height:700px"></div>
        <button id=full>Play large</button><a href="https://example.com/tides">Tides</a><script>
        const dark = matchMedia('(prefers-color-scheme: dark)')
        const show = () => { out.textContent = navigator.language + ' ' + (dark.matches ? 'dark' : 'light') }
        dark.onchange = show; show(); full.onclick = () => document.documentElement.requestFullscreen()</script>`
      const page = await openHost('reference')
      // What an agent publishes shows at once.
      await call(page, 'publish_app', { html, title: 'Facts' })
      const { view, app } = shownIn(page)
      await app.getByText('en-CH dark').waitFor()
      await until(async () => (await recorded(page, 'heights.at(-1)')) !== 524)
      const height = Number(await recorded(page, 'heights.at(-1)'))
      expect(height).toBeGreaterThan(700)
      expect(height).toBeLessThan(1_000)
      expect((await page.locator('iframe').boundingBox())?.height).toBe(height + 2)
      await page.evaluate("self.host.setContext({ theme: 'light' })")
      await app.getByText('en-CH light').waitFor()
      await app.getByRole('button', { name: 'Play large' }).click()
      await view.getByTitle('Full screen').click()
      await until(async () => (await recorded(page, 'modes.join()')) === 'fullscreen,inline')
      await app.getByRole('link', { name: 'Tides' }).click()
      await view.getByText('https://example.com/tides').waitFor()
      await until(async () => {
        await view
          .getByRole('link', { name: 'Open', exact: true })
          .click({ timeout: 1_000 })
          .catch(() => undefined)
        return (await recorded(page, 'links.join()')) === 'https://example.com/tides'
      })
      await view.getByTitle('Open on its own page').click()
      await until(async () => String(await recorded(page, 'links.join()')).includes(`${origin}/a/`))
      await page.context().close()
    },
    ms,
  )

  test(
    'a view speaks the language of its chat, and follows when that changes',
    async () => {
      const html = `<!doctype html><title>Board</title><button onclick="service.scores.submit(7)">Send</button>`
      const page = await openHost('reference')
      await page.evaluate("self.host.hostContext.locale = 'ar-EG'")
      await call(page, 'publish_app', { html, title: 'Board' })
      const { view, app } = shownIn(page)
      await view.locator('html[lang=ar][dir=rtl]').waitFor()
      for (const title of ['كتم الصوت', 'إعادة البدء', 'ملء الشاشة', 'فتح في صفحته الخاصة'])
        expect(await view.getByTitle(title, { exact: true }).count()).toBe(1)
      await app.getByRole('button', { name: 'Send' }).click()
      // The dialog of the board comes from the bridge.
      await view.getByLabel('الاسم').waitFor()
      await page.evaluate("self.host.setContext({ locale: 'zh-CN' })")
      await view.locator('html[lang=zh-Hans][dir=ltr]').waitFor()
      expect(await view.getByTitle('静音').count()).toBe(1)
      // A language without a catalog.
      await page.evaluate("self.host.setContext({ locale: 'toString' })")
      await view.locator('html[lang=en][dir=ltr]').waitFor()
      expect(await view.getByTitle('Mute').count()).toBe(1)
      await page.context().close()
    },
    ms,
  )

  test(
    'a view that is open for hours still saves',
    async () => {
      const html = `<!doctype html><title>Level</title><p id=out></p>
        <button onclick="service.store.set('level', 3).then(() => out.textContent = 'Saved', (e) => out.textContent = e.message)">Save</button>`
      const page = await openHost('reference')
      await call(page, 'publish_app', { html, title: 'Level' })
      const { app } = shownIn(page)
      await app.getByRole('button', { name: 'Save' }).waitFor()
      t.clock.advance(2 * hour)
      await page.clock.setFixedTime(new Date(2100, 0))
      await app.getByRole('button', { name: 'Save' }).click()
      await app.getByText('Saved', { exact: true }).waitFor()
      await page.context().close()
    },
    ms,
  )

  test(
    'a build from a prompt shows its progress, and then the app',
    async () => {
      const page = await openHost('reference')
      await call(page, 'build_app', {
        prompt: 'Snake in a meadow',
        kind: 'game',
      })
      const { view, app } = shownIn(page)
      await view.getByText(/^Being built: \d+ %$/).waitFor()
      await t.ctx.jobs.runDue()
      await app.locator('canvas').waitFor()
      await page.context().close()
    },
    ms,
  )

  test(
    'an app saves before its host tears it down, and the resource of an app opens by itself',
    async () => {
      const html = `<!doctype html><title>Left</title><p id=out></p><script>
        out.textContent = 'left ' + (localStorage.left ?? 0) + ' times'
        addEventListener('pagehide', () => { localStorage.left = Number(localStorage.left ?? 0) + 1 })</script>`
      const id = await ann.publish({ html, title: 'Left' })
      const page = await openHost('reference')
      const given = {
        url: `${origin}/mcp`,
        sandbox: hosts.sandbox,
        key: ann.key,
        uri: `ui://berth/${id}`,
      }
      await page.evaluate(`self.host.open(${JSON.stringify(given)})`)
      await shownIn(page).app.getByText('left 0 times').waitFor()
      await page.evaluate('self.host.bridge.teardownResource({})')
      expect(await saved(id)).toContain('["left","1"]')
      await page.goto(hosts.urlOf('reference'))
      await page.evaluate(`self.host.open(${JSON.stringify(given)})`)
      await shownIn(page).app.getByText('left 1 times').waitFor()
      await page.context().close()
    },
    ms,
  )

  test(
    'an app in a chat reaches no network and no tool, even where a host applies no policy',
    async () => {
      const seen: string[] = []
      const outside = Bun.serve({
        port: 0,
        fetch({ url }) {
          seen.push(url)
          return new Response('', { headers: { 'access-control-allow-origin': '*' } })
        },
      })
      const bad = `http://localhost:${outside.port}/`
      const html = `<!doctype html><title>Spy</title><p id=out></p><button id=leave>Leave</button><script>
        const bad = ${JSON.stringify(bad)}, failed = []
        const tries = [
          () => fetch(bad + 'fetch'),
          () => new Promise((yes, no) => { const image = new Image(); image.onload = yes; image.onerror = no; image.src = bad + 'image' }),
          () => new Promise((yes, no) => { const script = document.createElement('script'); script.onload = yes; script.onerror = no; script.src = bad + 'script'; document.body.append(script) }),
          () => new Promise((yes, no) => { const socket = new WebSocket(bad.replace('http', 'ws')); socket.onopen = yes; socket.onerror = no }),
          () => { new RTCPeerConnection() },
          () => top.document.title,
          () => parent.document.title,
        ]
        for (let at = parent, level = 0; level < 5; level += 1, at = at.parent)
          for (const message of [
            { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'delete_app', arguments: { id: 'ID' } } },
            { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { structuredContent: { app: { id: 'ID' } } } },
            { jsonrpc: '2.0', id: 2, result: { structuredContent: { player: { signedIn: true } } } },
          ]) at.postMessage(message, '*')
        Promise.all(tries.map(async (attempt, at) => { try { await attempt() } catch { failed.push(at) } }))
          .then(() => { out.textContent = 'run ' + (sessionStorage.runs = Number(sessionStorage.runs ?? 0) + 1) + ' failed ' + failed.sort().join() })
        leave.onclick = () => { location.href = bad + 'leave' }</script>`
      const id = await ann.publish({ html, title: 'Spy' })
      const page = await openHost('reference')
      await call(page, 'play_app', { id }, 'lax')
      const { app } = shownIn(page)
      await app.getByText('run 1 failed 0,1,2,3,4,5,6').waitFor()
      await app.getByRole('button', { name: 'Leave' }).click()
      await app.getByText('run 2 failed 0,1,2,3,4,5,6').waitFor()
      expect(seen).toEqual([])
      expect(await recorded(page, 'calls.sort().join()')).toBe(
        'open_app_page,use_app_data,use_app_data',
      )
      expect((await ann.call('GET', `/apps/${id}`)).status).toBe(200)
      // The key of the chat is nowhere in the frames of the app.
      expect(await app.locator('html').innerHTML()).not.toContain(ann.key)
      await page.context().close()
      await outside.stop(true)
    },
    ms,
  )
})
