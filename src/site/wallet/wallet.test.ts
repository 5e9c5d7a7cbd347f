import { afterAll, expect, test } from 'bun:test'

import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { insertUse } from '../../gateway/models/history.ts'
import { nano } from '../../kernel/money.ts'
import { day } from '../../kernel/time.ts'
import {
  alertText,
  hiddenFields,
  origin,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { fund, getPerson } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const chat = { model: 'demo/chat', messages: [{ role: 'user', content: 'Ahoy' }], max_tokens: 5 }

const t = await startTestServer({ DAILY_CAP_CREDITS: '300' })
const olga = await signUp(t, 'olga')
const cy = await signUp(t, 'cyrus')
afterAll(() => t.close())

async function wallet(name: string, usd = 0n): Promise<string> {
  const person = await getPerson(t, name)
  if (usd > 0n) await fund(t.ctx, person, usd)
  return `gateway:${person.wallet}`
}

const keys = (values: Record<string, string>, browser = olga) =>
  browser.fill('/wallet', '/wallet/keys', values)

async function newKey(values: Record<string, string>): Promise<string> {
  const made = await keys(values)
  return /gk_[A-Za-z0-9]{40}/.exec(String(made.body))?.[0] ?? ''
}

/** Submits the settings of a key. */
const edit = (prefix: string, values: Record<string, string>, browser = olga) =>
  browser.fill(`/wallet/keys/${prefix}`, `/wallet/keys/${prefix}`, values)

test('shows the same number in the header and in the wallet, and where the credits are', async () => {
  const una = await signUp(t, 'una')
  const [agent] = await listActingAgents(t.ctx, await getPerson(t, 'una'))
  await wallet('una', 2n)
  const page = await una.show('/wallet')
  expect(page.text).toContain('Balance: 2,400 cr')
  expect(page.text).toContain('your agents 2,400 credits')
  expect(page.column('Place').map(({ text }) => text)).toEqual([
    expect.stringContaining('Wallet'),
    `@${agent?.handle}`,
  ])
  const table = page.allByRole('table')[0]
  expect(table?.column('Credits').map(({ text }) => text)).toEqual(['2,000', '400'])
})

test('offers no payment where the server takes none', async () => {
  const una = await signUp(t, 'una-two')
  for (const path of ['/wallet', '/wallet/history', '/wallet/ledger']) {
    const page = await una.show(path)
    expect([path, page.hrefs.filter((href) => href.includes('/wallet/add'))]).toEqual([path, []])
    expect(page.text).not.toContain('Add money')
  }
  expect((await una.show('/wallet')).text).toContain('Send this link to the operator')
})

test('creates a key with a daily cap, spends, changes and revokes it, and shows its last use', async () => {
  await wallet('olga', 5n)
  expect((await olga.show('/wallet')).byLabel(/^Daily cap/).value).toBe('300')
  const key = await newKey({ name: 'laptop', dailyCap: '0' })
  const prefix = key.slice(0, 11)
  const ask = () => t.request('POST', '/v1/chat/completions', { key, body: chat })
  expect([(await ask()).status, (await ask()).code]).toEqual([429, 'daily_cap'])
  expect((await olga.show('/wallet')).column('Last used').map(({ text }) => text)).toEqual([
    'Never',
  ])
  const changed = await edit(prefix, { name: 'laptop', daily_cap: '12.5' })
  expect([changed.status, changed.headers.get('location')]).toEqual([303, '/wallet?done=key#keys'])
  expect(await olga.read('/wallet?done=key')).toContain('API key updated.')
  expect((await ask()).status).toBe(200)
  const page = await olga.read('/wallet')
  const shown = shownPage(page)
  expect(shown.text).toMatch(/ of 12\.5 credits/)
  const times = shown.allByText(/^4 May 2026/).map((time) => time.attribute('datetime'))
  expect(times).toContain('2026-05-04')
  // Spending by key names it.
  expect(shown.text.slice(shown.text.indexOf('By key'))).toContain('laptop')
  expect((await edit(prefix, { name: 'laptop' })).status).toBe(303)
  expect(await t.request('GET', '/accounts/keys', { key }).then(({ body }) => body)).toMatchObject({
    data: [{ id: prefix, daily_cap: null, name: 'laptop' }],
  })
  expect((await keys({ revoke: prefix })).status).toBe(303)
  expect((await ask()).status).toBe(401)
})

test('sets the models, budgets, rates and expiry of a key', async () => {
  const key = await newKey({ name: 'team' })
  const prefix = key.slice(0, 11)
  const settings = {
    name: 'Team of <b>',
    weekly_cap: '40',
    monthly_cap: '100.5',
    requests_per_minute: '30',
    tokens_per_minute: '5000',
    running_requests: '5',
    models: 'demo/small\n demo/o* \n',
    expires_at: '2026-06-01T08:30',
    note: 'For the nightly build.',
    tags: 'ci\nnight',
  }
  expect((await edit(prefix, settings)).status).toBe(303)
  expect(await t.request('GET', '/accounts/keys', { key }).then(({ body }) => body)).toMatchObject({
    data: [
      {
        name: 'Team of <b>',
        daily_cap: null,
        weekly_cap: 40,
        monthly_cap: 100.5,
        requests_per_minute: 30,
        tokens_per_minute: 5_000,
        running_requests: 5,
        models: ['demo/small', 'demo/o*'],
        expires_at: '2026-06-01T08:30:00.000Z',
        note: 'For the nightly build.',
        tags: ['ci', 'night'],
      },
    ],
  })
  const form = await olga.read(`/wallet/keys/${prefix}`)
  expect(shownPage(form).names('heading')).toContain('Team of <b>')
  expect(shownPage(form).byLabel(/^Expires/).value).toBe('2026-06-01T08:30')
  const kept = await t.snapshot()
  for (const wrong of [
    { daily_cap: '-1' },
    { weekly_cap: '10000000000' },
    { requests_per_minute: '1.5' },
    { tokens_per_minute: '0' },
    { running_requests: '65' },
    { models: 'a'.repeat(201) },
    { models: 'm\n'.repeat(51) },
    { expires_at: '2020-01-01T00:00' },
    { expires_at: 'soon' },
    { tags: 'x'.repeat(41) },
    { note: 'x'.repeat(501) },
    { name: 'x'.repeat(81) },
  ]) {
    const response = await edit(prefix, { ...settings, ...wrong })
    expect([wrong, response.status]).toEqual([wrong, 400])
    expect(alertText(response)).not.toBe('')
    const form = shownPage(response.body).form(`/wallet/keys/${prefix}`)
    expect(form.fields).toMatchObject({ weekly_cap: settings.weekly_cap, ...wrong })
  }
  expect(await t.snapshot()).toEqual(kept)
  await keys({ revoke: prefix })
})

test('does not show, change or revoke keys of other people or malformed prefixes', async () => {
  const prefix = (await newKey({ name: 'hers' })).slice(0, 11)
  const { token = '' } = hiddenFields(await cy.read('/wallet'), '/wallet/keys')
  const kept = await t.snapshot()
  for (const odd of [prefix, 'gk_nothing00', '\u0000', '../..', prefix.slice(0, 5)]) {
    expect((await keys({ revoke: odd }, cy)).status).toBe(404)
  }
  for (const odd of [prefix, 'gk_nothing00', prefix.slice(0, 5)]) {
    expect((await cy.open(`/wallet/keys/${odd}`)).status).toBe(404)
    expect((await cy.send(`/wallet/keys/${odd}`, { token, name: 'mine' })).status).toBe(404)
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('keeps the typed values after an error', async () => {
  const made = await keys({ name: 'my <key>', dailyCap: '10000000000' })
  expect([made.status, alertText(made)]).toEqual([
    400,
    expect.stringContaining('below 1,000,000,000'),
  ])
  const form = shownPage(made.body)
  expect(form.byLabel(/^Key name/).value).toBe('my <key>')
  expect(form.byLabel(/^Daily cap/).value).toBe('10000000000')
  const other = (await newKey({ name: 'other' })).slice(0, 11)
  await keys({ revoke: other })
  expect(await olga.read('/wallet?done=revoke')).toContain('API key revoked.')
})

test('shows failed calls with their reason, and stopped ones', async () => {
  const eve = await signUp(t, 'evelyn')
  const account = await wallet('evelyn')
  const ends = [
    ['failed', 'upstream_busy'],
    ['failed', null],
    ['interrupted', null],
  ] as const
  for (const [status, error] of ends) {
    await t.ctx.db.tx((db) =>
      insertUse(db, {
        ...used,
        account,
        model: 'm/x',
        at: t.clock.now(),
        status,
        error,
        held: nano(0n),
        charged: nano(0n),
      }),
    )
  }
  const page = await eve.read('/wallet/history')
  expect(page).toContain('The upstream was at its rate limit.')
  expect(shownPage(page).allByText('Failed')).toHaveLength(2)
  expect(page).toContain('The client left.')
})

const used = {
  requestId: 'r',
  type: 'chat',
  source: 'web',
  status: 'completed',
  upstream: 'demo',
  price: 'p',
  input: 3,
  cached: 0,
  output: 4,
  reasoning: 0,
  searches: 0,
  estimated: true,
  ms: 5,
  firstByteMs: null,
} as const

test('charts spending by day and by model for 7, 30 or 90 days', async () => {
  const account = await wallet('cyrus')
  expect(await cy.read('/wallet')).toContain('No usage in this period')
  const add = (model: string, daysAgo: number, credits: number) =>
    t.ctx.db.tx((db) =>
      insertUse(db, {
        ...used,
        account,
        model,
        at: t.clock.now() - daysAgo * day,
        held: nano(0n),
        charged: nano(BigInt(credits * 1_000_000)),
      }),
    )
  await add('m/old', 60, 500)
  await add('m/<b>', 10, 40)
  await add('m/new', 0, 2)
  const [week, month, quarter, other] = await Promise.all(
    [7, 30, 90, 8].map((days) => cy.read(`/wallet?days=${days}`)),
  )
  expect(week).toContain('2 credits in 7 days, peak 2 a day')
  expect(shownPage(week).text).not.toContain('m/<b>')
  expect(month).toContain('42 credits in 30 days, peak 40 a day')
  expect(shownPage(month).byRole('link', 'm/<b>').attribute('href')).toBe(
    '/wallet/history?model=m%2F%3Cb%3E',
  )
  expect(quarter).toContain('542 credits in 90 days')
  const chart = shownPage(quarter).byRole('img', /in 90 days/)
  expect(chart.allByRole('listitem')).toHaveLength(90)
  await add('m/small', 0, 0.25)
  const tables = (await cy.show('/wallet')).allByRole('table')
  const models = tables.find((table) => table.names('columnheader').includes('Model'))
  expect(models?.column('Credits').map(({ text }) => text)).toEqual(['40', '2', '0.25'])
  expect(shownPage(quarter).names('row')).toContain('24 Apr 40')
  expect(other).toContain('in 30 days')
})

test('pages and filters usage and exports the CSV of the API', async () => {
  const bea = await signUp(t, 'beatrice')
  const account = await wallet('beatrice')
  expect(await bea.read('/wallet/history')).toContain('No usage yet')
  await t.ctx.db.tx(async (db) => {
    for (let at = 0; at < 60; at += 1) {
      await insertUse(db, {
        ...used,
        account,
        model: at % 2 ? 'm/odd' : '=even',
        requestId: `r${at}`,
        at: t.clock.now() - (60 - at) * day,
        charged: nano(12_345n),
        held: nano(99_999n),
      })
    }
  })
  const first = await bea.show('/wallet/history')
  expect(first.text).toContain('60 requests')
  expect(first.column('Input')).toHaveLength(50)
  const [charged] = first.allByText('0.012')
  expect(charged?.attribute('title')).toBe('0.012345 credits, $0.000012345')
  expect(first.byRole('link', 'Show more').attribute('href')).toBe('/wallet/history?page=2')
  const second = await bea.show('/wallet/history?page=2')
  expect(second.column('Input')).toHaveLength(10)
  expect(second.names('link')).not.toContain('Show more')
  const some = 'model=m%2Fodd&from=2026-04-01&to=2026-04-10'
  const filtered = await bea.show(`/wallet/history?${some}`)
  expect(filtered.text).toContain('5 requests')
  expect(filtered.hrefs).toContain(`/wallet/history.csv?${some}`)
  const csv = await bea.open(`/wallet/history.csv?${some}`)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(csv.headers.get('cache-control')).toBe('no-store')
  const made = await bea.fill('/wallet', '/wallet/keys', { name: '', dailyCap: '' })
  const key = /gk_[A-Za-z0-9]{40}/.exec(String(made.body))?.[0]
  const exported = await t.request('GET', `/queries/history?format=csv&${some}`, { key })
  expect(csv.body).toBe(exported.body)
  const all = await t.request('GET', '/queries/history?format=csv', { key })
  expect((await bea.open('/wallet/history.csv?model=&from=')).body).toBe(all.body)
  for (const query of ['model=none', 'to=2020-01-01']) {
    expect(await bea.read(`/wallet/history?${query}`)).toContain('No matching requests')
  }
  for (const odd of ['page=0', 'page=1.5', 'page=x', 'from=yesterday', 'to=2026-13-01']) {
    const response = await bea.open(`/wallet/history?${odd}`)
    expect([odd, response.status]).toEqual([odd, 400])
  }
  expect((await bea.open('/wallet/history.csv?to=never')).status).toBe(400)
  expect(await cy.read('/wallet/history')).not.toContain('m/odd')
})

test('requires a session and explains how to add credits', async () => {
  for (const path of [
    '',
    '/history',
    '/history.csv',
    '/ledger',
    '/ledger.csv',
    '/playground',
    '/playground/x',
  ]) {
    const response = await t.request('GET', `/wallet${path}`, { headers: { origin } })
    expect([path, response.status]).toEqual([path, 303])
    expect(response.headers.get('location')).toStartWith('/sign-in')
  }
  const page = await olga.read('/wallet')
  expect(page).toContain('This server takes no payments')
  // The operator grants credits in the console; other people send the operator a link to it.
  const opal = await signInOperator(t, 'opal')
  const operator = await opal.read('/wallet')
  for (const path of ['/wallet', '/wallet/add']) {
    expect((await opal.show(path)).hrefs).toContain('/console/payments')
  }
  expect((await opal.show('/console/payments')).hrefs).toContain('/console/settings/TOPUP_BTC_XPUB')
  for (const [text, name] of [
    [page, 'olga'],
    [operator, 'opal'],
  ] as const) {
    expect(text).toContain(`http://localhost:3000/console/grants?to=${name}`)
    expect(text).not.toContain('berth grant')
  }
  expect(shownPage(operator).names('link')).toContain('Grant credits')
  expect(shownPage(page).names('link')).not.toContain('Grant credits')
})
