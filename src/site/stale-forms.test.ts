import { afterEach, beforeEach, expect, test } from 'bun:test'

import {
  alertText,
  claimAgent,
  FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../testing/fixtures/form-browser.ts'
import { password } from '../testing/fixtures/people.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer
beforeEach(async () => {
  t = await startTestServer()
})
afterEach(() => t.close())

const where = ({ status, headers }: Response | { status: number; headers: Headers }) => [
  status,
  headers.get('location'),
]

test('continues in a second tab after a sign-in, and asks again for another account', async () => {
  await signUp(t, 'olga')
  await signUp(t, 'bea')
  const tabs = new FormBrowser(t)
  const page = await tabs.read('/sign-in?next=/wallet')
  const typed = { ...hiddenFields(page, '/sign-in'), password }
  expect((await tabs.fill('/sign-in', '/sign-in', { name: 'olga', password })).status).toBe(303)
  const before = await t.snapshot()
  expect(where(await tabs.send('/sign-in', { ...typed, name: ' Olga' }))).toEqual([303, '/wallet'])
  const other = await tabs.send('/sign-in', { ...typed, name: 'bea' })
  expect([other.status, alertText(other)]).toEqual([
    403,
    expect.stringContaining('submit it again'),
  ])
  expect(shownPage(other.body).byLabel('Username or email').value).toBe('bea')
  expect(await t.snapshot()).toEqual(before)
  const again = { ...hiddenFields(String(other.body), '/sign-in'), name: 'bea', password }
  expect(where(await tabs.send('/sign-in', again))).toEqual([303, '/wallet'])
  expect(shownPage(await tabs.read('/account')).names('heading')).toContain('bea')
})

test('does not show recovery codes again after a reload', async () => {
  const bea = new FormBrowser(t)
  const joining = {
    ...hiddenFields(await bea.read('/sign-up'), '/sign-up'),
    name: 'bea',
    password,
  }
  expect((await bea.send('/sign-up', joining)).status).toBe(200)
  const renewing = {
    ...hiddenFields(await bea.read('/account'), '/account/codes'),
    password,
  }
  expect((await bea.send('/account/codes', renewing)).status).toBe(200)
  const before = await t.snapshot()
  for (const again of [
    await bea.send('/sign-up', joining),
    await bea.send('/account/codes', renewing),
  ]) {
    expect(where(again)).toEqual([303, '/account?done=codes'])
  }
  expect(await bea.read('/account?done=codes')).toContain('are shown only once')
  expect(await t.snapshot()).toEqual(before)
})

test('rejects a form of an earlier session and keeps the typed values', async () => {
  const ann = await t.agent('ann')
  const olga = await signInOperator(t)
  await claimAgent(olga, ann)
  const id = await ann.publish()
  const token = { token: 'of another session' }
  const before = await t.snapshot()
  for (const [path, values, label, kept] of [
    ['/agents/ann/cap', { dailyCap: '12.5' }, /^Daily cap/, '12.5'],
    [`/studio/${id}/details`, { title: 'Boats', shelf: 'other' }, 'Title', 'Boats'],
    ['/wallet/playground', { text: 'hello', turns: '[]' }, 'Message', 'hello'],
    ['/console/blocklist', { sha256: 'abc', decision: 'block' }, /^SHA-256/, 'abc'],
  ] as const) {
    const response = await olga.send(path, { ...values, ...token })
    const [form] = shownPage(response.body).forms(path)
    expect([path, response.status, form?.byLabel(label).value]).toEqual([path, 403, kept])
    const elsewhere = { origin: 'https://evil.example' }
    expect((await olga.send(path, { ...values, ...token }, elsewhere)).status).toBe(403)
  }
  const signOut = await olga.send('/sign-out', token)
  expect([signOut.status, alertText(signOut)]).toEqual([
    403,
    expect.stringContaining('You signed in after'),
  ])
  expect(await t.snapshot()).toEqual(before)
})

test('keeps a rejected recovery code in the form', async () => {
  await signUp(t, 'olga')
  const typed = { name: 'olga', code: '8K2M-Q0ZT', password: 'another password' }
  const wrong = await new FormBrowser(t).fill('/recover', '/recover', typed)
  expect([wrong.status, shownPage(wrong.body).byLabel(/^Recovery code/).value]).toEqual([
    401,
    '8K2M-Q0ZT',
  ])
  expect(String(wrong.body)).not.toContain('another password')
})
