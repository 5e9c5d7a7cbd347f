/** Ten tasks of a newcomer, each in the steps that docs/newcomer.md counts. */
import { afterAll, beforeAll, describe, expect, mock, spyOn, test } from 'bun:test'
import { join } from 'node:path'

import type { Browser, Locator, Page } from 'playwright-core'

import * as modelList from '../../gateway/providers/model-list.ts'
import { providers } from '../../kernel/config/providers.ts'
import { becomeOperator, operatorLink } from '../../people/people.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 60_000
const docs = join(import.meta.dir, '../../../docs/newcomer.md')

/** A step is a press, or a field that is filled. */
class Walk {
  steps = 0

  constructor(readonly page: Page) {}

  async press(target: Locator): Promise<void> {
    this.steps += 1
    await target.first().click()
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.steps += 1
    await target.fill(text)
  }

  async choose(target: Locator, option: string): Promise<void> {
    this.steps += 1
    await target.selectOption(option)
  }
}

/** The paths that were called at the provider. */
const called: string[] = []

/** A model provider with one model, and a server of models on this machine. */
const provider = Bun.serve({
  port: 0,
  fetch: ({ url, headers }) => {
    if (headers.get('authorization')?.includes('bad')) {
      return Response.json({ error: { message: 'Incorrect API key.' } }, { status: 401 })
    }
    called.push(new URL(url).pathname)
    return Response.json({
      object: 'list',
      data: [{ id: 'gpt-5.4-nano', object: 'model' }],
      id: 'chat-1',
      model: 'gpt-5.4-nano',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  },
})

describe.skipIf(findBrowser('chromium') === undefined)('a newcomer in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let page: Page
  let id = ''
  let mine = ''
  let bad = ''
  const usual = providers.openai.baseUrl

  beforeAll(async () => {
    const address = `http://127.0.0.1:${provider.port}`
    Reflect.set(providers.openai, 'baseUrl', address)
    const { findLocalServers } = modelList
    spyOn(modelList, 'findLocalServers').mockImplementation(() =>
      findLocalServers([
        { name: 'Ollama', setting: 'OLLAMA_HOST', url: address },
        { name: 'LM Studio', setting: 'LMSTUDIO_URL', url: address },
        { name: 'llama.cpp', setting: 'LLAMACPP_URL', url: address },
      ]),
    )
    ;({ t, browser, origin, close } = await openServedSession())
    const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
    const main = '<main>Lights</main>'
    id = await ann.publish({ title: 'Harbour Lights', kind: 'game', store: true, html: main })
    bad = await ann.publish({ title: 'Copycat', store: true })
    await t.call('POST', '/report', { body: { item: bad, reason: 'copy' } })
    const olga = await createTestPerson(t, 'olga')
    const operatorCode = (await operatorLink(t.ctx))?.split('/').at(-1) ?? ''
    await becomeOperator(t.ctx, olga.person, operatorCode)
    await olga.call('POST', '/claim', {
      code: (await ben.call('POST', '/me/claim')).text('claim.code'),
    })
    mine = await ben.publish({ title: 'Tides', html: '<p>Tides</p>' })
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
    const [name = '', value = ''] = (await createTestSession(t, olga)).cookie.split('=')
    await context.addCookies([{ name, value, url: origin }])
    page = await context.newPage()
    page.setDefaultTimeout(15_000)
  }, ms)
  afterAll(async () => {
    Reflect.set(providers.openai, 'baseUrl', usual)
    mock.restore()
    await close()
    await provider.stop(true)
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const link = (name: string | RegExp) => page.getByRole('link', { name })
  const app = () => page.frameLocator('iframe')

  /** Each task: where it starts, and the walk to the place where it is done. */
  const tasks: Record<string, [start: () => string, walk: (walk: Walk) => Promise<void>]> = {
    'Play something': [
      () => '/',
      async (walk) => {
        await walk.press(page.locator(`.pier [data-id="${id}"] a`))
        await app().getByText('Lights').waitFor()
      },
    ],
    'Make something from a sentence': [
      () => '/new',
      async (walk) => {
        await walk.fill(page.getByLabel('What should it do?'), 'snake in neon')
        await walk.press(button(/^Build for/))
        await page.waitForURL(/\/studio\/[\w-]{12}/)
      },
    ],
    'Share with a button': [
      () => `/explore/${id}`,
      async (walk) => {
        await walk.press(button('Share'))
        await walk.press(button('Copy link'))
        await button('Copied').waitFor()
      },
    ],
    'Remix something free': [
      () => `/explore/${id}`,
      async (walk) => {
        await walk.press(button('Remix'))
        await page.getByText('This copy is yours.').waitFor()
      },
    ],
    'Rate what one played': [
      () => `/explore/${id}`,
      async (walk) => {
        await walk.press(page.getByRole('radio', { name: '5 of 5' }))
        await page.getByRole('heading', { name: 'Your review' }).waitFor()
      },
    ],
    'Find the maker': [
      () => `/explore/${id}`,
      async (walk) => {
        await walk.press(link('@ann'))
        await page.getByRole('heading', { name: '@ann' }).waitFor()
      },
    ],
    'Earn with it': [
      () => `/studio/${mine}/listing`,
      async (walk) => {
        await walk.choose(page.getByLabel('Who can remix'), 'price')
        await walk.fill(page.getByLabel(/^Remix price|^Price/), '20')
        await walk.press(button('Save'))
        await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
      },
    ],
    'Add a model': [
      () => '/console/providers',
      async (walk) => {
        await walk.fill(page.getByLabel(/key/i).first(), `sk-${'a'.repeat(40)}`)
        await walk.press(button('Test and save'))
        await page.getByText('OpenAI answered.').waitFor()
      },
    ],
    'Take something down': [
      () => '/console/queue',
      async (walk) => {
        await walk.fill(page.getByLabel('Reason for Copycat'), 'It is a copy.')
        await walk.press(button('Take down'))
        await page
          .getByText(/taken down/)
          .first()
          .waitFor()
      },
    ],
    'Connect an agent': [
      () => '/',
      async (walk) => {
        await walk.press(button('Copy: Prompt for your agent'))
        await button('Copy: Prompt for your agent')
          .filter({ hasText: /Copied|Selected/ })
          .waitFor()
      },
    ],
  }

  test(
    'does each task in the steps that the docs count',
    async () => {
      const counted: [string, number][] = []
      for (const [name, [start, walk]] of Object.entries(tasks)) {
        await page.goto(origin + start())
        const steps = new Walk(page)
        await walk(steps)
        counted.push([name, steps.steps])
      }
      const rows = [...(await Bun.file(docs).text()).matchAll(/^\| ([A-Z][^|]+) \| (\d+) \|(.*)/gm)]
      expect(counted).toEqual(rows.map(([, name = '', steps]) => [name, Number(steps)]))
      // No other service needs fewer.
      for (const [, name, steps, others = ''] of rows) {
        const fewest = Math.min(...(others.match(/\d+/g) ?? []).map(Number))
        expect([name, Number(steps) <= fewest]).toEqual([name, true])
      }
    },
    ms,
  )

  test(
    'tests a key by one call, keeps it sealed, and prices its models from the catalog',
    async () => {
      expect(called.filter((path) => path.endsWith('/chat/completions'))).toHaveLength(1)
      expect(t.ctx.settings.find('OPENAI_API_KEY')?.value).toStartWith('sealed:')
      await page.goto(`${origin}/catalogue?q=gpt-5.4-nano`)
      const row = page.getByRole('row').filter({ hasText: 'openai/gpt-5.4-nano' })
      expect(await row.first().innerText()).toMatch(/\$0\.\d+/)
      await page.goto(`${origin}/console/providers`)
      await page.getByLabel('API key').fill('sk-bad-0123456789')
      await button('Test and save').click()
      expect(await page.getByRole('alert').innerText()).toBe(
        'OpenAI rejected this key: Incorrect API key. Copy the whole key from your account there. Nothing was stored.',
      )
    },
    ms,
  )

  test(
    'finds the servers of models on this machine, and uses one by a press',
    async () => {
      await page.goto(`${origin}/console/providers`)
      const found = page.getByRole('region', { name: 'On this machine' })
      for (const name of ['Ollama', 'LM Studio', 'llama.cpp']) {
        await found.getByRole('cell', { name, exact: true }).waitFor()
      }
      await button('Use it LM Studio').click()
      await found.getByRole('row').filter({ hasText: 'LM Studio' }).getByText('in use').waitFor()
      expect(t.ctx.catalog.list().some(({ id }) => id.startsWith('lmstudio/'))).toBe(true)
    },
    ms,
  )

  test(
    'finds where the operator adds a model and turns on payments',
    async () => {
      await page.goto(`${origin}/new`)
      await link('Add a model').click()
      await page.getByRole('heading', { name: 'Add a provider' }).waitFor()
      await page.goto(`${origin}/wallet`)
      await link('Turn on payments').click()
      await page.waitForURL(`${origin}/console/payments`)
      await page.getByText('To turn payments on, set one of these').waitFor()
    },
    ms,
  )
})
