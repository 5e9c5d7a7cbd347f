import { expect, test } from 'bun:test'

import { ConfigError, loadConfig } from '../../kernel/config/load.ts'
import { type SettingName, SettingsSchema } from '../../kernel/config/settings.ts'
import { operatorLink } from '../../people/people.ts'
import { keysOf } from '../../site/components.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  signInOperator,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestResponse, TestServer } from '../../testing/fixtures/test-server.ts'
import { createContext } from '../context.ts'
import { changeSetting, switchModel } from '../operator/settings.ts'
import { nameSettings, settingName } from './setting-names.ts'

const start = startForEachTest()

async function open(settings: Partial<Record<SettingName, string>> = {}) {
  const t = await start(settings)
  return { t, olga: await signInOperator(t) }
}

const set = (browser: FormBrowser, name: string, value: string, act = 'set') =>
  browser.fill(`/console/settings/${name}`, `/console/settings/${name}`, { value, act })

const auditOf = (browser: FormBrowser): Promise<string> => browser.read('/console/audit')

test('changes a limit at once, with an audit entry, and brings it back', async () => {
  const { t, olga } = await open({ MARGIN_PERCENT: '5' })
  const path = '/console/settings/MARGIN_PERCENT'
  const other = '/console/settings/HOME_TITLE'
  const { token = '' } = hiddenFields(await olga.read(other), other)
  const saved = await olga.send(path, { token, value: '7', act: 'set' })
  expect(saved.headers.get('location')).toBeNull()
  expect(alertText(saved)).toBe(
    'MARGIN_PERCENT is set by a flag, which wins. Change it there and restart Berth.',
  )
  const done = await set(olga, 'DAILY_CAP_CREDITS', '250')
  expect(done.headers.get('location')).toBe('/console/settings?changed=DAILY_CAP_CREDITS')
  const ann = await t.agent('ann')
  expect((await ann.call('GET', '/me')).body).toMatchObject({ limits: { dailyCap: 250 } })
  expect(await auditOf(olga)).toContain('empty → 250')
  const page = await olga.read('/console/settings?changed=DAILY_CAP_CREDITS')
  expect(page).toContain('Undo')
  const found = await olga.show('/console/settings?q=cap_cred')
  expect(found.hrefs).toContain('/console/settings/DAILY_CAP_CREDITS')
  expect(found.hrefs).not.toContain(other)
  await set(olga, 'DAILY_CAP_CREDITS', '', 'undo')
  const ben = await t.agent('ben')
  expect((await ben.call('GET', '/me')).body).toMatchObject({ limits: { dailyCap: null } })
  await set(olga, 'DAILY_CAP_CREDITS', '9')
  await set(olga, 'DAILY_CAP_CREDITS', '', 'reset')
  expect(t.ctx.config.dailyCapCredits).toBeNull()
})

