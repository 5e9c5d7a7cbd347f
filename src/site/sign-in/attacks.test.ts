import { describe, expect, spyOn, test } from 'bun:test'

import { operatorLink } from '../../people/people.ts'
import { formToken } from '../../people/session-user.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  formType,
  hiddenFields,
  origin,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { pauseMethod } from '../../testing/pause-method.ts'

const open = startForEachTest()

/** These tests hash many passwords, which is slow. */
const hashesMs = 60_000

/** Reads the cost parameters before the salt of a hash. */
const costOf = (hash: string): string => hash.split('$').slice(0, 4).join('$')

describe('attacks', () => {
  test('bad_sign_in: one message for a wrong name and a wrong password, after one hash', async () => {
    const t = await open()
    await signUp(t, 'olga')
    const verify = spyOn(Bun.password, 'verify')
    const pages = new Set<string>()
    const hashes: string[] = []
    for (const name of ['olga', 'nobody', 'a b']) {
      const browser = new FormBrowser(t)
      const fields = hiddenFields(await browser.read('/sign-in'), '/sign-in')
      verify.mockClear()
      const response = await browser.send('/sign-in', {
        ...fields,
        name,
        password: 'wrong password',
      })
      // The hash dominates the response time, so that timing reveals nothing. It has a small part
      // of the memory in tests: 8 of 19,456 KiB (src/testing/cheap-hashes.ts).
      hashes.push(...verify.mock.calls.map(([, hash]) => costOf(String(hash))))
      expect(response.status).toBe(401)
      pages.add(alertText(response))
      const text = String(response.body).replaceAll(/(value|data-options)="[^"]*"/g, '')
      pages.add(text)
    }
    verify.mockRestore()
    expect(pages.size).toBe(2)
    expect(hashes).toEqual(Array<string>(3).fill('$argon2id$v=19$m=8,t=2,p=1'))
  })

  test('sign_in_locked: brute force by name and address, one at a time or at once', async () => {
    const t = await open()
    await signUp(t, 'olga')
    const cy = new FormBrowser(t, '198.51.100.66')
    const fields = hiddenFields(await cy.read('/sign-in'), '/sign-in')
    const guess = (secret: string) =>
      cy.send('/sign-in', { ...fields, name: 'olga', password: secret })
    const all = await Promise.all(Array.from({ length: 14 }, (_, at) => guess(`guess ${at} of it`)))
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(4).fill(429)])
    const locked = await guess(password)
    expect(locked.status).toBe(429)
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(
      (await new FormBrowser(t).fill('/sign-in', '/sign-in', { name: 'olga', password })).status,
    ).toBe(303)
    t.clock.advance(30 * 60_000)
    expect((await guess(password)).status).toBe(303)
    const eve = new FormBrowser(t, '198.51.100.66')
    const empty = hiddenFields(await eve.read('/sign-up'), '/sign-up')
    for (let at = 0; at < 31; at += 1)
      await eve.send('/sign-up', { ...empty, name: '', password: '' })
    const many = await new FormBrowser(t, '198.51.100.66').fill('/sign-up', '/sign-up', {
      name: 'bea',
      password,
    })
    expect(many.status).toBe(429)
  })

  test('cross_site: rejects missing and foreign tokens, other origins and GET', async () => {
    const t = await open()
    const [olga, cy] = [await signUp(t, 'olga'), await signUp(t, 'cyrus')]
    const token = hiddenFields(await cy.read('/account'), '/account/keys').token ?? ''
    const own = hiddenFields(await olga.read('/account'), '/account/keys').token ?? ''
    const before = await t.snapshot()
    const tries = [
      await olga.send('/account/keys', { name: 'mine' }),
      await olga.send('/account/keys', { name: 'mine', token: '' }),
      await olga.send('/account/keys', { name: 'mine', token }),
      await olga.send(
        '/account/keys',
        { name: 'mine', token: own },
        { origin: 'https://evil.example' },
      ),
      await olga.send('/account/keys', { name: 'mine', token: own }, { origin: 'null' }),
      await olga.send(
        '/account/keys',
        { name: 'mine', token: own },
        { 'sec-fetch-site': 'cross-site' },
      ),
      await olga.send(
        '/account/keys',
        { name: 'mine', token: own },
        { 'sec-fetch-site': 'same-site' },
      ),
      await olga.send('/sign-out', { token }),
      await new FormBrowser(t).send('/sign-in', { name: 'olga', password }),
    ]
    expect(tries.map(({ status }) => status)).toEqual(Array<number>(tries.length).fill(403))
    const json = { cookie: `berth=${olga.cookie()}`, origin: 'https://evil.example' }
    const claim = { body: { code: 'AAAA-AAAA-AAAA' }, headers: json }
    expect((await t.call('POST', '/claim', claim)).code).toBe('cross_site')
    for (const path of ['/sign-out', '/account/keys', '/wallet/keys', '/agents/ann/release']) {
      // GET only opens the page of the form.
      expect((await olga.open(path)).status).toBe(303)
    }
    expect(await t.snapshot()).toEqual(before)
    expect((await olga.send('/account/keys', { name: 'mine', token: own })).status).toBe(200)
  })

  test(
    'redirects only to pages of this server',
    async () => {
      const t = await open()
      await signUp(t, 'olga')
      const bad = [
        '//evil.example',
        'https://evil.example',
        '/\\evil.example',
        '/%2f/evil',
        'javascript:1',
      ]
      for (const next of [
        ...bad,
        '/account/..//evil.example',
        '/account?a\r\nX: y',
        '/account?\u2028',
        '/account\r\nX: y',
        '/api/on',
      ]) {
        const browser = new FormBrowser(t)
        const page = `/sign-in?next=${encodeURIComponent(next)}`
        const first = await browser.fill(page, '/sign-in', { name: 'olga', password })
        expect(first.headers.get('location')).toBe('/agents')
        expect((await browser.open(page)).headers.get('location')).toBe('/agents')
        const other = new FormBrowser(t)
        const sent = await other.fill('/sign-in', '/sign-in', { name: 'olga', password, next })
        expect(sent.headers.get('location')).toBe('/agents')
      }
      const good = await new FormBrowser(t).fill(
        '/sign-in?next=%2Fclaim%2FAAAA-BBBB-CCCC',
        '/sign-in',
        {
          name: 'olga',
          password,
        },
      )
      expect(good.headers.get('location')).toBe('/claim/AAAA-BBBB-CCCC')
    },
    hashesMs,
  )

  test('rejects large, repeated, excessive and malformed form data', async () => {
    const t = await open()
    const olga = await signUp(t, 'olga')
    const token = hiddenFields(await olga.read('/account'), '/account/keys').token ?? ''
    const before = await t.snapshot()
    const send = async (body: string, type = formType) =>
      (await olga.send('/account/keys', body, type)).status
    expect(await send(`token=${token}&name=${'x'.repeat(20_000)}`)).toBe(413)
    expect(await send(`token=${token}&name=a&name=b`)).toBe(400)
    expect(await send(`token=${token}&token=${token}`)).toBe(400)
    expect(
      await send(`token=${token}&${Array.from({ length: 30 }, (_, n) => `f${n}=1`).join('&')}`),
    ).toBe(400)
    expect(await send(JSON.stringify({ token }), { 'content-type': 'application/json' })).toBe(400)
    expect(await send(`token=${token}&name=${'x'.repeat(81)}`)).toBe(400)
    expect(await send(`token=${token}&name=%00`)).toBe(400)
    expect(await send(`token=${token}&revoke=%00`)).toBe(404)
    for (const id of ['%00', 'AAAAAAAAAAAA']) {
      const gone = await olga.send('/account/sessions', `token=${token}&id=${id}`)
      expect(gone.status).toBe(404)
    }
    for (const odd of ['%00', '%ff', '..']) {
      expect((await olga.open(`/agents/a${odd}`)).status).toBe(404)
      expect((await olga.open(`/claim/a${odd}`)).status).toBe(404)
      expect((await olga.open(`/welcome/a${odd}`)).status).toBe(404)
    }
    expect(await t.snapshot()).toEqual(before)
  })

  test('denies framing, caching and foreign scripts on private pages', async () => {
    const t = await open()
    const olga = await signUp(t, 'olga')
    for (const path of ['/account', '/agents', '/wallet', '/sign-in', '/recover']) {
      const { headers } = await (
        path.startsWith('/s') || path.startsWith('/r') ? new FormBrowser(t) : olga
      ).open(path)
      const csp = headers.get('content-security-policy') ?? ''
      expect(csp).toContain("frame-ancestors 'none'")
      expect(csp).toContain("default-src 'none'")
      expect(csp).not.toContain('unsafe')
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })

  test('trusts only the proxy to identify people', async () => {
    const settings = { PERSON_HEADER: 'Remote-User', TRUSTED_PROXIES: '10.0.0.1' }
    const t = await open(settings)
    const says = (from: string, name = 'olga@corp.example') =>
      t.request('GET', '/account', { from, headers: { 'remote-user': name } })
    expect((await says('203.0.113.5')).status).toBe(303)
    expect((await t.request('GET', '/account', { from: '10.0.0.1' })).status).toBe(303)
    const spoofed = { 'remote-user': 'olga', 'x-forwarded-for': '10.0.0.1' }
    expect(
      (await t.request('GET', '/account', { from: '203.0.113.5', headers: spoofed })).status,
    ).toBe(303)
    expect((await says('10.0.0.1', '<b>')).status).toBe(303)
    const page = await says('10.0.0.1')
    expect(page.status).toBe(200)
    expect(String(page.body)).toContain('olga@corp.example')
    expect((await says('10.0.0.1')).status).toBe(200)
    const me = { from: '10.0.0.1', headers: { 'remote-user': 'olga@corp.example' } }
    expect((await t.call('GET', '/people/me', me)).body).toMatchObject({
      name: 'olga@corp.example',
    })
    const { token = '' } = hiddenFields(String(page.body), '/account/keys')
    const keys = (from: string) =>
      t.request('POST', '/account/keys', {
        from,
        body: new URLSearchParams({ token }).toString(),
        headers: { ...formType, origin, 'remote-user': 'olga@corp.example' },
      })
    expect((await keys('10.0.0.1')).status).toBe(200)
    expect((await keys('203.0.113.5')).status).toBe(303)
    const cy = new FormBrowser(t)
    expect((await cy.send('/sign-up', { name: 'cyrus', password })).status).toBe(403)
    expect(await cy.read('/sign-in')).not.toContain('type="password"')
  })

  test('does not consume the operator’s link outside the proxy', async () => {
    const t = await open({ PERSON_HEADER: 'Remote-User', TRUSTED_PROXIES: '10.0.0.1' })
    const link = new URL((await operatorLink(t.ctx)) ?? '').pathname
    const olga = { from: '10.0.0.1', headers: { 'remote-user': 'olga' } }
    const { token = '' } = hiddenFields(String((await t.request('GET', link, olga)).body), link)
    const cy = new FormBrowser(t)
    expect(await cy.read(link)).not.toContain('type="password"')
    const guest = formToken(t.ctx, `guest ${cy.cookie('berth_form')}`)
    expect((await cy.send(link, { token: guest, name: 'cyrus', password })).status).toBe(403)
    const body = new URLSearchParams({ token }).toString()
    const headers = { ...formType, origin, ...olga.headers }
    expect((await t.request('POST', link, { from: '10.0.0.1', body, headers })).status).toBe(303)
    expect((await t.request('GET', '/console', olga)).status).toBe(200)
  })
})

