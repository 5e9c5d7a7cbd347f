import { afterAll, afterEach, expect, test } from 'bun:test'

import { findLocalServers } from '../../gateway/providers/model-list.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import { providers } from '../../kernel/config/providers.ts'
import { Sealing } from '../../kernel/state/live-settings.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  type FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { createContext } from '../context.ts'

const goodKey = 'sk-good-0123456789'
const poorKey = 'sk-poor-0123456789'
const calls: { model: string; max: unknown }[] = []

const errors: Record<string, [status: number, message: string]> = {
  [poorKey]: [429, 'You exceeded your current quota.'],
}

/** An OpenAI that knows two keys, one of them without credit. */
const openai = Bun.serve({
  port: 0,
  async fetch(request) {
    const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    if (key !== goodKey) {
      const [status, message] = errors[key] ?? [401, 'Incorrect API key provided.']
      return Response.json({ error: { message } }, { status })
    }
    if (request.url.endsWith('/models')) return Response.json({ data: [{ id: 'local-small' }] })
    const body = Object(await request.json())
    calls.push({ model: String(body.model), max: body.max_completion_tokens })
    return Response.json({
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  },
})
const baseUrl = `http://127.0.0.1:${openai.port}`
const usual = providers.openai.baseUrl
const start = startForEachTest()
afterEach(() => void Reflect.set(providers.openai, 'baseUrl', usual))
afterAll(() => openai.stop(true))

async function open(settings = {}): Promise<{ t: TestServer; olga: FormBrowser }> {
  Reflect.set(providers.openai, 'baseUrl', baseUrl)
  const t = await start(settings)
  return { t, olga: await signInOperator(t) }
}

const place = '/console/providers'
const add = (browser: FormBrowser, key: string, provider = 'openai') =>
  browser.fill(place, place, { provider, key })
/** Submits a form of the page that it may not show, with the token of one that it does. */
async function post(browser: FormBrowser, name: string, values: Record<string, string>) {
  const { token = '' } = hiddenFields(await browser.read(place), place)
  return browser.send(`${place}/${name}`, { token, ...values })
}
const storedValue = ({ ctx }: TestServer) => ctx.settings.find('OPENAI_API_KEY')?.value

test('a pasted key is tested by one cheap call, and its models appear at once', async () => {
  const { t, olga } = await open()
  calls.length = 0
  const done = await add(olga, ` ${goodKey} `)
  expect(done.headers.get('location')).toMatch(/^\/console\/providers\?added=openai&models=\d+$/)
  expect(calls).toEqual([{ model: expect.stringMatching(/^gpt/), max: 16 }])
  const page = await olga.show(done.headers.get('location') ?? '')
  expect(page.text).toContain('OpenAI answered.')
  expect(page.byRole('main').text).not.toContain(goodKey)
  expect(t.ctx.upstreams.names).toContain('openai')
  expect(t.ctx.catalog.list().some(({ id }) => id.startsWith('openai/gpt'))).toBe(true)
  expect((await olga.show('/catalogue')).text).toContain('openai/gpt')
  // The home page promises a model only after one is chosen.
  const builder = t.ctx.catalog.list(['chat']).find(({ id }) => id.startsWith('openai/gpt'))?.id
  await olga.fill(place, `${place}/builder`, { value: builder ?? '' })
  expect((await olga.show('/')).names('heading')).toContain(
    'Make an app or a game by describing it',
  )
})

test('stores the key encrypted, for the other servers too, and removes it', async () => {
  const { t, olga } = await open()
  await add(olga, goodKey)
  expect(storedValue(t)).toStartWith('sealed:')
  expect(storedValue(t)).not.toContain(goodKey)
  expect(await olga.read('/console/audit')).not.toContain(goodKey)
  const config = loadConfig({ DATA_DIR: t.ctx.config.dataDir, OLLAMA_HOST: 'off' }, {})
  const other = await createContext(config, 'http://localhost:3000', { db: t.ctx.db })
  expect([other.config.openaiApiKey, other.upstreams.names]).toEqual([goodKey, ['openai']])
  // A server with another key of the settings starts without it, and says so.
  const strange = loadConfig(
    { DATA_DIR: t.ctx.config.dataDir, OLLAMA_HOST: 'off', SETTINGS_KEY: 'x'.repeat(32) },
    {},
  )
  const third = await createContext(strange, 'http://localhost:3000', {
    db: t.ctx.db,
    log: t.ctx.log,
  })
  expect([third.config.openaiApiKey, third.upstreams.names]).toEqual(['', ['demo']])
  expect(t.lines.some(({ why }) => String(why).includes('another SETTINGS_KEY'))).toBe(true)

  await olga.fill(place, `${place}/remove`, { setting: 'OPENAI_API_KEY' })
  expect([t.ctx.config.openaiApiKey, t.ctx.upstreams.names]).toEqual(['', ['demo']])
  await other.settings.load()
  expect(other.upstreams.names).toEqual(['demo'])
  // Undo brings back the key, not its encryption.
  const setting = '/console/settings/OPENAI_API_KEY'
  await olga.fill(setting, setting, { act: 'undo' })
  expect(t.ctx.config.openaiApiKey).toBe(goodKey)
})

test('says whose side a failed test is on, and stores nothing', async () => {
  const { t, olga } = await open()
  const before = await t.snapshot()
  const bad = await add(olga, 'sk-wrong-0123456789')
  expect([bad.status, alertText(bad)]).toEqual([
    400,
    'OpenAI rejected this key: Incorrect API key provided. Copy the whole key from your account there. Nothing was stored.',
  ])
  expect(alertText(await add(olga, poorKey))).toBe(
    'OpenAI knows this key, but refused a call: You exceeded your current quota. Check the credit and the limits of your account there. Nothing was stored.',
  )
  Reflect.set(providers.openai, 'baseUrl', 'http://127.0.0.1:1')
  expect(alertText(await add(olga, goodKey))).toStartWith(
    'OpenAI could not be called from this server',
  )
  expect((await add(olga, 'a b c d e f g')).status).toBe(400)
  expect((await add(olga, goodKey, 'nobody')).status).toBe(404)
  expect((await post(olga, 'remove', { setting: 'PORT' })).status).toBe(400)
  const wild = { setting: 'APP_URL', url: 'http://evil.example' }
  expect((await post(olga, 'local', wild)).status).toBe(400)
  expect([await t.snapshot(), storedValue(t)]).toEqual([before, undefined])
  expect([t.ctx.upstreams.names, t.ctx.catalog.isDemo]).toEqual([['demo'], true])
})

test('only the operator adds providers, and the environment wins', async () => {
  const { t, olga } = await open({ OPENAI_API_KEY: 'sk-from-the-flag' })
  const bea = await signUp(t, 'bea')
  const page = await bea.open(place)
  expect(page.status).toBe(404)
  const body = { key: goodKey }
  const { status } = await t.call('PUT', '/operator/providers/openai', { body })
  expect(status).toBe(401)
  const shown = await olga.show(place)
  expect(shown.text).toContain('by a flag')
  expect(shown.names('button')).not.toContain('Remove key OpenAI')
  expect(alertText(await add(olga, goodKey))).toContain('which wins')
  expect(t.ctx.config.openaiApiKey).toBe('sk-from-the-flag')
})

test('finds servers of this machine that respond with models', async () => {
  const place = (setting: 'LMSTUDIO_URL' | 'VLLM_URL', url: string) => ({
    name: setting,
    setting,
    url,
  })
  const lists = Bun.serve({ port: 0, fetch: () => Response.json({ data: [{ id: 'small' }] }) })
  const other = Bun.serve({ port: 0, fetch: () => new Response('<h1>Not a model') })
  const url = `http://127.0.0.1:${lists.port}`
  const found = await findLocalServers([
    place('LMSTUDIO_URL', url),
    place('VLLM_URL', `http://127.0.0.1:${other.port}`),
    place('VLLM_URL', 'http://127.0.0.1:1'),
  ])
  expect(found).toEqual([{ ...place('LMSTUDIO_URL', url), models: ['small'] }])
  const { t, olga } = await open()
  await post(olga, 'local', { setting: 'LMSTUDIO_URL', url })
  expect(t.ctx.catalog.list().map(({ id }) => id)).toContain('lmstudio/small')
  await lists.stop(true)
  await other.stop(true)
})

test('a sealed value opens only under its name and with its key', async () => {
  const sealing = new Sealing('a')
  const sealed = await sealing.seal('OPENAI_API_KEY', goodKey)
  expect(await sealing.open('OPENAI_API_KEY', sealed)).toBe(goodKey)
  expect(await sealing.seal('OPENAI_API_KEY', goodKey)).not.toBe(sealed)
  expect(await sealing.open('GROQ_API_KEY', sealed)).toBeUndefined()
  expect(await new Sealing('b').open('OPENAI_API_KEY', sealed)).toBeUndefined()
  expect(await sealing.open('OPENAI_API_KEY', `${sealed.slice(0, -2)}AA`)).toBeUndefined()
  expect(await sealing.open('HOME_TITLE', 'plain')).toBe('plain')
})
