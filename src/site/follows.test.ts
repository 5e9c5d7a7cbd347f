import { afterAll, expect, test } from 'bun:test'

import { follows } from '../apps/explore/tables.ts'
import { claimAgent, FormBrowser, signUp } from '../testing/fixtures/form-browser.ts'
import { password } from '../testing/fixtures/people.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const ben = await t.agent('ben')
const olga = await signUp(t, 'olga', '198.51.100.1')
await claimAgent(olga, ben)
const boats = await ann.publish({ title: 'Boats', store: true })
await ben.publish({ title: 'Own', store: true })
afterAll(() => t.close())

const textOf = async (path: string): Promise<string> => (await olga.show(path)).text
/** Returns the names of the bell in the header. */
const bells = async (): Promise<string[]> =>
  (await olga.show('/')).names('link').filter((name) => name.startsWith('Notifications'))
const follow = (fields: Record<string, string> = {}, from = '/explore/@ann') =>
  olga.fill(from, '/explore/@ann/follow', { follow: 'yes', ...fields })

test('a signed-out visitor is asked to sign in and then returns', async () => {
  for (const path of ['/explore/@ann', `/explore/${boats}`]) {
    const page = await new FormBrowser(t).show(path)
    expect(page.hrefs).toContain(`/sign-in?next=${encodeURIComponent(path)}`)
    expect(page.text).not.toContain('follower')
  }
  const sent = await new FormBrowser(t).send('/explore/@ann/follow', { follow: 'yes' })
  expect([sent.status, sent.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/sign-in/),
  ])
  const bea = await signUp(t, 'bea', '198.51.100.2')
  await bea.fill('/account', '/sign-out', {})
  const path = '/sign-in?next=%2Fexplore%2F%40ann'
  const back = await bea.fill(path, '/sign-in', { name: 'bea', password })
  expect(back.headers.get('location')).toBe('/explore/@ann')
})

test('a follower is notified of new items on Explore only, until they are read', async () => {
  const done = await follow({ from: boats }, `/explore/${boats}`)
  expect([done.status, done.headers.get('location')]).toEqual([303, `/explore/${boats}`])
  expect(await textOf('/explore/@ann')).toMatch(/\b1 follower\b/)
  const following = (await olga.show(`/explore/${boats}`)).byRole('button', 'Following @ann')
  expect([following.text, following.attribute('aria-pressed')]).toEqual(['Following', 'true'])
  expect(await textOf('/notifications')).not.toContain('published the')
  t.clock.advance(1)
  await ann.publish({ title: 'Draft' })
  const fog = await ann.publish({ title: 'Fog <b>', store: true })
  const news = await textOf('/notifications')
  expect(news).toContain('@ann published the app Fog <b>')
  expect(news).not.toContain('Boats')
  expect(news).not.toContain('Draft')
  expect(await bells()).toEqual([expect.stringMatching(/^Notifications, \d+ unread$/)])
  await olga.fill('/notifications', '/notifications', {})
  expect(await bells()).toEqual(['Notifications'])
  expect((await olga.show('/notifications')).hrefs).toContain(`/explore/${fog}`)
  // Listing an item again is no news.
  t.clock.advance(1)
  await ann.call('PATCH', `/apps/${boats}`, { store: false })
  await ann.call('PATCH', `/apps/${boats}`, { store: true })
  expect(await bells()).toEqual(['Notifications'])
  await ann.call('PATCH', `/apps/${fog}`, { store: false })
  expect(await textOf('/notifications')).not.toContain('Fog')
})

test('following twice changes nothing, and unfollowing ends the notifications', async () => {
  const before = await t.snapshot()
  await follow()
  expect(await t.snapshot()).toEqual(before)
  expect((await olga.show('/notifications/following')).hrefs).toContain('/explore/@ann')
  const ended = await follow({ follow: 'no', from: 'list' }, '/notifications/following')
  expect(ended.headers.get('location')).toBe('/notifications/following')
  expect(await textOf('/notifications/following')).toContain('You follow no makers yet')
  expect((await follow({ follow: 'no' })).status).toBe(303)
  t.clock.advance(1)
  await ann.publish({ title: 'Later', store: true })
  expect(await textOf('/notifications')).not.toContain('Later')
})

test('an own agent, an unknown maker and one off Explore cannot be followed', async () => {
  await t.agent('hidden')
  expect((await olga.show('/explore/@ben')).forms('/explore/@ben/follow')).toEqual([])
  const form = (await olga.show('/explore/@ann')).form('/explore/@ann/follow')
  const { token = '' } = form.hiddenFields
  const before = await t.snapshot()
  const own = await olga.send('/explore/@ben/follow', { token, follow: 'yes' })
  expect([own.status, String(own.body)]).toEqual([400, expect.stringContaining('your own agent')])
  for (const name of ['@nobody', '@hidden', 'x']) {
    const sent = await olga.send(`/explore/${name}/follow`, { token, follow: 'yes' })
    expect([name, sent.status]).toEqual([name, 404])
  }
  const stale = await olga.send('/explore/@ann/follow', { token: 'x', follow: 'yes' })
  expect(stale.status).toBe(403)
  expect(await t.snapshot()).toEqual(before)
})

test('a person follows at most 1,000 makers', async () => {
  const [row] = await followAnn()
  if (!row) throw new Error('olga follows nobody')
  const more = Array.from({ length: 999 }, (_, at) => ({ ...row, maker: `maker-${at}` }))
  await t.ctx.db.tx((db) => db.insert(follows).values(more))
  expect((await follow()).status).toBe(303)
  await (await t.agent('cleo')).publish({ store: true })
  const full = await olga.fill('/explore/@cleo', '/explore/@cleo/follow', { follow: 'yes' })
  expect([full.status, String(full.body)]).toEqual([400, expect.stringContaining('Unfollow one')])
  expect(await rows()).toHaveLength(1_000)
})

const rows = () => t.ctx.db.read.select().from(follows)
const followAnn = async () => {
  await follow()
  return rows()
}

test('follows are deleted with the account of either side', async () => {
  const bea = await signUp(t, 'dora', '198.51.100.3')
  await bea.fill('/explore/@ann', '/explore/@ann/follow', { follow: 'yes' })
  const count = (await rows()).length
  const left = await bea.fill('/account', '/account/leave', { password })
  expect([left.status < 400, (await rows()).length]).toEqual([true, count - 1])
  await ann.call('DELETE', '/me')
  expect((await rows()).length).toBe(count - 2)
})
