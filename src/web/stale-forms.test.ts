import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Browser, claimedBy, hidden, operating, said, signedUp } from '../testing/pages.ts'
import { password } from '../testing/people.ts'
import { openTestHouse, type TestHouse } from '../testing/test-server.ts'

let h: TestHouse
beforeEach(async () => {
  h = await openTestHouse()
})
afterEach(() => h.close())

const where = ({ status, headers }: Response | { status: number; headers: Headers }) => [
  status,
  headers.get('location'),
]

test('continues in a second tab after a sign-in, and asks again for another account', async () => {
  await signedUp(h, 'olga')
  await signedUp(h, 'bea')
  const tabs = new Browser(h)
  const page = String((await tabs.open('/sign-in?next=/wallet')).body)
  const typed = { ...hidden(page, '/sign-in'), password }
  expect((await tabs.fill('/sign-in', '/sign-in', { name: 'olga', password })).status).toBe(303)
  const before = await h.kept()
  expect(where(await tabs.send('/sign-in', { ...typed, name: ' Olga' }))).toEqual([303, '/wallet'])
  const other = await tabs.send('/sign-in', { ...typed, name: 'bea' })
  expect([other.status, said(other)]).toEqual([403, expect.stringContaining('submit it again')])
  expect(String(other.body)).toMatch(/name="name"\s+value="bea"/)
  expect(await h.kept()).toEqual(before)
  const again = { ...hidden(String(other.body), '/sign-in'), name: 'bea', password }
  expect(where(await tabs.send('/sign-in', again))).toEqual([303, '/wallet'])
  expect(String((await tabs.open('/account')).body)).toContain('<h1>bea</h1>')
})

test('does not show recovery codes again after a reload', async () => {
  const bea = new Browser(h)
  const joining = {
    ...hidden(String((await bea.open('/sign-up')).body), '/sign-up'),
    name: 'bea',
    password,
  }
  expect((await bea.send('/sign-up', joining)).status).toBe(200)
  const renewing = {
    ...hidden(String((await bea.open('/account')).body), '/account/codes'),
    password,
  }
  expect((await bea.send('/account/codes', renewing)).status).toBe(200)
  const before = await h.kept()
  for (const again of [
    await bea.send('/sign-up', joining),
    await bea.send('/account/codes', renewing),
  ]) {
    expect(where(again)).toEqual([303, '/account?done=codes'])
  }
  expect(String((await bea.open('/account?done=codes')).body)).toContain('are shown only once')
  expect(await h.kept()).toEqual(before)
})

test('rejects a form of an earlier session and keeps the typed values', async () => {
  const ann = await h.person('ann')
  const olga = await operating(h)
  await claimedBy(olga, ann)
  const id = await ann.publish()
  const token = { token: 'of another session' }
  const before = await h.kept()
  for (const [path, values, kept] of [
    ['/agents/ann/cap', { dailyCap: '12.5' }, /name="dailyCap"\s+value="12.5"/],
    [`/studio/${id}/details`, { title: 'Boats', shelf: 'other' }, /name="title"\s+value="Boats"/],
    ['/wallet/playground', { text: 'hello', turns: '[]' }, /hello<\/textarea>/],
    ['/console/blocklist', { sha256: 'abc', decision: 'block' }, /name="sha256"\s+value="abc"/],
    ['/sign-out', {}, /You signed in after/],
  ] as const) {
    const answer = await olga.send(path, { ...values, ...token })
    expect([path, answer.status, String(answer.body)]).toEqual([
      path,
      403,
      expect.stringMatching(kept),
    ])
    const elsewhere = { origin: 'https://evil.example' }
    expect((await olga.send(path, { ...values, ...token }, elsewhere)).status).toBe(403)
  }
  expect(await h.kept()).toEqual(before)
})

test('keeps a rejected recovery code in the form', async () => {
  await signedUp(h, 'olga')
  const typed = { name: 'olga', code: '8K2M-Q0ZT', password: 'another password' }
  const wrong = await new Browser(h).fill('/recover', '/recover', typed)
  expect([wrong.status, String(wrong.body)]).toEqual([
    401,
    expect.stringMatching(/name="code"\s+value="8K2M-Q0ZT"/),
  ])
  expect(String(wrong.body)).not.toContain('another password')
})
