/** The console in a browser. Its tests share one server, whose rows and charts they follow. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { eq } from 'drizzle-orm'
import type { Browser, BrowserContext, Page } from 'playwright-core'

import { createReport } from '../../apps/moderation/reports.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { thisProcess } from '../../kernel/db/replicas/presence.ts'
import { observedWindows } from '../../kernel/state/tables.ts'
import { day, hour, minute } from '../../kernel/time.ts'
import { closeContext, createContext } from '../../server/context.ts'
import { admin } from '../../server/operator/admin.ts'
import { recordHours, recordMetrics } from '../../server/operator/metrics-history.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser, findInBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { findSmallTargets, touchPhone } from '../../testing/browsers/targets.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import { signInOperator, signUp } from '../../testing/fixtures/form-browser.ts'
import { createTestSession, getPerson } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { isThorough } from '../../testing/thorough.ts'

const ms = 300_000

/** The space before each text of a record: from the edge of the row, or from the text before it. */
const distancesInRecords = `[...document.querySelectorAll('.stacked tr')].flatMap((row) => {
  const isRtl = document.dir === 'rtl'
  const boxOf = (element) => {
    const { left, right, top, width } = element.getBoundingClientRect()
    return { top, width, start: isRtl ? -right : left, end: isRtl ? -left : right }
  }
  const all = [...row.querySelectorAll('.detail')].map(boxOf).filter(({ width }) => width > 0)
  return all.map(({ start, top }, at) => {
    const before = all[at - 1]
    return start - (before && Math.abs(before.top - top) < 8 ? before.end : boxOf(row).start)
  })
})`