test('has a name for people for each setting', () => {
  const names = keysOf(SettingsSchema.properties).map((name) => settingName(name))
  expect(names.filter((name) => /^[A-Z0-9]+_[A-Z0-9_]+$/.test(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

test('lists settings by subject with where they are set, or those that changed', async () => {
  const { olga } = await open({ OPERATOR_TOKEN: 'hush-hush' })
  await set(olga, 'HOME_TITLE', 'Play here')
  const cellsOf = async (path: string): Promise<string[][]> =>
    (await olga.show(path))
      .allByRole('row')
      .map((row) => row.allByRole('cell').map(({ text }) => text))
      .filter((cells) => cells.length > 0)
  const changed = await cellsOf('/console/settings?show=changed&q=o')
  expect(changed).toContainEqual([
    'Home page heading HOME_TITLE Large line at the top of the home page.',
    'Play here',
    'in the console',
    'Edit',
  ])
  expect(changed).toContainEqual([
    expect.stringContaining('Operator token'),
    '(set)',
    'by a flag',
    '',
  ])
  const all = await cellsOf('/console/settings')
  const home = all.findLast(([name]) => name?.includes('HOME_TEXT'))
  expect(home?.slice(2)).toEqual(['by default', 'Edit'])
  expect(changed.some(([name]) => name?.includes('HOME_TEXT'))).toBe(false)
  expect(all.length).toBe(Object.keys(SettingsSchema.properties).length)
  // One page has the value once, in its form, and the code after the name.
  const page = await olga.show('/console/settings/HOME_TITLE')
  expect(page.byRole('heading', 'Home page heading').text).toBe('Home page heading')
  expect(page.text.match(/Play here/g)).toBeNull()
  expect(page.byLabel(/^Value/).value).toBe('Play here')
})

test('rejects bad values with the message that a start prints, and changes nothing', async () => {
  const { t, olga } = await open()
  const before = [await t.snapshot(), t.ctx.config.rows.map(({ value }) => value)]
  for (const [name, value] of [
    ['MARGIN_PERCENT', '-1'],
    ['MARGIN_PERCENT', '1001'],
    ['KEYS_OPEN', 'maybe'],
    ['GAMES_ON', 'perhaps'],
    ['SEARCH_PRICE_USD', '$1'],
    ['SITE_NOTICE', 'x'.repeat(301)],
  ] as const) {
    const rejected = await set(olga, name, value)
    let atStart = ''
    try {
      loadConfig({}, { [name]: value })
    } catch (error) {
      if (error instanceof ConfigError) atStart = error.problems.join()
    }
    expect(atStart).not.toBe('')
    expect([name, rejected.status, alertText(rejected)]).toEqual([
      name,
      400,
      atStart.replace('(environment)', '(console)'),
    ])
  }
  for (const name of ['PORT', 'OIDC_CLIENT_SECRET', 'NO_SUCH', '__proto__']) {
    const { status, body } = await olga.open(`/console/settings/${name}`)
    expect([name, status]).toEqual([name, name === 'NO_SUCH' || name === '__proto__' ? 404 : 200])
    expect(shownPage(body).names('button')).not.toContain('Save')
  }
  const forged = await olga.send('/console/settings/MARGIN_PERCENT', { act: 'set', value: '5' })
  expect(forged.status).toBe(403)
  expect([await t.snapshot(), t.ctx.config.rows.map(({ value }) => value)]).toEqual(before)
})

test('lets other processes and the next start see a change, and the environment win', async () => {
  const { t, olga } = await open()
  await set(olga, 'MARGIN_PERCENT', '50')
  await set(olga, 'HOME_TITLE', 'Play <here>')
  const config = loadConfig({ DATA_DIR: t.ctx.config.dataDir, OLLAMA_HOST: 'off' }, {})
  const next = await createContext(config, 'http://localhost:3000', { db: t.ctx.db })
  expect([next.config.marginPercent, next.config.homeTitle]).toEqual([50, 'Play <here>'])
  await set(olga, 'MARGIN_PERCENT', '75')
  expect(next.config.marginPercent).toBe(50)
  const priceOf = () => next.catalog.find('demo/chat')?.model.price?.prompt
  const at50 = priceOf()
  await next.settings.load()
  expect(next.config.marginPercent).toBe(75)
  expect(Number(priceOf())).toBeCloseTo((Number(at50) * 1.75) / 1.5, 9)
  await changeSetting(next, { name: 'REQUESTS_PER_MINUTE', value: '2', by: 'olga' })
  expect(next.state.limits.apiRequests.max).toBe(2)
  const fixed = loadConfig(
    { DATA_DIR: t.ctx.config.dataDir, OLLAMA_HOST: 'off' },
    { MARGIN_PERCENT: '5' },
  )
  const third = await createContext(fixed, 'http://localhost:3000', { db: t.ctx.db })
  expect([third.config.marginPercent, third.config.homeTitle]).toEqual([5, 'Play <here>'])
  expect((await new FormBrowser(t).show('/')).text).toContain('Play <here>')
})

test('keeps the models that two processes turn off at once', async () => {
  const { t } = await open()
  const config = loadConfig({ DATA_DIR: t.ctx.config.dataDir, OLLAMA_HOST: 'off' }, {})
  const other = await createContext(config, 'http://localhost:3000', { db: t.ctx.db })
  await Promise.all([
    switchModel(t.ctx, { id: 'demo/chat', isOn: false, by: 'olga' }),
    switchModel(other, { id: 'demo/image', isOn: false, by: 'otto' }),
  ])
  await t.ctx.settings.load()
  expect(t.ctx.config.modelsOff.toSorted()).toEqual(['demo/chat', 'demo/image'])
  await switchModel(other, { id: 'demo/chat', isOn: true, by: 'otto' })
  await switchModel(t.ctx, { id: 'demo/image', isOn: true, by: 'olga' })
  expect(t.ctx.config.modelsOff).toEqual([])
})

test('ignores a stored value that its schema no longer accepts', async () => {
  const { t, olga } = await open()
  await set(olga, 'MARGIN_PERCENT', '50')
  const { storeSetting } = await import('../../kernel/state/live-settings.ts')
  await t.ctx.db.tx((db) =>
    storeSetting(t.ctx, db, { name: 'MARGIN_PERCENT', value: 'much', by: 'olga' }),
  )
  await t.ctx.settings.load()
  expect(t.ctx.config.marginPercent).toBe(0)
  expect(t.lines).toContainEqual(
    expect.objectContaining({
      event: 'config.warning',
      why: 'MARGIN_PERCENT (console) must be an integer (0 to 1000).',
    }),
  )
})

test('leads the operator from the first sign-in to the console', async () => {
  const t = await start()
  const link = new URL((await operatorLink(t.ctx)) ?? '').pathname
  const browser = new FormBrowser(t)
  const codes = await browser.fill(link, link, { name: 'olga', password })
  expect(shownPage(codes.body).hrefs).toContain('/console')
  expect(await browser.read('/console')).toContain('Set up this server')
})

test('ticks the checklist from the state of the server, and hides it', async () => {
  const { t, olga } = await open()
  const steps = async (): Promise<string[]> => {
    const [list] = (await olga.show('/console')).allByRole('region', /^Set up this server/)
    return list?.allByRole('listitem').map(({ text }) => text) ?? []
  }
  const before = await steps()
  expect(before).toContainEqual(expect.stringMatching(/Publish the first app \(To do\)/))
  expect(before).toContainEqual(expect.stringMatching(/Accept payments \(Optional\)/))
  expect(before).toContainEqual(expect.stringMatching(/Accept the role developer \(Optional\)/))
  await (await t.agent('ann')).publish({ store: true, title: 'Boats' })
  await set(olga, 'GATEWAY_DEVELOPER_ROLE', 'system')
  const after = await steps()
  expect(after).toContainEqual(expect.stringMatching(/Publish the first app \(Done\)/))
  expect(after).toContainEqual(expect.stringMatching(/Accept the role developer \(Done\)/))
  expect(after).toContainEqual(expect.stringMatching(/Add a provider key \(To do\)/))
  await set(olga, 'SETUP_CHECKLIST', 'off')
  expect(await steps()).toEqual([])
})

test('closes sign-up, shows a notice and turns a model off and on', async () => {
  const { t, olga } = await open()
  const values = { name: 'cyrus', password }
  await set(olga, 'SITE_NOTICE', 'Down on Sunday & back on Monday')
  await set(olga, 'SIGN_UP', 'off')
  const guest = new FormBrowser(t, '198.51.100.7')
  const closed = await guest.open('/sign-up')
  const { text } = shownPage(closed.body)
  expect(text).toContain('Sign-up is closed')
  expect(text).toContain('Down on Sunday & back on Monday')
  const tried = await guest.fill('/sign-in', '/sign-up', values)
  expect(tried.status).not.toBe(303)
  await set(olga, 'SIGN_UP', 'on')
  expect((await guest.fill('/sign-up', '/sign-up', values)).status).toBe(200)

  const turn = (way: string, model = 'demo/chat') =>
    olga.fill('/console/models', '/console/models/switch', { model, turn: way })
  expect((await turn('off', 'nobody/nothing')).status).toBe(404)
  expect((await turn('off')).status).toBe(303)
  expect((await t.request('GET', '/v1/models/demo/chat')).status).toBe(404)
  expect(await olga.read('/console/models')).toContain('Turn on demo/chat')
  expect((await turn('on')).status).toBe(303)
  expect((await t.request('GET', '/v1/models/demo/chat')).status).toBe(200)
})

const pricePath = '/console/models/price?model=demo%2Fchat'
async function readPrice(t: TestServer, id: string): Promise<unknown> {
  const { body } = await t.request('GET', `/v1/models/${id}`)
  return body && typeof body === 'object' && 'price' in body ? body.price : undefined
}
const setPrice = (browser: FormBrowser, values: Record<string, string>, act = 'set') =>
  browser.fill(pricePath, pricePath, { ...values, act })

test('sets the price of one model, which clients pay without the margin', async () => {
  const { t, olga } = await open()
  await set(olga, 'MARGIN_PERCENT', '20')
  const priceOf = async (id = 'demo/chat') => readPrice(t, id)
  const before = await priceOf()
  const others = await priceOf('demo/omni')
  for (const [values, problem] of [
    [{ prompt: 'much', completion: '2' }, 'Input must be USD with at most 9 decimals'],
    [{ prompt: '1.0000000001', completion: '2' }, 'Input must be USD with at most 9 decimals'],
    [{ prompt: '', completion: '2' }, 'needs the parts that it is charged by: Input, Output'],
  ] as const) {
    const rejected = await setPrice(olga, values)
    expect([rejected.status, alertText(rejected)]).toEqual([400, expect.stringContaining(problem)])
    // The typed values stay in the form.
    expect(shownPage(rejected.body).byLabel(/^Output/).value).toBe(values.completion)
  }
  expect(await priceOf()).toEqual(before)
  const saved = await setPrice(olga, { prompt: '1', completion: '2.5', cacheRead: '' })
  expect(saved.headers.get('location')).toBe('/console/models?q=demo%2Fchat&changed=demo%2Fchat')
  expect(await priceOf()).toMatchObject({ prompt: '0.000001', completion: '0.0000025' })
  expect(await priceOf()).not.toHaveProperty('cache_read')
  expect(await priceOf('demo/omni')).toEqual(others)
  expect((await olga.show('/console/audit')).names('row')).toContainEqual(
    expect.stringMatching(/demo\/chat.*list price → prompt=0\.000001 completion=0\.0000025/),
  )
  const { text } = await olga.show('/console/models?q=demo/chat')
  expect(text).toContain('$0.10 / 1M input tokens')
  expect(text).toContain('$1.00 / 1M input tokens')

  const { key } = await t.agent('ann')
  const body = { model: 'demo/chat', messages: [{ role: 'user', content: 'Ahoy there' }] }
  const replied = await t.request('POST', '/v1/chat/completions', { key, body })
  const numberIn = ({ body: found }: TestResponse, name: string): number =>
    Number(new RegExp(`"${name}":([\\d.e-]+)`).exec(JSON.stringify(found))?.[1])
  const history = await t.request('GET', '/queries/history', { key })
  const usd =
    (numberIn(replied, 'prompt_tokens') + numberIn(replied, 'completion_tokens') * 2.5) / 1e6
  expect(numberIn(history, 'price_in_usd')).toBeCloseTo(usd, 9)
  await setPrice(olga, {}, 'reset')
  expect(await priceOf()).toEqual(before)
  await set(olga, 'MODEL_PRICES', '', 'undo')
  expect(await priceOf()).toMatchObject({ prompt: '0.000001' })
  expect((await olga.open('/console/models/price?model=demo/none')).status).toBe(404)
})

test('leaves prices that are set elsewhere, and says where', async () => {
  const { t, olga } = await open({ MODEL_PRICES: 'demo/chat prompt=0.000003 completion=0' })
  const fixed =
    'The prices are set by a flag, which wins. Change MODEL_PRICES there and restart Berth.'
  const page = await olga.read(pricePath)
  expect(page).toContain(fixed)
  expect(page).not.toContain('Save price')
  const other = '/console/settings/HOME_TITLE'
  const { token = '' } = hiddenFields(await olga.read(other), other)
  const tried = await olga.send(pricePath, { token, prompt: '9', completion: '9', act: 'set' })
  expect(alertText(tried)).toBe(fixed)
  expect(await readPrice(t, 'demo/chat')).toMatchObject({ prompt: '0.000003', completion: '0' })
})

test('names settings in texts of problems', () => {
  expect(nameSettings('TOPUP_EVM_RPC_URLS[0] (127.0.0.1:1): refused')).toBe(
    'RPC servers of ETH and USDT, 1 (127.0.0.1:1): refused',
  )
  expect(nameSettings('NO_SETTING is HTTP_ERROR')).toBe('NO_SETTING is HTTP_ERROR')
})
