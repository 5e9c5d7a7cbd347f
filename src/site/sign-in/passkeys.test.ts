import { describe, expect, test } from 'bun:test'

import { Authenticator, optionsIn } from '../../testing/fakes/authenticator.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  origin,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestResponse, TestServer } from '../../testing/fixtures/test-server.ts'

const open = startForEachTest()

const minute = 60_000

/** Adds a passkey on the account page. */
async function add(browser: FormBrowser, device: Authenticator, odd = {}): Promise<TestResponse> {
  const page = (await browser.open('/account')).body
  const response = await device.create(optionsIn(page), odd)
  const { token = '' } = hiddenFields(String(page), '/account/passkeys')
  return browser.send('/account/passkeys', { token, name: 'Laptop', answer: response })
}

/** Signs in with a passkey on the sign-in page. */
async function enter(browser: FormBrowser, device: Authenticator, odd = {}): Promise<TestResponse> {
  const page = (await browser.open('/sign-in')).body
  const response = await device.get(optionsIn(page), odd)
  return browser.send('/sign-in/passkey', {
    ...hiddenFields(String(page), '/sign-in/passkey'),
    answer: response,
  })
}

/** Signs Olga up with a passkey and out again. */
async function withPasskey(h: TestServer): Promise<{ device: Authenticator; olga: FormBrowser }> {
  const [olga, device] = [await signUp(h, 'olga'), new Authenticator(origin)]
  expect((await add(olga, device)).status).toBe(303)
  return { device, olga }
}

