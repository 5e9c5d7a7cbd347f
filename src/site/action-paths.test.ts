import { afterEach, beforeEach, expect, test } from 'bun:test'

import {
  alertText,
  claimAgent,
  FormBrowser,
  signInOperator,
} from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer
beforeEach(async () => {
  t = await startTestServer()
})
afterEach(() => t.close())

test('opens the page of a form at the path of its action', async () => {
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await claimAgent(olga, ann)
  const id = await ann.publish({ title: 'Boats' })
  const paths = {
    '/claim': '/agents',
    '/sign-out': '/account',
    '/sign-in/passkey': '/sign-in',
    '/wallet/keys': '/wallet#keys',
    '/console/blocklist': '/console/queue#blocklist',
    '/console/rescan': '/console/queue',
    [`/studio/${id}/undelete`]: `/studio/${id}`,
    [`/studio/${id}/restore`]: `/studio/${id}/versions`,
  }
  const fill = (path: string, page: string, names: string[]) =>
    Object.fromEntries(names.map((name) => [`${path}/${name}`, page]))
  const all = {
    ...paths,
    ...fill('/account', '/account', ['keys', 'passkeys', 'sessions', 'password', 'codes', 'leave']),
    ...fill('/agents/ann', '/agents/ann', ['credits', 'pause']),
    ...fill('/agents/ann', '/agents/ann/settings', ['cap', 'release']),
    ...fill(`/studio/${id}`, `/studio/${id}/listing`, ['details', 'explore', 'delete']),
    ...fill(`/studio/${id}`, `/studio/${id}/assets`, ['upload', 'remove']),
    ...fill(`/studio/${id}`, `/studio/${id}/safety`, ['rescan', 'appeal']),
  }
  for (const [path, page] of Object.entries(all)) {
    // Without a session, the page redirects to sign-in and back.
    for (const browser of [olga, new FormBrowser(t)]) {
      const response = await browser.open(path)
      expect([path, response.status, response.headers.get('location')]).toEqual([path, 303, page])
    }
    // The sign-in page redirects people who are signed in.
    const { status } = await olga.open(page.replace(/#.*/, ''))
    expect([page, status]).toEqual([page, page === '/sign-in' ? 303 : 200])
  }
  // The path of this form is that of its page, too.
  expect((await olga.open('/agents/ann/keys')).status).toBe(200)
  for (const path of ['/account/x', '/agents/ann/toString', `/studio/${id}/constructor`]) {
    expect([path, (await olga.open(path)).status]).toEqual([path, 404])
  }
})

test('keeps the typed values of an invalid form and returns to it after a sign-in', async () => {
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await claimAgent(olga, ann)
  const typed = { credits: '-3' }
  const failed = await olga.fill('/agents/ann', '/agents/ann/credits', typed)
  expect([failed.status, alertText(failed)]).toEqual([
    400,
    expect.stringContaining('Enter credits'),
  ])
  expect(shownPage(failed.body).byLabel(/^Credits/).value).toBe('-3')
  // The session ends while the browser shows the path of the action.
  const guest = new FormBrowser(t)
  const referer = 'http://localhost:3000/agents/ann/credits'
  const response = await guest.send('/agents/ann/credits', typed, { referer })
  const location = response.headers.get('location') ?? ''
  expect(location).toBe(`/sign-in?next=${encodeURIComponent('/agents/ann/credits')}`)
  expect((await olga.open('/agents/ann/credits')).headers.get('location')).toBe('/agents/ann')
})