describe('bad_sign_in: an old password during a password change', () => {
  const stolen = { name: 'olga', password }
  const owners = 'only olga knows this'

  /** Recovers Olga's account while a thief's request waits for its password check. */
  async function recovered(
    send: (thief: FormBrowser, token: string) => ReturnType<FormBrowser['send']>,
  ) {
    const t = await open()
    const made = await new FormBrowser(t).fill('/sign-up', '/sign-up', stolen)
    const [code = ''] = /[0-9A-Z]{4}(-[0-9A-Z]{4}){2}/.exec(String(made.body)) ?? []
    const thief = new FormBrowser(t, '198.51.100.66')
    await thief.fill('/sign-in', '/sign-in', stolen)
    const { token = '' } = hiddenFields(await thief.read('/account'), '/account/password')
    const verify = spyOn(Bun.password, 'verify')
    const look = pauseMethod(Bun.password, 'verify')
    const sent = send(thief, token)
    await look.begun
    const own = new FormBrowser(t)
    const back = await own.fill('/recover', '/recover', { name: 'olga', code, password: owners })
    look.go()
    const response = await sent
    verify.mockRestore()
    expect([back.status, response.status]).toEqual([303, 401])
    expect([(await own.open('/account')).status, (await thief.open('/account')).status]).toEqual([
      200, 303,
    ])
    const again = await new FormBrowser(t).fill('/sign-in', '/sign-in', {
      name: 'olga',
      password: owners,
    })
    expect(again.status).toBe(303)
    return t
  }

  test('does not sign in', async () => {
    await recovered((thief) => thief.fill('/sign-in?again', '/sign-in', stolen))
  })

  for (const [what, path, more] of [
    ['sets no other password', '/account/password', { wanted: 'the thief knows this' }],
    ['makes no recovery codes', '/account/codes', {}],
    ['deletes nothing', '/account/leave', { sure: 'yes' }],
  ] as const) {
    test(what, async () => {
      await recovered((thief, token) => thief.send(path, { token, password, ...more }))
    })
  }

  test('loses against the first of two password changes', async () => {
    const t = await open()
    const olga = await signUp(t, 'olga')
    const other = new FormBrowser(t)
    await other.fill('/sign-in', '/sign-in', stolen)
    const change = (from: FormBrowser, newPassword: string) =>
      from.fill('/account', '/account/password', { password, wanted: newPassword })
    const both = await Promise.all([change(olga, owners), change(other, 'another of olga')])
    expect(both.map(({ status }) => status).sort()).toEqual([303, 401])
  })
})
