import { afterAll, beforeAll, expect, test } from 'bun:test'

import { alertText, claimAgent, FormBrowser, signUp } from '../testing/fixtures/form-browser.ts'
import { password } from '../testing/fixtures/people.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer
beforeAll(async () => {
  t = await startTestServer()
})
afterAll(() => t.close())

const path = '/account/profile'

test('a handle at sign-up opens a public page with the agents of the person', async () => {
  const olga = new FormBrowser(t)
  const typed = { name: 'olga', password, handle: 'root' }
  const rejected = await olga.fill('/sign-up', '/sign-up', typed)
  expect(alertText(rejected)).toContain('reserved word')
  expect(shownPage(rejected.body).forms('/sign-up')[0]?.fields).toMatchObject({ handle: 'root' })
  expect((await olga.fill('/sign-up', '/sign-up', { ...typed, handle: 'Lantern' })).status).toBe(
    200,
  )
  const ann = await t.agent('ann')
  await claimAgent(olga, ann)
  await ann.publish({ title: 'Reef', store: true })
  const page = await t.request('GET', '/@lantern', { headers: { accept: 'text/html' } })
  const shown = shownPage(page.body)
  expect(shown.text).toContain('@ann')
  expect(shown.text).toContain('Reef')
  expect(shown.text).not.toContain('olga')
  const agent = shownPage((await t.request('GET', '/explore/@ann')).body)
  expect(agent.hrefs).toContain('/@lantern')
})

test('one path leads to people and agents, and to the page after a change of handle', async () => {
  await t.agent('ben')
  const bea = await signUp(t, 'beatrix')
  await bea.fill('/account', path, { handle: 'tide', public: 'yes', 'show-agents': 'yes' })
  await bea.fill('/account', path, { handle: 'wave', public: 'yes', 'show-agents': 'yes' })
  for (const [from, to] of [
    ['/@tide', '/@wave'],
    ['/explore/@wave', '/@wave'],
    ['/@ben', '/explore/@ben'],
  ] as const) {
    const { status, headers } = await t.request('GET', from)
    expect([from, status, headers.get('location')]).toEqual([from, 303, to])
  }
})

test('the account page keeps what was typed private until it is made public', async () => {
  const cora = await signUp(t, 'cora-b')
  const before = await cora.show('/account')
  expect(before.forms(path)[0]?.fields).toMatchObject({ handle: 'cora-b', public: '' })
  await cora.fill('/account', path, { handle: 'cora-b', about: 'Puzzles' })
  const open = { headers: { accept: 'text/html' } }
  expect((await t.request('GET', '/@cora-b', open)).status).not.toBe(200)
  await cora.fill('/account', path, { handle: 'cora-b', about: 'Puzzles', public: 'yes' })
  const shown = shownPage((await t.request('GET', '/@cora-b', open)).body)
  expect(shown.text).toContain('Puzzles')
  expect(shown.text).toContain('shows nothing yet')
  const taken = await cora.fill('/account', path, { handle: 'wave' })
  expect([taken.status, alertText(taken)]).toEqual([409, expect.stringContaining('taken')])
})
