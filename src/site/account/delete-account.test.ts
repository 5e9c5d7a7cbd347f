import { describe, expect, test } from 'bun:test'

import { hasUsed } from '../../apps/explore/uses.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { findByName, type Person, walletOf } from '../../people/people.ts'
import { admin } from '../../server/operator/admin.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { fund, password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const start = startForEachTest()

const text = (response: { body: unknown }): string => String(response.body).replaceAll(/\s+/g, ' ')

/** Signs Bea in with 5 USD, an agent, a personal key and a wallet key. */
async function open() {
  const h = await start()
  const [ann, bea] = [await h.agent('ann'), await signUp(h, 'bea')]
  await claimAgent(bea, ann)
  const person = await thePerson(h, 'bea')
  await fund(h.ctx, person, 5n)
  const own = await bea.fill('/account', '/account/keys', { name: 'script' })
  const wallet = await bea.fill('/wallet', '/wallet/keys', { name: 'laptop' })
  const keys = { personal: keyIn(own.body, 'pk'), gateway: keyIn(wallet.body, 'gk') }
  return { h, ann, bea, person, keys }
}

const keyIn = (body: unknown, kind: string): string =>
  new RegExp(`${kind}_[A-Za-z0-9]{40}`).exec(String(body))?.[0] ?? ''

async function thePerson(h: TestServer, name: string): Promise<Person> {
  const person = await findByName(h.ctx, name)
  if (!person) throw new Error(`nobody is ${name}`)
  return person
}

/** Calls both APIs with a personal key and a wallet key. */
const answered = async (h: TestServer, keys: Awaited<ReturnType<typeof open>>['keys']) => [
  (await h.call('GET', '/people/me', { key: keys.personal })).status,
  (await h.request('POST', '/credits/balance', { key: keys.gateway })).status,
]

const signIn = (h: TestServer) =>
  new FormBrowser(h).fill('/sign-in', '/sign-in', { name: 'bea', password })

describe('deleting an account', () => {
  const leave = (browser: FormBrowser, values: Record<string, string>) =>
    browser.fill('/account', '/account/leave', values)

  test('forgets the apps that the person opened', async () => {
    const { h, ann, bea, person } = await open()
    const id = await ann.publish()
    const used = () => hasUsed(h.ctx.db.read, { id: 'A'.repeat(12), owner: person.id }, id)
    expect(await used()).toBe(false)
    await bea.open(`/a/${id}`)
    expect(await used()).toBe(true)
    await leave(bea, { password })
    expect(await used()).toBe(false)
  })

  test('shows the wallet balance, ends all access and releases the agents', async () => {
    const { h, ann, bea, person, keys } = await open()
    const other = new FormBrowser(h)
    await other.fill('/sign-in', '/sign-in', { name: 'bea', password })
    expect(text(await bea.open('/account'))).toContain(
      'Your wallet has <strong>5,000 credits</strong>. Send them to an agent first',
    )
    const before = await balanceOf(h.ctx, walletOf(person))
    const done = await leave(bea, { password })
    expect([done.status, text(done)]).toEqual([200, expect.stringContaining('Account deleted')])
    for (const browser of [bea, other]) {
      expect((await browser.open('/account')).headers.get('location')).toStartWith('/sign-in')
    }
    expect(await answered(h, keys)).toEqual([401, 401])
    expect((await signIn(h)).status).toBe(401)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: false, credits: 400 })
    expect(await balanceOf(h.ctx, walletOf(person))).toEqual(before)
    expect(await listAudit(h.ctx, 9, 'bea')).toMatchObject([{ by: 'bea', did: 'leave' }])

    const again = await signUp(h, 'bea')
    expect(text(await again.open('/wallet'))).toMatch(
      /class="balance-amount"> ?<span class="money"[^>]*>0</,
    )
    await claimAgent(again, ann)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true })
  })

  test('requires the password and keeps the operator’s account', async () => {
    const { h, bea, keys } = await open()
    const [olga, kept] = [await signInOperator(h), await thePerson(h, 'bea')]
    expect((await leave(bea, { password: 'wrong password' })).status).toBe(401)
    expect(await thePerson(h, 'bea')).toEqual(kept)
    expect(await answered(h, keys)).toEqual([200, 200])
    const token = /name="token" value="([^"]+)"/.exec(text(await olga.open('/account')))?.[1] ?? ''
    expect(text(await olga.open('/account'))).not.toContain('/account/leave')
    const rejected = await olga.send('/account/leave', { token, password })
    expect([rejected.status, alertText(rejected)]).toEqual([
      400,
      'The account of the operator cannot be deleted.',
    ])
  })

  test('leaves nothing behind when it races with claims and new keys', async () => {
    const { h, bea } = await open()
    const cy = await h.agent('cy')
    const code = (await cy.call('POST', '/me/claim')).text('claim.code')
    const other = new FormBrowser(h)
    await other.fill('/sign-in', '/sign-in', { name: 'bea', password })
    const [, , made] = await Promise.all([
      leave(bea, { password }),
      other.fill(`/claim/${code}`, `/claim/${code}`, {}),
      other.fill('/wallet', '/wallet/keys', { name: 'late' }),
    ])
    expect((await cy.call('GET', '/me')).body).toMatchObject({ claimed: false })
    const key = keyIn(made.body, 'gk')
    expect((await h.request('POST', '/credits/balance', { key })).status).toBe(401)
  })
})

