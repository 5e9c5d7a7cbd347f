import { describe, expect, test } from 'bun:test'

import { giveConsent, revokeConsent } from '../apps/ai/consents.ts'
import { DatabaseBusy } from '../kernel/db/error.ts'
import { listPageMax } from '../kernel/limits.ts'
import { nano } from '../kernel/money.ts'
import { hour } from '../kernel/time.ts'
import { operatorLink } from '../people/people.ts'
import { startForEachTest } from '../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  formType,
  hiddenFields,
  origin,
  signUp,
} from '../testing/fixtures/form-browser.ts'
import { fund, getPerson, password } from '../testing/fixtures/people.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { pauseMethod } from '../testing/pause-method.ts'

const open = startForEachTest()

describe('signing in', () => {
  test('signs up, out and in with another case, and recovers with a code', async () => {
    const t = await open()
    const browser = new FormBrowser(t)
    expect((await browser.open('/sign-up')).body).toContain('3 to 40 characters: a-z')
    const made = await browser.fill('/sign-up', '/sign-up', { name: 'Olga@Example.org', password })
    const codes = String(made.body).match(/[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/g) ?? []
    expect(codes).toHaveLength(8)
    expect(await browser.read('/account')).toContain('olga@example.org')
    const out = await browser.fill('/account', '/sign-out', {})
    expect([out.status, out.headers.get('location'), browser.cookie()]).toEqual([
      303,
      '/',
      undefined,
    ])
    expect((await browser.open('/account')).headers.get('location')).toBe(
      '/sign-in?next=%2Faccount',
    )
    const name = 'OLGA@example.org'
    const back = await browser.fill('/sign-in', '/sign-in', { name, password })
    expect([back.status, back.headers.get('location')]).toEqual([303, '/agents'])
    const other = new FormBrowser(t)
    const changed = 'another long password'
    const by = (code = '') => other.fill('/recover', '/recover', { name, code, password: changed })
    expect((await by(codes[0]?.toLowerCase())).status).toBe(303)
    expect((await browser.open('/account')).status).toBe(303)
    await other.fill('/account', '/sign-out', {})
    expect((await by(codes[0])).status).toBe(401)
    expect((await other.fill('/sign-in', '/sign-in', { name, password })).status).toBe(401)
    expect((await other.fill('/sign-in', '/sign-in', { name, password: changed })).status).toBe(303)
  })

  test('creates, lists and revokes sessions, stored as hashes', async () => {
    const t = await open()
    const first = await signUp(t, 'olga')
    const second = new FormBrowser(t)
    second.set('berth', 'a'.repeat(40))
    await second.fill('/sign-in', '/sign-in', { name: 'olga', password })
    const planted = second.cookie()
    expect(planted).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(planted).not.toBe('a'.repeat(40))
    expect(JSON.stringify(await t.snapshot())).not.toContain(planted)
    const page = await first.show('/account')
    const { id = '' } = page.form('/account/sessions').hiddenFields
    expect(page.text).toContain('This browser')
    expect((await first.fill('/account', '/account/sessions', { id })).status).toBe(303)
    expect((await second.open('/account')).status).toBe(303)
    t.clock.advance(30 * 24 * 3_600_000)
    expect((await first.open('/account')).status).toBe(303)
  })

  test('names the browser of each session', async () => {
    const t = await open()
    const olga = await signUp(t, 'olga')
    const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15'
    const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
    const known = {
      'Safari 26, Mac OS X': `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari}`,
      'Chrome 156, Linux': `Mozilla/5.0 (X11; Linux x86_64) ${chrome}`,
      'Edge 155, Windows': `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/155.0.0.0`,
      'Chrome 154, iPhone': `Mozilla/5.0 (iPhone) ${safari.replace('Version', 'CriOS/154.0')}`,
      'Firefox 153, Linux':
        'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
    }
    for (const agent of Object.values(known)) {
      const form = { name: 'olga', password }
      await new FormBrowser(t).fill('/sign-in', '/sign-in', form, { 'user-agent': agent })
    }
    const page = await olga.read('/account')
    expect(Object.keys(known).filter((name) => !page.includes(name))).toEqual([])
  })

  test('accepts sessions while the database is read-only', async () => {
    const t = await open()
    const olga = await signUp(t, 'olga')
    t.clock.advance(2 * hour)
    const { tx } = t.ctx.db
    t.ctx.db.tx = () => Promise.reject(new DatabaseBusy('Too many writes are queued.'))
    expect((await olga.open('/account')).status).toBe(200)
    t.ctx.db.tx = tx
    expect((await olga.open('/account')).status).toBe(200)
  })

  test('ends other sessions and rotates this one with a new password', async () => {
    const t = await open()
    const first = await signUp(t, 'olga')
    const second = new FormBrowser(t)
    await second.fill('/sign-in', '/sign-in', { name: 'olga', password })
    const before = first.cookie()
    const change = (now: string) =>
      first.fill('/account', '/account/password', { password: now, wanted: 'another password' })
    const wrong = await change('wrong password')
    expect([wrong.status, first.cookie()]).toEqual([401, before])
    expect(alertText(wrong)).toBe('This password is wrong. Enter it again.')
    const done = (await change(password)).headers.get('location') ?? ''
    expect(await first.read(done)).toContain('Password updated.')
    expect(first.cookie()).not.toBe(before)
    expect((await first.open('/account')).status).toBe(200)
    expect((await second.open('/account')).status).toBe(303)
  })

  test('sets HttpOnly, SameSite and Secure on the session cookie', async () => {
    const t = await open({ APP_URL: 'https://berth.example' })
    const page = await t.request('GET', '/sign-up')
    const [seed = ''] = page.headers.getSetCookie()
    expect(seed).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
    const [cookie = ''] = seed.split(';')
    const values = { ...hiddenFields(String(page.body), '/sign-up'), name: 'olga', password }
    const headers = { ...formType, cookie, origin: 'https://berth.example' }
    const body = new URLSearchParams(values).toString()
    const made = await t.request('POST', '/sign-up', { body, headers })
    expect(made.headers.getSetCookie()[0]).toMatch(
      /^__Host-berth=[A-Za-z0-9]{40}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000$/,
    )
  })

  test('bad_request, name_taken: rejects invalid accounts', async () => {
    const t = await open()
    await signUp(t, 'olga')
    const make = (name: string, secret = password) =>
      new FormBrowser(t).fill('/sign-up', '/sign-up', { name, password: secret })
    const before = await t.snapshot()
    const bad = ['', 'ab', 'a'.repeat(41), 'two words', '<b>', 'olga\u0000', '@', 'a@b', 'a@b@c.de']
    for (const name of bad) expect([name, (await make(name)).status]).toEqual([name, 400])
    for (const secret of ['short', 'x'.repeat(201)]) {
      expect((await make('bea', secret)).status).toBe(400)
    }
    expect((await make('beatrice', 'Beatrice')).status).toBe(400)
    const taken = await make('OLGA')
    expect([taken.status, alertText(taken)]).toEqual([409, 'This name is taken. Choose another.'])
    expect(await t.snapshot()).toEqual(before)
  })
})

describe('the operator’s link', () => {
  test('works once, for a new or an existing account', async () => {
    const t = await open()
    const link = new URL((await operatorLink(t.ctx)) ?? '').pathname
    const olga = new FormBrowser(t)
    expect((await olga.open(`${link}x`)).status).toBe(404)
    const made = await olga.fill(link, link, { name: 'olga', password })
    expect(made.status).toBe(200)
    expect(await olga.read('/account')).toContain('You are the operator')
    expect(await operatorLink(t.ctx)).toBeUndefined()
    const used = await olga.open(link)
    expect([used.status, String(used.body)]).toEqual([
      404,
      expect.stringContaining('This link was not found. The operator’s link works once'),
    ])

    const other = await open()
    const again = new URL((await operatorLink(other.ctx)) ?? '').pathname
    const [bea, cy] = [await signUp(other, 'bea'), await signUp(other, 'cyrus')]
    const forms = [bea, cy].map(async (one) => one.fill(again, again, {}))
    const statuses = (await Promise.all(forms)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
  })
})

test('redirects a form of an ended session to sign-in and back to its page', async () => {
  const t = await open()
  const next = (path: string) => `/sign-in?next=${encodeURIComponent(path)}`
  for (const [page, action] of [
    ['/agents/ann', '/agents/ann/cap'],
    ['/account', '/account/keys'],
    ['/wallet?days=90', '/wallet/keys'],
    ['/console/queue', '/console/rescan'],
    ['/agents/ann/notes?about=apps&show=unread', '/agents/ann/cap'],
  ] as const) {
    const sent = await new FormBrowser(t).send(action, {}, { referer: origin + page })
    expect(sent.headers.get('location')).toBe(next(page))
  }
  for (const referer of ['https://evil.example//evil.example', 'odd', `${origin}/explore`]) {
    const sent = await new FormBrowser(t).send('/agents/ann/cap', {}, { referer })
    expect(sent.headers.get('location')).toBe(next('/agents'))
  }
})

test('returns to the requested page and query after sign-in', async () => {
  const t = await open()
  await signUp(t, 'olga')
  for (const [query, page] of [
    ['/wallet/history?model=demo%2Fchat&from=2026-05-01', undefined],
    ['/studio/AAAAAAAAAAAA/changes?from=1&to=2', undefined],
    ['/wallet/history.csv?model=demo%2Fchat', '/wallet/history?model=demo%2Fchat'],
  ] as const) {
    const browser = new FormBrowser(t)
    const signIn = (await browser.open(query)).headers.get('location') ?? ''
    const landed = await browser.fill(signIn, '/sign-in', { name: 'olga', password })
    expect(landed.headers.get('location')).toBe(page ?? query)
  }
})

describe('claim page', () => {
  test('shows the agent, requires sign-in and then claims it', async () => {
    const t = await open()
    const ann = await t.agent('ann')
    await ann.publish({ title: 'Boats <b>' })
    const link = new URL((await ann.call('POST', '/me/claim')).text('claim.url')).pathname
    const browser = new FormBrowser(t)
    const before = await t.snapshot()
    const page = await browser.show(link)
    expect(page.text).toContain(`Claim @${ann.handle}`)
    expect(page.text).toContain('Boats <b>')
    expect((await browser.send(link, {})).headers.get('location')).toStartWith(
      '/sign-in?next=%2Fclaim',
    )
    expect(await t.snapshot()).toEqual(before)
    const next = page.byRole('link', 'Create an account').attribute('href') ?? ''
    const made = await browser.fill(next, '/sign-up', { name: 'olga', password })
    expect(shownPage(made.body).hrefs).toContain(link)
    const done = await browser.fill(link, link, {})
    expect(done.headers.get('location')).toBe(`/agents/${ann.handle}`)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true, owner: 'olga' })
    const again = await browser.open(link)
    expect([again.status, shownPage(again.body).names('heading')]).toEqual([
      409,
      ['Claim code already used'],
    ])
    const cy = await signUp(t, 'cyrus')
    expect((await cy.open(`/agents/${ann.handle}`)).status).toBe(404)
    const taken = await cy.fill('/agents', '/claim', { code: link.slice('/claim/'.length) })
    expect([taken.status, alertText(taken)]).toEqual([
      409,
      'This claim code has already been used. Ask the agent for a new claim link.',
    ])
    expect(shownPage(taken.body).values('textbox')).toContain(link.slice('/claim/'.length))
  })

  test('shows the agent with all its apps', async () => {
    const t = await open()
    const ann = await t.agent('ann')
    for (let made = 0; made < 31; made += 1) await ann.publish()
    const olga = await signUp(t, 'olga')
    await claimAgent(olga, ann)
    ;(await olga.show('/agents')).byText('31 apps')
  })

  test('lets the owner send credits, limit, pause, manage keys and release', async () => {
    const t = await open()
    const ann = await t.agent('ann')
    const olga = await signUp(t, 'olga')
    await claimAgent(olga, ann)
    const page = `/agents/${ann.handle}`
    const tabs: Record<string, string> = { cap: '/settings', keys: '/keys', release: '/settings' }
    const act = (name: string, values: Record<string, string>) =>
      olga.fill(page + (tabs[name] ?? ''), `${page}/${name}`, values)
    const short = await act('credits', { credits: '250' })
    expect([short.status, alertText(short)]).toEqual([
      402,
      expect.stringContaining('Add credits in your wallet'),
    ])
    expect(shownPage(short.body).byLabel(/^Credits/).value).toBe('250')
    await fund(t.ctx, await getPerson(t, 'olga'), 5n)
    const fields = {
      ...hiddenFields(await olga.read(page), `${page}/credits`),
      credits: '250',
    }
    const give = () => olga.send(`${page}/credits`, fields)
    const held = pauseMethod(t.ctx.db, 'tx')
    const first = give()
    await held.begun
    const second = await give()
    held.go()
    expect([(await first).status, second.status]).toEqual([303, 409])
    // The page after a second submit reuses the idempotency key.
    const again = hiddenFields(String(second.body), `${page}/credits`)
    expect({ ...again, credits: '250' }).toEqual(fields)
    expect((await give()).status).toBe(303)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 650 })
    for (const credits of ['0', '-5', 'x', ''])
      expect((await act('credits', { credits })).status).toBe(400)
    expect((await act('cap', { dailyCap: '12.5' })).status).toBe(303)
    shownPage(await olga.read(`${page}/keys`)).byText('Unnamed')
    const paused = await act('pause', { paused: 'yes' })
    const statusOf = async (path: string) => (await olga.show(path)).byRole('status').text
    expect(await statusOf(paused.headers.get('location') ?? '')).toBe('Spending paused.')
    expect(await statusOf(`${page}?done=credits`)).toBe('Credits sent. New balance: 650 credits.')
    expect((await ann.call('GET', '/me')).body).toMatchObject({ limits: { dailyCap: 0 } })
    expect((await act('pause', { paused: 'no' })).status).toBe(303)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ limits: { dailyCap: 12.5 } })
    const key = /ak_[A-Za-z0-9]{40}/.exec(String((await act('keys', { name: 'laptop' })).body))?.[0]
    expect((await t.call('GET', '/me', { key })).status).toBe(200)
    expect((await act('keys', { revoke: key?.slice(0, 11) ?? '' })).status).toBe(303)
    // The dialog that creates a key has no part in it.
    const gone = await act('keys', { revoke: key?.slice(0, 11) ?? '' })
    expect([gone.status, shownPage(gone.body).names('group')]).toEqual([404, []])
    expect(alertText(gone)).toContain('This key was not found.')
    expect((await t.call('GET', '/me', { key })).code).toBe('bad_key')
    expect((await olga.send(`${page}/nothing`, fields)).status).toBe(404)
    expect((await act('release', {})).headers.get('location')).toBe('/agents')
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: false })
  })
})