describe('passkeys', () => {
  test('adds, lists and removes a passkey and signs in without a name', async () => {
    const h = await open()
    const { device, olga } = await withPasskey(h)
    expect(await olga.read('/account')).toContain('Never')
    const other = new FormBrowser(h)
    const entered = await enter(other, device)
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/agents'])
    const page = await other.read('/account')
    expect(shownPage(page).allByText('Laptop')).not.toEqual([])
    expect(page).not.toContain('Never')
    const id = hiddenFields(page, '/account/passkeys').remove ?? ''
    const cy = await signUp(h, 'cyrus')
    expect((await cy.fill('/account', '/account/passkeys', { remove: id })).status).toBe(404)
    expect((await other.fill('/account', '/account/passkeys', { remove: id })).status).toBe(303)
    expect((await enter(new FormBrowser(h), device)).status).toBe(401)
  })

  test('starts a new session on sign-in', async () => {
    const h = await open()
    const { device, olga } = await withPasskey(h)
    const planted = new FormBrowser(h)
    planted.set('berth', 'a'.repeat(40))
    await enter(planted, device)
    expect(planted.cookie()).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(planted.cookie()).not.toBe('a'.repeat(40))
    // A stolen session cookie ends with the next sign-in.
    const before = olga.cookie() ?? ''
    const page = (await olga.open('/sign-in?again=yes&next=%2Faccount')).body
    const fields = hiddenFields(String(page), '/sign-in/passkey')
    const response = await device.get(optionsIn(page))
    const again = await olga.send('/sign-in/passkey', { ...fields, answer: response })
    expect(again.headers.get('location')).toBe('/account')
    const thief = new FormBrowser(h)
    thief.set('berth', before)
    expect((await thief.open('/account')).status).toBe(303)
  })

  test('bad_passkey: rejects another origin, missing user verification, a copy, another person', async () => {
    const h = await open()
    const { device } = await withPasskey(h)
    expect((await enter(new FormBrowser(h), device, { counter: 7 })).status).toBe(303)
    const before = await h.snapshot()
    const wrong: [string, object][] = [
      ['another site', { origin: 'https://evil.example' }],
      ['another site', { origin: 'http://localhost:3001' }],
      ['another site', { rpId: 'evil.example' }],
      ['did not verify you', { verified: false }],
      ['did not increase', { counter: 7 }],
      ['did not increase', { counter: 6 }],
      ['did not increase', { counter: 0 }],
      ['not registered for any account', { userHandle: 'AAAA' }],
    ]
    for (const [words, odd] of wrong) {
      const response = await enter(new FormBrowser(h), device, odd)
      expect([response.status, alertText(response)]).toEqual([401, expect.stringContaining(words)])
    }
    const stranger = new Authenticator(origin)
    const page = (await (await signUp(h, 'cyrus')).open('/account')).body
    await stranger.create(optionsIn(page))
    expect(alertText(await enter(new FormBrowser(h), stranger))).toContain(
      'not registered for any account',
    )
    const now = await h.snapshot()
    expect(now).toMatchObject({ passkeys: Reflect.get(Object(before), 'passkeys') })
    expect((await enter(new FormBrowser(h), device, { counter: 8 })).status).toBe(303)
  })

  test('bad_passkey: rejects missing, truncated and wrongly signed responses', async () => {
    const h = await open()
    const { device } = await withPasskey(h)
    const browser = new FormBrowser(h)
    const page = (await browser.open('/sign-in')).body
    const good = JSON.parse(await device.get(optionsIn(page)))
    const forged = JSON.parse(await new Authenticator(origin).get(optionsIn(page)))
    const response = { ...good.response, signature: forged.response.signature }
    const bad: unknown[] = [
      null,
      [],
      'x',
      {},
      { ...good, response: {} },
      { ...good, type: 'password' },
      { ...good, id: '\u0000' },
      { ...good, rawId: 'AAAA' },
      { ...good, response },
      { ...good, response: { ...good.response, authenticatorData: 'AAAA' } },
      { ...good, response: { ...good.response, clientDataJSON: 'e30' } },
      { ...good, response: { ...good.response, clientDataJSON: '!' } },
    ]
    const fields = hiddenFields(String(page), '/sign-in/passkey')
    for (const response of [...bad.map((one) => JSON.stringify(one)), '', '{', '['.repeat(4_000)]) {
      expect((await browser.send('/sign-in/passkey', { ...fields, answer: response })).status).toBe(
        401,
      )
    }
    const huge = { ...fields, answer: 'x'.repeat(20_000) }
    expect((await browser.send('/sign-in/passkey', huge)).status).toBe(413)
    expect(browser.cookie()).toBeUndefined()
  })

  test('sign_in_stale: rejects used, expired and foreign challenges', async () => {
    const h = await open()
    const { device, olga } = await withPasskey(h)
    const [first, second] = [new FormBrowser(h), new FormBrowser(h)]
    const page = (await first.open('/sign-in')).body
    const options = optionsIn(page)
    const fields = hiddenFields(String(page), '/sign-in/passkey')
    const response = await device.get(options)
    const theirs = hiddenFields(await second.read('/sign-in'), '/sign-in/passkey')
    const stolen = await second.send('/sign-in/passkey', { ...theirs, answer: response })
    expect([stolen.status, alertText(stolen)]).toEqual([
      400,
      expect.stringContaining('another browser'),
    ])
    expect((await first.send('/sign-in/passkey', { ...fields, answer: response })).status).toBe(303)
    await first.fill('/account', '/sign-out', {})
    const replay = async (more: string) =>
      (await first.send('/sign-in/passkey', { ...fields, answer: more })).status
    expect(await replay(response)).toBe(401)
    expect(await replay(await device.get(options))).toBe(400)
    expect(first.cookie()).toBeUndefined()
    // Challenges for adding and for signing in are not interchangeable.
    const adding = optionsIn((await olga.open('/account')).body)
    const late = await (await browserAt(h)).send(device, { challenge: challengeOf(adding) })
    expect(late.status).toBe(400)
    const slow = await browserAt(h)
    h.clock.advance(15 * minute)
    expect((await slow.send(device)).status).toBe(400)
  })

  test('accepts a challenge once under concurrency', async () => {
    const h = await open()
    const { device } = await withPasskey(h)
    const browser = new FormBrowser(h)
    const page = (await browser.open('/sign-in')).body
    const fields = hiddenFields(String(page), '/sign-in/passkey')
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => device.get(optionsIn(page), { counter: 0 })),
    )
    const sent = responses.map((response) =>
      browser.send('/sign-in/passkey', { ...fields, answer: response }),
    )
    const statuses = (await Promise.all(sent)).map(({ status }) => status).sort()
    expect(statuses).toEqual([303, 400, 400, 400, 400, 400])
  })

  test('sign_in_again: requires a fresh session and the same origin', async () => {
    const h = await open()
    const olga = await signUp(h, 'olga')
    const device = new Authenticator(origin)
    const page = await olga.read('/account')
    const response = await device.create(optionsIn(page))
    const fields = { ...hiddenFields(page, '/account/passkeys'), name: 'Laptop', answer: response }
    const before = await h.snapshot()
    const evil = { origin: 'https://evil.example' }
    expect((await olga.send('/account/passkeys', fields, evil)).status).toBe(403)
    expect((await olga.send('/account/passkeys', { ...fields, token: '' })).status).toBe(403)
    expect((await olga.send('/account/passkeys', { ...fields, name: ' ' })).status).toBe(400)
    expect((await olga.send('/account/passkeys', { ...fields, name: 'a\u0000' })).status).toBe(400)
    const wrong = await add(olga, new Authenticator('https://evil.example'))
    expect([wrong.status, alertText(wrong)]).toEqual([401, expect.stringContaining('another site')])
    expect((await add(olga, device, { verified: false })).status).toBe(401)
    h.clock.advance(15 * minute)
    const stale = await olga.send('/account/passkeys', fields)
    expect([stale.status, alertText(stale)]).toEqual([
      403,
      expect.stringContaining('Sign in again'),
    ])
    expect(String(stale.body)).not.toContain('data-options')
    expect(await h.snapshot()).toEqual(before)
    const again = { name: 'olga', password }
    await olga.fill('/sign-in?again=yes&next=%2Faccount', '/sign-in', again)
    expect((await add(olga, device)).status).toBe(303)
    expect(alertText(await add(olga, device))).toContain('already registered')
  })

  test('cross_site: rejects other origins, methods and repeated fields', async () => {
    const h = await open()
    const { device } = await withPasskey(h)
    const browser = new FormBrowser(h)
    const page = (await browser.open('/sign-in')).body
    const response = await device.get(optionsIn(page))
    const fields = { ...hiddenFields(String(page), '/sign-in/passkey'), answer: response }
    const send = async (sent: Record<string, string> | string, more = {}) =>
      (await browser.send('/sign-in/passkey', sent, more)).status
    expect(await send({ ...fields, token: '' })).toBe(403)
    expect(await send(fields, { origin: 'https://evil.example' })).toBe(403)
    expect(await send(fields, { 'sec-fetch-site': 'cross-site' })).toBe(403)
    const twice = `${new URLSearchParams(fields)}&answer=x`
    expect(await send(twice)).toBe(400)
    expect((await browser.open('/sign-in/passkey')).headers.get('location')).toBe('/sign-in')
    expect(await send({ ...fields, next: '//evil.example' })).toBe(303)
  })

  test('bad_request: allows at most 20 passkeys', async () => {
    const h = await open()
    const olga = await signUp(h, 'olga')
    for (let at = 0; at < 20; at += 1) {
      expect((await add(olga, new Authenticator(origin))).status).toBe(303)
    }
    expect((await add(olga, new Authenticator(origin))).status).toBe(400)
  })

  test('sign_in_locked: allows 60 wrong passkeys per hour and address', async () => {
    const h = await open()
    const { device } = await withPasskey(h)
    const browser = new FormBrowser(h, '198.51.100.66')
    const page = (await browser.open('/sign-in')).body
    const fields = { ...hiddenFields(String(page), '/sign-in/passkey'), answer: '{}' }
    for (let at = 0; at < 60; at += 1) await browser.send('/sign-in/passkey', fields)
    expect((await browser.send('/sign-in/passkey', fields)).status).toBe(429)
    expect((await enter(browser, device)).status).toBe(303)
    expect((await enter(new FormBrowser(h), device)).status).toBe(303)
  })

  test('is unavailable over plain HTTP and behind a proxy', async () => {
    for (const APP_URL of [
      'http://192.0.2.7:3000',
      'http://berth.example',
      'https://[2001:db8::1]',
    ]) {
      const h = await open({ APP_URL })
      expect(String((await new FormBrowser(h).open('/sign-in')).body)).not.toContain('passkey-form')
    }
    const h = await open({ APP_URL: 'https://berth.example:8443' })
    const options = JSON.parse(optionsIn((await new FormBrowser(h).open('/sign-in')).body))
    expect(options).toMatchObject({ rpId: 'berth.example', userVerification: 'required' })
    const proxied = await open({ PERSON_HEADER: 'Remote-User', TRUSTED_PROXIES: '10.0.0.1' })
    const sent = await new FormBrowser(proxied).send('/sign-in/passkey', { answer: '{}' })
    expect(sent.status).toBe(403)
  })
})

const challengeOf = (options: string): string => JSON.parse(options).challenge

/** Opens the sign-in page and submits the response of a device. */
async function browserAt(h: TestServer) {
  const browser = new FormBrowser(h)
  const page = (await browser.open('/sign-in')).body
  const fields = hiddenFields(String(page), '/sign-in/passkey')
  return {
    send: async (device: Authenticator, odd = {}) =>
      browser.send('/sign-in/passkey', {
        ...fields,
        answer: await device.get(optionsIn(page), odd),
      }),
  }
}