describe.skipIf(findBrowser('chromium') === undefined)('the console in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let cookie = ''
  let ann: TestAgent
  const folder = mkdtempSync(join(tmpdir(), 'berth-console-'))

  beforeAll(async () => {
    // Backups need a SQLite file.
    const db = dialect === 'sqlite' ? { db: await openEngine({ dataDir: folder }) } : {}
    t = await startTestServer({}, db)
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    cookie = (await signInOperator(t)).cookie() ?? ''
    ann = await t.agent('ann')
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
  const link = (page: Page, name: string) => page.getByRole('link', { name }).first()

  async function signedIn(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<BrowserContext> {
    const context = await browser.newContext(options)
    await context.addCookies([{ name: 'berth', value: cookie, url: origin }])
    return context
  }

  test(
    'has its width before its content arrives, so that nothing moves',
    async () => {
      const context = await signedIn({ viewport: { width: 1_280, height: 900 } })
      const page = await context.newPage()
      await page.goto(`${origin}/console`)
      const header = page.locator('header.top')
      const whole = await header.boundingBox()
      await page.locator('main').evaluate((main) => Reflect.get(Object(main), 'remove').call(main))
      expect(await header.boundingBox()).toEqual(whole)
      await context.close()
    },
    ms,
  )

  test(
    'shows rows as records with a menu on a phone, without JavaScript',
    async () => {
      const context = await signedIn({ ...touchPhone, javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(`${origin}/console/models`)
      const record = page.locator('.stacked tr', { hasText: 'demo/chat' })
      const middleOf = async (selector: string): Promise<number> => {
        const box = await record.locator(selector).first().boundingBox()
        return box ? box.y + box.height / 2 : Number.NaN
      }
      const title = await middleOf('.title')
      expect(Math.abs((await middleOf('.row-menu')) - title)).toBeLessThan(8)
      expect(await middleOf('.detail:not(.none)')).toBeGreaterThan(title + 10)
      // The price of the upstream and the margin are usual here.
      expect(await record.locator('.none:visible').count()).toBe(0)
      const turn = (to: string) => page.getByRole('button', { name: `Turn ${to} demo/chat` })
      for (const to of ['off', 'on']) {
        expect(await turn(to).isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Actions for demo/chat' }).click()
        await turn(to).click()
      }
      await page.goto(`${origin}/console/clients`)
      const own = page.locator('tr').filter({ has: page.getByText('you', { exact: true }) })
      expect(await own.count()).toBeGreaterThan(0)
      expect(await own.locator('.row-menu').count()).toBe(0)
      await page.goto(`${origin}/console/requests`)
      expect(await page.locator('.badge', { hasText: /^2/ }).count()).toBe(0)
      await context.close()
    },
    ms,
  )

  test(
    'separates the texts of a record by dots that begin no line, without gaps',
    async () => {
      for (const [locale, width] of [
        ['en', 390],
        ['en', 320],
        ['ar', 390],
      ] as const) {
        const context = await signedIn({ locale, viewport: { width, height: 844 } })
        const page = await context.newPage()
        for (const path of ['/catalogue', '/console/models', '/console/alerts', '/console/audit']) {
          await page.goto(`${origin}${path}`)
          const places = await page.evaluate<number[]>(distancesInRecords)
          expect([path, width, places.length > 3]).toEqual([path, width, true])
          // At the edge, where the dot is cut off, or behind the gap of the text before.
          const odd = places.filter((distance) => distance > 0.5 && Math.abs(distance - 18) > 0.5)
          expect([path, width, locale, odd]).toEqual([path, width, locale, []])
        }
        await context.close()
      }
    },
    ms,
  )

  // Without scripts the console is forms, which tests over HTTP send.
  for (const javaScriptEnabled of isThorough ? [true, false] : [true]) {
    const how = javaScriptEnabled ? 'with' : 'without'
    test(
      `reviews a report, takes down, appeals and restores, ${how} JavaScript`,
      async () => {
        const html = `<!doctype html><title>${how}</title><h1>Harbour of ${how}</h1>`
        const id = await ann.publish({ html, title: `Boat ${how}` })
        const guest = await (await browser.newContext({ javaScriptEnabled })).newPage()
        await guest.goto(`${origin}/report/${id}`)
        await guest.selectOption('select', 'copy')
        await guest.fill('textarea', 'It is mine.')
        await guest.click('main form button')

        const context = await signedIn({ javaScriptEnabled })
        const page = await context.newPage()
        await page.goto(`${origin}/account`)
        await link(page, 'console').click()
        await link(page, 'Moderation').click()
        await link(page, `Boat ${how}`).click()
        expect(await page.textContent('main')).toContain('It is mine.')
        const [preview] = await Promise.all([
          context.waitForEvent('page'),
          link(page, 'Open in sandbox').click(),
        ])
        await preview.waitForLoadState()
        expect(await preview.title()).toContain('(version 1)')
        if (javaScriptEnabled) {
          // A frame that navigates has no content yet.
          const contents = () => preview.frames().map((frame) => frame.content().catch(() => ''))
          const inside = async () => (await Promise.all(contents())).join('')
          const isShown = async () => (await inside()).includes('Harbour of with') || undefined
          expect(await findInBrowser(isShown, ms)).toBe(true)
        }
        await preview.close()

        // The press asks for the reason, also without JavaScript.
        await button(page, 'Take down').click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Reason').fill('It is a copy.')
        await dialog.getByRole('button', { name: 'Take down' }).click()
        expect(await page.textContent('.fact-lines')).toContain('taken down')
        await guest.goto(`${origin}/a/${id}`)
        expect(await guest.textContent('h1')).toBe('Taken down')

        await ann.call('POST', `/apps/${id}/appeal`, { text: 'I drew it.' })
        await link(page, 'Moderation').click()
        await link(page, `Boat ${how}`).click()
        await page.getByLabel('Reply').fill('So you did.')
        await button(page, 'Grant appeal').click()
        expect(await page.textContent('.fact-lines')).toContain('live')
        await link(page, 'Audit log').click()
        expect(await page.textContent('tbody tr')).toContain('olga')
        t.clock.advance(minute)
        await guest.goto(`${origin}/a/${id}`)
        expect(await guest.title()).toContain(`Boat ${how}`)
        await Promise.all([context.close(), guest.context().close()])
      },
      ms,
    )
  }

  test.skipIf(dialect === 'postgres')(
    'creates, downloads and verifies a backup with live progress',
    async () => {
      const context = await signedIn()
      const page = await context.newPage()
      await page.goto(`${origin}/console/backups`)
      await button(page, 'Create backup').click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        link(page, 'Download').click(),
      ])
      expect(download.suggestedFilename()).toMatch(/^berth-[\dTZ-]+\.tar$/)
      expect(Bun.file(await download.path()).size).toBeGreaterThan(10_000)
      await button(page, 'Verify').click()
      await page.getByText('The backup is valid').waitFor()
      await context.close()
    },
    ms,
  )

  test(
    'refreshes the charts and grants credits after confirmation',
    async () => {
      const context = await signedIn()
      const page = await context.newPage()
      await recordMetrics(t.ctx)
      for (let at = 0; at < 30; at += 1) await ann.call('GET', '/me')
      await page.goto(`${origin}/console`)
      const chart = page.locator('time-chart[data-title="Requests"]')
      await chart.locator('.u-over').hover()
      await chart
        .locator('.u-legend')
        .getByText(/[\d.]+\/s/)
        .waitFor()
      await link(page, 'Requests').click()
      await ann.call('GET', '/me/ledger')
      await page.getByText('GET /api/me/ledger').first().waitFor()
      await link(page, 'Grants').click()
      await page.getByLabel('Recipient').fill('@ann')
      await page.getByLabel('USD').fill('2.5')
      await button(page, 'Continue').click()
      expect(await page.textContent('main')).toContain('2,900 credits')
      await button(page, 'Grant 2,500 credits').click()
      expect(await page.textContent('[role=status]')).toMatch(
        /New balance of @ann:\s+2,900 credits\./,
      )
      await context.close()
    },
    ms,
  )

  test(
    'decides the cases of the queue from the keyboard, and undoes a takedown',
    async () => {
      const ids = [
        await ann.publish({
          title: 'Keys one',
          html: '<h1>Keys</h1><script src="https://cdn.example.com/a.js"></script>',
        }),
        await ann.publish({ title: 'Keys two' }),
      ]
      for (const id of ids) {
        const report = { reason: 'other', text: 'Look' } as const
        await createReport(t.ctx, id, report, '192.0.2.78')
        t.clock.advance(minute)
      }
      await fakeCaptures(t)()
      const context = await signedIn()
      const page = await context.newPage()
      await page.goto(`${origin}/console/queue`)
      // The page is beside its report, and runs only after a press.
      expect(await page.locator('.case iframe').count()).toBe(0)
      const first = page.locator('.case').first()
      await first.locator('.poster .cover img').waitFor()
      await first.getByText(/ in line 1: /).waitFor()
      await first.getByRole('link', { name: 'Show its page in a safe frame' }).click()
      await first.locator('iframe').waitFor()
      const shell = page.frameLocator('.case iframe')
      await shell.frameLocator('iframe').locator('body').waitFor()
      await first.getByRole('button', { name: 'Stop' }).click()
      await page.locator('h1').click()
      await page.keyboard.press('a')
      await page.keyboard.press('j')
      await page.keyboard.press('t')
      await page.keyboard.press('Enter')
      expect(await page.textContent('.case .alert')).toContain('Enter a reason')
      await page.keyboard.type('It is spam.')
      await page.keyboard.press('Enter')
      await page.getByText('was taken down').waitFor()
      expect((await ann.call('GET', `/apps/${ids[0]}`)).code).toBe('taken_down')
      await button(page, 'Undo').click()
      await page.getByText('is live again').waitFor()
      expect((await ann.call('GET', `/apps/${ids[0]}`)).status).toBe(200)
      await page.keyboard.press('j')
      await page.keyboard.press('a')
      await page.getByText('has no open reports now').waitFor()
      await page.getByText('All caught up').waitFor()
      await context.close()
    },
    ms,
  )

  const paths = async (): Promise<string[]> => {
    const id = await ann.publish({
      title: 'A title that is as long as a title may well become here',
    })
    await createReport(t.ctx, id, { reason: 'phishing', text: 'Look', contact: 'me' }, '192.0.2.77')
    await signUp(t, 'cyrus')
    await admin(t.ctx, ['suspend', 'cyrus', 'w'.repeat(200)])
    const lists = [
      '',
      'requests',
      'latency',
      'errors',
      'queue',
      'agents',
      'agents?q=zeppelin',
      'people',
      'grants',
      'upstreams',
    ]
    const more = [
      'grants?to=@ann&usd=5',
      'grants?to=nobody&usd=5',
      'models',
      'backups',
      'audit',
      'libraries',
      'alerts',
      'groups',
      'clients',
      'spend',
      'keys',
      'payments',
      'providers',
    ]
    const rest = [
      'settings',
      'settings/MARGIN_PERCENT',
      `apps/${id}`,
      'agents/ann',
      'people/cyrus',
      'audit?q=zeppelin',
    ]
    return [...lists, ...more, ...rest].map((path) => `/console/${path}`.replace(/\/$/, ''))
  }

  test(
    'passes axe-core, does not scroll sideways and loads no other host',
    async () => {
      const context = await signedIn()
      const page = await context.newPage()
      const far: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(origin)) far.push(request.url())
      })
      for (const path of await paths()) {
        await page.goto(origin + path)
        expect([path, ...(await findViolations(page)), ...far]).toEqual([path])
      }
      await context.close()
    },
    ms,
  )

  test(
    'has first on a phone what one watches, and what one presses has 44 pixels there',
    async () => {
      await recordMetrics(t.ctx)
      const context = await signedIn(touchPhone)
      const page = await context.newPage()
      const found: string[] = []
      for (const path of ['', '/queue', '/requests', '/models', '/settings', '/keys']) {
        await page.goto(`${origin}/console${path}`)
        found.push(...(await findSmallTargets(page)).map((target) => `${path}: ${target}`))
      }
      expect(found).toEqual([])
      await page.getByRole('button', { name: 'Console' }).click()
      await page.getByRole('link', { name: 'Overview' }).click()
      const jobs = page.getByRole('heading', { name: 'Jobs', exact: true })
      expect(await jobs.isVisible()).toBe(false)
      await page.getByText('Jobs, disk, lag and upstreams').click()
      await jobs.waitFor()
      await context.close()
    },
    ms,
  )

  /** Writes requests as another process of the database does, which then ends. */
  async function serveElsewhere(process: string, requests: number): Promise<void> {
    const db = Object.create(t.ctx.db, { close: { value: async () => undefined } })
    const shared = { db, clock: t.clock, log: t.ctx.log }
    const other = await createContext(t.ctx.config, 'http://localhost:3001', shared)
    for (let at = 0; at < requests; at += 1) {
      other.state.observations.addRequest('api', true, {
        id: `${process}-${at}`,
        at: t.clock.now(),
        method: 'GET',
        route: '/api/me',
        status: 200,
        ms: 12,
        key: undefined,
        account: undefined,
        address: '198.51.100.9',
        cause: undefined,
      })
    }
    await recordMetrics(other)
    const isOwn = eq(observedWindows.process, thisProcess)
    await t.ctx.db.tx((tx) => tx.update(observedWindows).set({ process }).where(isOwn))
    await closeContext(other)
  }

  /** Returns the requests that the chart of the overview shows, and the span of its times. */
  async function requestsShown(page: Page, range: string): Promise<[rates: number[], ms: number]> {
    await page.goto(`${origin}/console?range=${range}`)
    const rows = await page.evaluate<[string, number][]>(`[...document.querySelector(
      'time-chart[data-title="Requests"]').querySelectorAll('details tbody tr')].map((row) =>
      [row.querySelector('time').dateTime, Number(row.querySelector('td').dataset.value ?? 0)])`)
    const times = rows.map(([time]) => Date.parse(time))
    return [rows.map(([, rate]) => rate), Math.max(...times) - Math.min(...times)]
  }

  test(
    'charts a day and 90 days of all servers, also of processes that have ended',
    async () => {
      // Twice 2,400 requests in one of the spans of 20 minutes.
      await serveElsewhere('ended', 2_400)
      await serveElsewhere('beside', 2_400)
      t.clock.advance(5 * hour)
      const session = async (): Promise<BrowserContext> => {
        const context = await browser.newContext()
        const [name = '', value = ''] = (
          await createTestSession(t, { person: await getPerson(t, 'olga') })
        ).cookie.split('=')
        await context.addCookies([{ name, value, url: origin }])
        return context
      }
      const today = await session()
      const [rates, span] = await requestsShown(await today.newPage(), '24h')
      expect(Math.max(...rates)).toBeGreaterThanOrEqual(4)
      expect(Math.max(...rates)).toBeLessThan(5)
      expect(span).toBeGreaterThan(4 * hour)
      await today.close()

      await recordHours(t.ctx)
      t.clock.advance(40 * day)
      const later = await session()
      const [hours, whole] = await requestsShown(await later.newPage(), '90d')
      expect(Math.max(...hours)).toBeGreaterThan(0)
      expect(whole).toBeGreaterThan(39 * day)
      await later.close()
    },
    ms,
  )
})