test('accepts wallet keys at the gateway, but not personal keys', async () => {
  const t = await open()
  const olga = await signUp(t, 'olga')
  const made = await olga.fill('/wallet', '/wallet/keys', { name: 'laptop' })
  const key = /gk_[A-Za-z0-9]{40}/.exec(String(made.body))?.[0]
  const balance = await t.request('POST', '/credits/balance', { key })
  expect(balance.body).toMatchObject({ balance: 0, currency: 'USDT' })
  const grants = 'http://localhost:3000/console/grants?to=olga'
  shownPage(await olga.read('/wallet')).byText(grants)
  const own = await olga.fill('/account', '/account/keys', { name: 'script' })
  const personal = /pk_[A-Za-z0-9]{40}/.exec(String(own.body))?.[0]
  expect((await t.call('GET', '/people/me', { key: personal })).status).toBe(200)
  expect((await t.request('POST', '/credits/balance', { key: personal })).status).toBe(401)
  const keys = await t.request('GET', '/accounts/keys', { key })
  expect(JSON.stringify(keys.body)).not.toContain('pk_')
})

test('lists what each app spent of the wallet, also after what it may use was revoked', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const html = `<!doctype html><script>service.ai.chat('Hello')</script>`
  const [oracle, idle] = [
    await ann.publish({ html, title: 'Oracle' }),
    await ann.publish({ html, title: 'Idle' }),
  ]
  const olga = await signUp(t, 'olga')
  await fund(t.ctx, await getPerson(t, 'olga'), 5n)
  const headers = { cookie: `berth=${olga.cookie()}`, 'sec-fetch-site': 'same-origin' }
  const consent = { uses: ['ai'], dailyCap: 100, remember: true }
  for (const id of [oracle, idle]) {
    t.clock.advance(1)
    await t.call('PUT', `/apps/${id}/consent`, { headers, body: consent })
  }
  const chat = () =>
    t.request('POST', `/a/${oracle}/ai/v1/chat/completions`, {
      headers,
      body: { messages: [{ role: 'user', content: 'sea '.repeat(5_000) }] },
    })
  expect((await chat()).status).toBe(200)
  const column = async (header: string) =>
    (await olga.show('/account')).column(header).map(({ text }) => text)
  expect(await column('App')).toEqual(['Idle', 'Oracle'])
  expect(await column('Agreed')).toEqual(['Until revoked', 'Until revoked'])
  for (const revoke of [oracle, idle]) await olga.fill('/account', '/account/apps', { revoke })
  expect((await chat()).code).toBe('not_granted')
  // The other one spent nothing.
  expect(await column('App')).toEqual(['Oracle'])
  expect(await column('This month')).toEqual(['2.13'])
  expect(await column('Agreed')).toEqual([expect.stringContaining('Revoked on')])
  expect((await olga.show('/account')).forms('/account/apps')).toEqual([])
})

test('an app that may spend still is revoked, however many were revoked or ended since', async () => {
  const t = await open()
  const olga = await signUp(t, 'olga')
  const person = await getPerson(t, 'olga')
  const terms = { uses: ['ai' as const], dailyCap: nano(1n), margin: 0 }
  const agree = (app: string, isRemembered: boolean) => {
    t.clock.advance(1)
    return giveConsent(t.ctx, app, person, { ...terms, isRemembered })
  }
  await agree('oldest', true)
  for (let count = 0; count < listPageMax; count += 1) {
    await agree(`app${count}`, false)
    if (count % 2 === 0) await revokeConsent(t.ctx, `app${count}`, person)
  }
  const revocable = async () =>
    (await olga.show('/account')).forms('/account/apps').map(({ fields }) => fields['revoke'])
  expect((await revocable())[0]).toBe('oldest')
  await olga.fill('/account', '/account/apps', { revoke: 'oldest' })
  expect(await revocable()).not.toContain('oldest')
})
