/** Signing in with an identity provider, from the link to the errors of each step. */
import { afterEach, describe, expect, test } from 'bun:test'

import { listGroups } from '../../people/groups.ts'
import { operatorLink } from '../../people/people.ts'
import { type Claims, IdentityProvider } from '../../testing/fakes/identity-provider.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open(options = {}, settings = {}): Promise<{ t: TestServer; id: IdentityProvider }> {
  const id = new IdentityProvider(options)
  const t = await startTestServer({ ...id.settings, ...settings })
  closing.push(
    () => t.close(),
    () => id.close(),
  )
  return { t, id }
}

const ann: Claims = { sub: 'u-1', preferred_username: 'Ann.Sailor', email: 'ann@corp.example' }

/** Runs the redirect to the provider and back. */
async function enter(
  browser: FormBrowser,
  id: IdentityProvider,
  claims = ann,
  odd = {},
  next = '',
) {
  const left = await browser.open(`/sign-in/oidc${next && `?next=${encodeURIComponent(next)}`}`)
  expect(left.status).toBe(303)
  return browser.open(id.approve(left.headers.get('location'), claims, odd))
}

const nameIn = async (browser: FormBrowser): Promise<string | undefined> =>
  shownPage(await browser.read('/account')).names('heading')[0]

const linkIn = (page: TestResponse): string =>
  shownPage(page.body).hrefs.find((href) => href.startsWith('/sign-in/oidc?link=')) ?? ''

