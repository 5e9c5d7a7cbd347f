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

let h: TestServer
beforeEach(async () => {
  h = await startTestServer()
})
afterEach(() => h.close())

const where = ({ status, headers }: Response | { status: number; headers: Headers }) => [
  status,
  headers.get('location'),
]

test('continues in a second tab after a sign-in, and asks again for another account', async () => {
  await signUp(h, 'olga')
  await signUp(h, 'bea')
  const tabs = new FormBrowser(h)
  const page = await tabs.read('/sign-in?next=/wallet')
  const typed = { ...hiddenFields(page, '/sign-in'), password }
  expect((await tabs.fill('/sign-in', '/sign-in', { name: 'olga', password })).status).toBe(303)
  const before = await h.snapshot()
  expect(where(await tabs.send('/sign-in', { ...typed, name: ' Olga' }))).toEqual([303, '/wallet'])
  const other = await tabs.send('/sign-in', { ...typed, name: 'bea' })
  expect([other.status, alertText(other)]).toEqual([
    403,
    expect.stringContaining('submit it again'),
  ])
  expect(String(other.body)).toMatch(/name="name"\s+value="bea"/)
  expect(await h.snapshot()).toEqual(before)
  const again = { ...hiddenFields(String(other.body), '/sign-in'), name: 'bea', password }
  expect(where(await tabs.send('/sign-in', again))).toEqual([303, '/wallet'])
  expect(shownPage(await tabs.read('/account')).names('heading')).toContain('bea')
})

test('does not show recovery codes again after a reload', async () => {
  const bea = new FormBrowser(h)
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
  const before = await h.snapshot()
  for (const again of [
    await bea.send('/sign-up', joining),
    await bea.send('/account/codes', renewing),
  ]) {
    expect(where(again)).toEqual([303, '/account?done=codes'])
  }
  expect(await bea.read('/account?done=codes')).toContain('are shown only once')
  expect(await h.snapshot()).toEqual(before)
})

test('rejects a form of an earlier session and keeps the typed values', async () => {
  const ann = await h.agent('ann')
  const olga = await signInOperator(h)
  await claimAgent(olga, ann)
  const id = await ann.publish()
  const token = { token: 'of another session' }
  const before = await h.snapshot()
  for (const [path, values, kept] of [
    ['/agents/ann/cap', { dailyCap: '12.5' }, /name="dailyCap"\s+value="12.5"/],
    [`/studio/${id}/details`, { title: 'Boats', shelf: 'other' }, /name="title"\s+value="Boats"/],
    ['/wallet/playground', { text: 'hello', turns: '[]' }, /hello<\/textarea>/],
    ['/console/blocklist', { sha256: 'abc', decision: 'block' }, /name="sha256"\s+value="abc"/],
    ['/sign-out', {}, /You signed in after/],
  ] as const) {
    const response = await olga.send(path, { ...values, ...token })
    expect([path, response.status, String(response.body)]).toEqual([
      path,
      403,
      expect.stringMatching(kept),
    ])
    const elsewhere = { origin: 'https://evil.example' }
    expect((await olga.send(path, { ...values, ...token }, elsewhere)).status).toBe(403)
  }
  expect(await h.snapshot()).toEqual(before)
})

test('keeps a rejected recovery code in the form', async () => {
  await signUp(h, 'olga')
  const typed = { name: 'olga', code: '8K2M-Q0ZT', password: 'another password' }
  const wrong = await new FormBrowser(h).fill('/recover', '/recover', typed)
  expect([wrong.status, String(wrong.body)]).toEqual([
    401,
    expect.stringMatching(/name="code"\s+value="8K2M-Q0ZT"/),
  ])
  expect(String(wrong.body)).not.toContain('another password')
})