describe('account_suspended', () => {
  test('signs a person out with the reason; their agents keep running', async () => {
    const { h, ann, bea, keys } = await open()
    const olga = await signInOperator(h)
    const path = '/console/people/bea'
    const decide = (decision: string, why = '') => olga.fill(path, path, { decision, why })
    expect((await decide('suspend')).status).toBe(400)
    expect((await decide('pause', 'spam')).status).toBe(404)
    expect((await decide('suspend', 'spam <b>')).status).toBe(303)
    expect(shownPage(await olga.read(path)).text).toMatch(/Suspended since .*spam <b>/)
    expect((await bea.open('/account')).headers.get('location')).toStartWith('/sign-in')
    const signInPage = await signIn(h)
    expect([signInPage.status, alertText(signInPage)]).toEqual([
      403,
      'The operator suspended this account: spam &lt;b&gt;. Contact the operator.',
    ])
    expect(await answered(h, keys)).toEqual([403, 401])
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true })

    expect((await decide('unsuspend')).status).toBe(303)
    expect((await signIn(h)).status).toBe(303)
    expect(await answered(h, keys)).toEqual([200, 200])
    const decided = await listAudit(h.ctx, 9, 'bea')
    expect(decided.map(({ by, did }) => `${by} ${did}`).sort()).toEqual([
      'olga suspend',
      'olga unsuspend',
    ])
  })

  test('suspends from the command line, except the operator, and behind a proxy', async () => {
    const { h } = await open()
    await signInOperator(h)
    for (const [words, ok] of [
      [['suspend', 'bea', 'spam'], true],
      [['suspend', 'bea', 'spam'], false],
      [['unsuspend', 'bea'], true],
      [['suspend', 'olga', 'spam'], false],
      [['suspend', 'nobody', 'spam'], false],
      [['suspend', 'bea'], false],
    ] as const) {
      expect([words, (await admin(h.ctx, [...words])).ok]).toEqual([words, ok])
    }
    const proxy = '10.0.0.1'
    const proxied = await start({ PERSON_HEADER: 'Remote-User', TRUSTED_PROXIES: proxy })
    const sent = { from: proxy, headers: { 'remote-user': 'bea' } }
    const openAccount = () => proxied.request('GET', '/account', sent)
    expect((await openAccount()).status).toBe(200)
    await admin(proxied.ctx, ['suspend', 'bea', 'spam'])
    expect((await openAccount()).status).toBe(403)
  })
})