describe('signing in at a provider', () => {
  test('creates an account once and signs in to it later', async () => {
    const { t, id } = await open()
    const browser = new FormBrowser(t)
    expect(await browser.read('/sign-in')).toContain('Sign in with Harbour ID')
    expect(id.requestedPaths).toEqual([])
    const made = await enter(browser, id)
    const codes = String(made.body).match(/[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/g) ?? []
    expect([made.status, codes.length]).toEqual([200, 8])
    expect(await nameIn(browser)).toBe('ann.sailor')
    const other = new FormBrowser(t)
    const again = await enter(
      other,
      id,
      { sub: 'u-1', preferred_username: 'renamed' },
      {},
      '/wallet',
    )
    expect([again.status, again.headers.get('location')]).toEqual([303, '/wallet'])
    expect(await nameIn(other)).toBe('ann.sailor')
    expect(id.requestedPaths.filter((path) => path.endsWith('configuration'))).toHaveLength(1)
    // A recovery code sets a password when the provider is unavailable.
    const name = 'ann.sailor'
    const set = { name, code: codes[0] ?? '', password }
    expect((await new FormBrowser(t).fill('/recover', '/recover', set)).status).toBe(303)
    const by = await new FormBrowser(t).fill('/sign-in', '/sign-in', { name, password })
    expect(by.status).toBe(303)
  })

  test('takes the groups of each sign-in', async () => {
    const { t, id } = await open()
    const groupsAfter = async (groups?: unknown[]) => {
      await enter(new FormBrowser(t), id, { ...ann, ...(groups && { groups: groups.map(String) }) })
      return (await listGroups(t.ctx)).map(({ name, provided }) => [name, provided])
    }
    expect(await groupsAfter(['design', '/staff', '<b>'])).toEqual([
      ['/staff', 1],
      ['design', 1],
    ])
    expect(await groupsAfter(['design', 'design'])).toEqual([['design', 1]])
    expect(await groupsAfter()).toEqual([])
  })

  test('does not sign in to existing accounts by name or email', async () => {
    const { t, id } = await open()
    const olga = await signUp(t, 'ann@corp.example')
    const anne = await signUp(t, 'ann.sailor')
    const browser = new FormBrowser(t)
    expect((await enter(browser, id)).status).toBe(200)
    expect(await nameIn(browser)).toMatch(/^annsailor-[a-z0-9]{12}$/)
    for (const [one, name] of [
      [olga, 'ann@corp.example'],
      [anne, 'ann.sailor'],
    ] as const) {
      expect(await nameIn(one)).toBe(name)
    }
    const odd = new FormBrowser(t)
    await enter(odd, id, { sub: 'u-2', preferred_username: '<b>', email: 'x' })
    expect(await nameIn(odd)).toMatch(/^person-[a-z0-9]{12}$/)
    const mail = new FormBrowser(t)
    await enter(mail, id, { sub: 'u-3', email: 'cy@corp.example' })
    expect(await nameIn(mail)).toBe('cy@corp.example')
  })

  test('accepts provider sign-in on the operator’s link', async () => {
    const { t, id } = await open()
    const link = new URL((await operatorLink(t.ctx)) ?? '').pathname
    const browser = new FormBrowser(t)
    const page = await browser.show(link)
    expect(page.hrefs).toContain(`/sign-in/oidc?next=${encodeURIComponent(link)}`)
    const made = await enter(browser, id, ann, {}, link)
    expect(shownPage(made.body).hrefs).toContain(link)
    expect((await browser.fill(link, link, {})).status).toBe(303)
    expect(await browser.read('/account')).toContain('You are the operator')
  })

  test('reads the name from the user info endpoint', async () => {
    const { t, id } = await open({ userInfo: true })
    const browser = new FormBrowser(t)
    await enter(browser, id, { sub: 'bea' })
    expect(await nameIn(browser)).toBe('bea.told')
  })

  test('last_way_in, sign_in_again: changes sign-in methods without a password', async () => {
    const { t, id } = await open()
    const browser = new FormBrowser(t)
    await enter(browser, id)
    const page = await browser.read('/account')
    const remove = hiddenFields(page, '/account/identities').remove ?? ''
    expect(page).not.toContain('Current password')
    const unlink = () => browser.fill('/account', '/account/identities', { remove })
    const last = await unlink()
    expect([last.status, alertText(last)]).toEqual([
      409,
      expect.stringContaining('only way to sign in'),
    ])
    const codes = () => browser.fill('/account', '/account/codes', {})
    expect((await codes()).status).toBe(200)
    t.clock.advance(15 * 60_000)
    const set = (newPassword: string) =>
      browser.fill('/account', '/account/password', { wanted: newPassword })
    expect([(await codes()).status, (await set(password)).status]).toEqual([403, 403])
    await enter(browser, id)
    expect((await set('short')).status).toBe(400)
    expect((await set(password)).status).toBe(303)
    expect((await browser.open('/account')).status).toBe(200)
    expect((await set('another long password')).status).toBe(401)
    expect((await unlink()).status).toBe(303)
    const name = 'ann.sailor'
    const by = await new FormBrowser(t).fill('/sign-in', '/sign-in', { name, password })
    expect(by.status).toBe(303)
    // The identity now creates a new account.
    const other = new FormBrowser(t)
    await enter(other, id)
    expect(await nameIn(other)).toBe('ann@corp.example')
  })
})

describe('linking a provider', () => {
  test('deletes an account without a password after a fresh sign-in', async () => {
    const { t, id } = await open()
    const browser = new FormBrowser(t)
    await enter(browser, id)
    t.clock.advance(15 * 60_000)
    const leave = () => browser.fill('/account', '/account/leave', { sure: 'yes' })
    const late = await leave()
    expect([late.status, alertText(late)]).toEqual([403, expect.stringContaining('Sign in again')])
    expect((await enter(browser, id)).status).toBe(303)
    expect(String((await leave()).body)).toContain('Account deleted')
    const anew = await enter(browser, id)
    expect([anew.status, String(anew.body)]).toEqual([
      200,
      expect.stringContaining('Save your recovery'),
    ])
  })

  test('identity_taken: links an identity to one account, from its own session', async () => {
    const { t, id } = await open()
    const olga = await signUp(t, 'olga')
    const link = linkIn(await olga.open('/account'))
    const left = await olga.open(link)
    const back = id.approve(left.headers.get('location'), ann)
    expect((await olga.open(back)).headers.get('location')).toBe('/account')
    expect(shownPage(await olga.read('/account')).allByText('Ann.Sailor')).not.toEqual([])
    const other = new FormBrowser(t)
    await enter(other, id)
    expect(await nameIn(other)).toBe('olga')
    // The owner can link it again; other accounts cannot.
    expect(linkIn(await olga.open('/account'))).toBe('')
    const again = await olga.open(link)
    expect((await olga.open(id.approve(again.headers.get('location'), ann))).status).toBe(303)
    const cy = await signUp(t, 'cyrus')
    const taken = await cy.open(linkIn(await cy.open('/account')))
    const rejected = await cy.open(id.approve(taken.headers.get('location'), ann))
    expect([rejected.status, alertText(rejected)]).toEqual([
      409,
      expect.stringContaining('another account'),
    ])
    expect(shownPage(rejected.body).names('heading')).toContain('cyrus')
  })

  test('sign_in_stale, sign_in_again: rejects foreign, expired and other sessions’ links', async () => {
    const { t, id } = await open()
    const [olga, cy] = [await signUp(t, 'olga'), await signUp(t, 'cyrus')]
    const link = linkIn(await olga.open('/account'))
    for (const bad of [link.replace('.', 'x'), '/sign-in/oidc?link=', '/sign-in/oidc?link=%00']) {
      expect((await olga.open(bad)).status).toBe(400)
    }
    expect((await cy.open(link)).status).toBe(400)
    expect((await new FormBrowser(t).open(link)).status).toBe(400)
    const before = await t.snapshot()
    // Mallory starts the flow and makes Olga's browser finish it.
    const mallory = await signUp(t, 'mallory')
    const theirs = await mallory.open(linkIn(await mallory.open('/account')))
    const planted = id.approve(theirs.headers.get('location'), { sub: 'mallory' })
    const mine = await olga.open(linkIn(await olga.open('/account')))
    expect((await olga.open(planted)).status).toBe(400)
    // A sign-in flow cannot become a link flow, and a link flow ends with its session.
    const swapped = new FormBrowser(t)
    swapped.set('berth_trip', (olga.cookie('berth_trip') ?? '').replace('.link.', '.in.'))
    const back = id.approve(mine.headers.get('location'), ann)
    expect((await swapped.open(back)).status).toBe(400)
    const trip = olga.cookie('berth_trip') ?? ''
    await olga.fill('/account', '/sign-out', {})
    expect((await olga.open(back)).status).toBe(400)
    await olga.fill('/sign-in', '/sign-in', { name: 'olga', password })
    olga.set('berth_trip', trip)
    expect((await olga.open(back)).status).toBe(400)
    expect(await t.snapshot()).toMatchObject({
      identities: Reflect.get(Object(before), 'identities'),
    })
    const late = linkIn(await olga.open('/account'))
    t.clock.advance(14 * 60_000)
    expect((await olga.open(late)).status).toBe(303)
    t.clock.advance(60_000)
    expect((await olga.open(late)).status).toBe(400)
    expect(linkIn(await olga.open('/account'))).toBe('')
  })
})

describe('callback attacks', () => {
  test('sign_in_stale: rejects used, expired, forged and foreign states', async () => {
    const { t, id } = await open()
    const [eve, olga] = [new FormBrowser(t), new FormBrowser(t)]
    const left = await eve.open('/sign-in/oidc')
    const back = id.approve(left.headers.get('location'), { sub: 'eve' })
    // Login CSRF: Eve makes Olga's browser finish Eve's flow.
    for (const open of [false, true]) {
      if (open) await olga.open('/sign-in/oidc')
      const rejected = await olga.open(back)
      expect([rejected.status, olga.cookie()]).toEqual([400, undefined])
      expect(alertText(rejected)).toContain('another browser')
    }
    expect((await eve.open(back)).status).toBe(200)
    const used = eve.cookie()
    expect((await eve.open(back)).status).toBe(400)
    expect(eve.cookie()).toBe(used)
    const fresh = new FormBrowser(t)
    await fresh.open('/sign-in/oidc')
    for (const query of ['', '?state=', '?code=x&state=%00', `?state=${'x'.repeat(5_000)}`]) {
      expect((await fresh.open(`/sign-in/oidc/back${query}`)).status).toBe(400)
    }
    const slow = id.approve((await fresh.open('/sign-in/oidc')).headers.get('location'), ann)
    const twice = await fresh.open(`${slow}&state=x`)
    expect(twice.status).toBe(403)
    t.clock.advance(15 * 60_000)
    expect((await fresh.open(slow)).status).toBe(400)
    expect(fresh.cookie()).toBeUndefined()
  })

  test('no_provider: rejects invalid tokens and provider errors', async () => {
    const { t, id } = await open()
    const odds = [
      { issuer: 'https://evil.example' },
      { audience: 'other' },
      { seconds: -120 },
      { nonce: 'x' },
      { forged: true },
    ]
    const before = await t.snapshot()
    for (const odd of odds) {
      const rejected = await enter(new FormBrowser(t), id, ann, odd)
      expect([rejected.status, alertText(rejected)]).toEqual([
        403,
        expect.stringContaining('its response cannot be verified'),
      ])
    }
    expect(
      alertText(await enter(new FormBrowser(t), id, ann, { error: 'invalid_grant' })),
    ).toContain('invalid_grant')
    const browser = new FormBrowser(t)
    const left = new URL((await browser.open('/sign-in/oidc')).headers.get('location') ?? '')
    const state = left.searchParams.get('state') ?? ''
    const query = new URLSearchParams({ state, error: 'access_denied', error_description: '<b>' })
    const denied = await browser.open(`/sign-in/oidc/back?${query}`)
    expect([denied.status, alertText(denied)]).toEqual([
      403,
      expect.stringContaining('access_denied'),
    ])
    expect(String(denied.body)).not.toContain('<b>')
    const now = await t.snapshot()
    for (const table of ['people', 'sessions', 'identities']) {
      expect(Reflect.get(Object(now), table)).toEqual(Reflect.get(Object(before), table))
    }
  })

  test('redirects only to its own pages', async () => {
    const { t, id } = await open()
    await enter(new FormBrowser(t), id)
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/api/on']) {
      const browser = new FormBrowser(t)
      expect((await enter(browser, id, ann, {}, next)).headers.get('location')).toBe('/agents')
      const left = await browser.open('/sign-in/oidc?next=%2Fwallet')
      const [secret] = (browser.cookie('berth_trip') ?? '').split('.')
      const evil = Buffer.from(next).toString('base64url')
      browser.set('berth_trip', `${secret}.in.${evil}`)
      const back = id.approve(left.headers.get('location'), ann)
      expect((await browser.open(back)).status).toBe(400)
    }
  })

  test('starts a new session and ends the previous one', async () => {
    const { t, id } = await open()
    await enter(new FormBrowser(t), id)
    const browser = new FormBrowser(t)
    browser.set('berth', 'a'.repeat(40))
    await enter(browser, id)
    const first = browser.cookie() ?? ''
    expect(first).not.toBe('a'.repeat(40))
    await enter(browser, id)
    expect(browser.cookie()).not.toBe(first)
    browser.set('berth', first)
    expect((await browser.open('/account')).status).toBe(303)
  })

  test('sign_in_locked: allows 60 failures per hour and address', async () => {
    const { t, id } = await open()
    const browser = new FormBrowser(t, '198.51.100.66')
    await browser.open('/sign-in/oidc')
    for (let at = 0; at < 60; at += 1) await browser.open('/sign-in/oidc/back?state=x')
    const locked = await enter(browser, id)
    expect([locked.status, Number(locked.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await enter(new FormBrowser(t), id)).status).toBe(200)
  })

  test('ignores cookies that a sibling host plants', async () => {
    const { t, id } = await open({}, { APP_URL: 'https://berth.example' })
    const left = await t.request('GET', '/sign-in/oidc')
    const [cookie = ''] = left.headers.getSetCookie()[0]?.split(';') ?? []
    const path = id.approve(left.headers.get('location'), ann)
    const back = (planted: string) => t.request('GET', path, { headers: { cookie: planted } })
    // Browsers accept cookies with this prefix from this host only.
    expect((await back(cookie.replace('__Host-', ''))).status).toBe(400)
    expect((await back(cookie)).status).toBe(200)
  })

  test('binds the state cookie to this host', async () => {
    const { t } = await open({}, { APP_URL: 'https://berth.example' })
    const left = await t.request('GET', '/sign-in/oidc')
    expect(left.headers.getSetCookie()[0]).toMatch(
      /^__Host-berth_trip=[A-Za-z0-9]{40}\.in\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900; Secure$/,
    )
    const { searchParams } = new URL(left.headers.get('location') ?? '')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'berth',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      state: expect.any(String),
      redirect_uri: 'https://berth.example/sign-in/oidc/back',
    })
  })
})

describe('unavailable provider', () => {
  test('provider_silent: shows an error, keeps passwords working and retries later', async () => {
    const { t, id } = await open()
    id.turn('off')
    const browser = await signUp(t, 'olga')
    await browser.fill('/account', '/sign-out', {})
    const silent = await browser.open('/sign-in/oidc')
    expect([silent.status, alertText(silent)]).toEqual([503, expect.stringContaining('Try again')])
    shownPage(silent.body).byLabel('Password')
    const requestCount = id.requestedPaths.length
    expect((await browser.open('/sign-in/oidc')).status).toBe(503)
    expect(id.requestedPaths).toHaveLength(requestCount)
    expect((await browser.fill('/sign-in', '/sign-in', { name: 'olga', password })).status).toBe(
      303,
    )
    id.turn('on')
    t.clock.advance(6_000)
    const other = new FormBrowser(t)
    const left = await other.open('/sign-in/oidc')
    expect(left.status).toBe(303)
    id.turn('off')
    expect((await other.open(id.approve(left.headers.get('location'), ann))).status).toBe(503)
    await id.close()
    expect((await enter(new FormBrowser(t), id)).status).toBe(503)
  })
})
