import { describe, expect, test } from 'bun:test'

import { hasUsed } from '../apps/explore/uses.ts'
import { balanceOf } from '../money/ledger/ledger.ts'
import { listAudit } from '../people/audit/audit.ts'
import { walletOf } from '../people/people.ts'
import { admin } from '../server/operator/admin.ts'
import { startForEachTest } from '../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  signInOperator,
  signUp,
} from '../testing/fixtures/form-browser.ts'
import { fund, getPerson, password } from '../testing/fixtures/people.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import type { TestServer } from '../testing/fixtures/test-server.ts'

const start = startForEachTest()

/** Signs Bea in with 5 USD, an agent, a personal key and a wallet key. */
async function open() {
  const t = await start()
  const [ann, bea] = [await t.agent('ann'), await signUp(t, 'bea')]
  await claimAgent(bea, ann)
  const person = await getPerson(t, 'bea')
  await fund(t.ctx, person, 5n)
  const own = await bea.fill('/account', '/account/keys', { name: 'script' })
  const wallet = await bea.fill('/wallet', '/wallet/keys', { name: 'laptop' })
  const keys = { personal: keyIn(own.body, 'pk'), gateway: keyIn(wallet.body, 'gk') }
  return { t, ann, bea, person, keys }
}

const keyIn = (body: unknown, kind: string): string =>
  new RegExp(`${kind}_[A-Za-z0-9]{40}`).exec(String(body))?.[0] ?? ''

/** Calls both APIs with a personal key and a wallet key. */
const answered = async (t: TestServer, keys: Awaited<ReturnType<typeof open>>['keys']) => [
  (await t.call('GET', '/people/me', { key: keys.personal })).status,
  (await t.request('POST', '/credits/balance', { key: keys.gateway })).status,
]

const signIn = (t: TestServer) =>
  new FormBrowser(t).fill('/sign-in', '/sign-in', { name: 'bea', password })

describe('deleting an account', () => {
  const leave = (browser: FormBrowser, values: Record<string, string>) =>
    browser.fill('/account', '/account/leave', values)

  test('forgets the apps that the person opened', async () => {
    const { t, ann, bea, person } = await open()
    const id = await ann.publish()
    const used = () => hasUsed(t.ctx.db.read, { id: 'A'.repeat(12), owner: person.id }, id)
    expect(await used()).toBe(false)
    await bea.open(`/a/${id}`)
    expect(await used()).toBe(true)
    await leave(bea, { password })
    expect(await used()).toBe(false)
  })

  test('shows the wallet balance, ends all access and releases the agents', async () => {
    const { t, ann, bea, person, keys } = await open()
    const other = new FormBrowser(t)
    await other.fill('/sign-in', '/sign-in', { name: 'bea', password })
    expect((await bea.show('/account')).text).toContain(
      'Your wallet has 5,000 credits. Send them to an agent first',
    )
    const before = await balanceOf(t.ctx, walletOf(person))
    const done = await leave(bea, { password })
    expect([done.status, shownPage(done.body).names('heading')]).toEqual([200, ['Account deleted']])
    for (const browser of [bea, other]) {
      expect((await browser.open('/account')).headers.get('location')).toStartWith('/sign-in')
    }
    expect(await answered(t, keys)).toEqual([401, 401])
    expect((await signIn(t)).status).toBe(401)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: false, credits: 400 })
    expect(await balanceOf(t.ctx, walletOf(person))).toEqual(before)
    expect(await listAudit(t.ctx, 9, 'bea')).toMatchObject([{ by: 'bea', did: 'leave' }])

    const again = await signUp(t, 'bea')
    expect((await again.show('/wallet')).text).toMatch(/Wallet \S+ Model gateway and playground 0 /)
    await claimAgent(again, ann)
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true })
  })

  test('requires the password and keeps the operator’s account', async () => {
    const { t, bea, keys } = await open()
    const [olga, kept] = [await signInOperator(t), await getPerson(t, 'bea')]
    expect((await leave(bea, { password: 'wrong password' })).status).toBe(401)
    expect(await getPerson(t, 'bea')).toEqual(kept)
    expect(await answered(t, keys)).toEqual([200, 200])
    const account = await olga.show('/account')
    const { token = '' } = account.form('/account/password').hiddenFields
    expect(account.forms('/account/leave')).toEqual([])
    const rejected = await olga.send('/account/leave', { token, password })
    expect([rejected.status, alertText(rejected)]).toEqual([
      400,
      'The account of the operator cannot be deleted. Make another person the operator first.',
    ])
  })

  test('leaves nothing behind when it races with claims and new keys', async () => {
    const { t, bea } = await open()
    const cy = await t.agent('cy')
    const code = (await cy.call('POST', '/me/claim')).text('claim.code')
    const other = new FormBrowser(t)
    await other.fill('/sign-in', '/sign-in', { name: 'bea', password })
    const [, , made] = await Promise.all([
      leave(bea, { password }),
      other.fill(`/claim/${code}`, `/claim/${code}`, {}),
      other.fill('/wallet', '/wallet/keys', { name: 'late' }),
    ])
    expect((await cy.call('GET', '/me')).body).toMatchObject({ claimed: false })
    const key = keyIn(made.body, 'gk')
    expect((await t.request('POST', '/credits/balance', { key })).status).toBe(401)
  })
})

describe('account_suspended', () => {
  test('signs a person out with the reason; their agents keep running', async () => {
    const { t, ann, bea, keys } = await open()
    const olga = await signInOperator(t)
    const path = '/console/people/bea'
    const decide = (decision: string, why = '') => olga.fill(path, path, { decision, why })
    expect((await decide('suspend')).status).toBe(400)
    expect((await decide('pause', 'spam')).status).toBe(404)
    expect((await decide('suspend', 'spam <b>')).status).toBe(303)
    expect(shownPage(await olga.read(path)).text).toMatch(
      /Suspended 4 May 2026, 12:00 UTC: spam <b>/,
    )
    expect((await bea.open('/account')).headers.get('location')).toStartWith('/sign-in')
    const signInPage = await signIn(t)
    expect([signInPage.status, alertText(signInPage)]).toEqual([
      403,
      'The operator suspended this account: spam <b>. Contact the operator.',
    ])
    expect(await answered(t, keys)).toEqual([403, 401])
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true })

    expect((await decide('unsuspend')).status).toBe(303)
    expect((await signIn(t)).status).toBe(303)
    expect(await answered(t, keys)).toEqual([200, 200])
    const decided = await listAudit(t.ctx, 9, 'bea')
    expect(decided.map(({ by, did }) => `${by} ${did}`).sort()).toEqual([
      'olga suspend',
      'olga unsuspend',
    ])
  })

  test('suspends from the command line, except the operator, and behind a proxy', async () => {
    const { t } = await open()
    await signInOperator(t)
    for (const [words, ok] of [
      [['suspend', 'bea', 'spam'], true],
      [['suspend', 'bea', 'spam'], false],
      [['unsuspend', 'bea'], true],
      [['suspend', 'olga', 'spam'], false],
      [['suspend', 'nobody', 'spam'], false],
      [['suspend', 'bea'], false],
    ] as const) {
      expect([words, (await admin(t.ctx, [...words])).ok]).toEqual([words, ok])
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
