import { afterAll, expect, test } from 'bun:test'

import { follows } from '../../people/tables.ts'
import { claimAgent, FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const h = await startTestServer()
const ann = await h.agent('ann')
const ben = await h.agent('ben')
const olga = await signUp(h, 'olga', '198.51.100.1')
await claimAgent(olga, ben)
const boats = await ann.publish({ title: 'Boats', store: true })
await ben.publish({ title: 'Own', store: true })
afterAll(() => h.close())

const page = async (path: string, browser = olga): Promise<string> =>
  (await browser.read(path)).replaceAll(/\s+/g, ' ')
const follow = (fields: Record<string, string> = {}, from = '/explore/@ann') =>
  olga.fill(from, '/explore/@ann/follow', { follow: 'yes', ...fields })

test('a signed-out visitor is asked to sign in and then returns', async () => {
  for (const path of ['/explore/@ann', `/explore/${boats}`]) {
    const body = String((await h.request('GET', path)).body)
    expect(body).toContain(`href="/sign-in?next=${encodeURIComponent(path)}"`)
    expect(body).toContain('0 followers')
  }
  const sent = await new FormBrowser(h).send('/explore/@ann/follow', { follow: 'yes' })
  expect([sent.status, sent.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/sign-in/),
  ])
  const bea = await signUp(h, 'bea', '198.51.100.2')
  await bea.fill('/account', '/sign-out', {})
  const path = '/sign-in?next=%2Fexplore%2F%40ann'
  const back = await bea.fill(path, '/sign-in', { name: 'bea', password })
  expect(back.headers.get('location')).toBe('/explore/@ann')
})

test('a follower is notified of new items on Explore only, until they are read', async () => {
  const done = await follow({ from: boats }, `/explore/${boats}`)
  expect([done.status, done.headers.get('location')]).toEqual([303, `/explore/${boats}`])
  expect(await page('/explore/@ann')).toContain('1 follower<')
  expect(await page(`/explore/${boats}`)).toMatch(
    /aria-pressed="true" aria-label="Following @ann"\s*> Following/,
  )
  expect(await page('/notifications')).not.toContain('published the')
  h.clock.advance(1)
  await ann.publish({ title: 'Draft' })
  const fog = await ann.publish({ title: 'Fog <b>', store: true })
  const news = await page('/notifications')
  expect(shownPage(news).text).toContain('@ann published the app Fog <b>')
  expect(news).toContain('Fog &lt;b&gt;')
  expect(news).not.toContain('Boats')
  expect(news).not.toContain('Draft')
  expect(await page('/')).toMatch(/Notifications, \d+ unread/)
  await olga.fill('/notifications', '/notifications', {})
  expect(await page('/')).not.toMatch(/\d+ unread/)
  expect(await page('/notifications')).toContain(`href="/explore/${fog}"`)
  // Listing an item again is no news.
  h.clock.advance(1)
  await ann.call('PATCH', `/apps/${boats}`, { store: false })
  await ann.call('PATCH', `/apps/${boats}`, { store: true })
  expect(await page('/')).not.toMatch(/\d+ unread/)
  await ann.call('PATCH', `/apps/${fog}`, { store: false })
  expect(await page('/notifications')).not.toContain('Fog')
})

test('following twice changes nothing; unfollowing ends the news', async () => {
  const before = await h.snapshot()
  await follow()
  expect(await h.snapshot()).toEqual(before)
  expect(await page('/notifications/following')).toContain('href="/explore/@ann"')
  const ended = await follow({ follow: 'no', from: 'list' }, '/notifications/following')
  expect(ended.headers.get('location')).toBe('/notifications/following')
  expect(await page('/notifications/following')).toContain('You follow no makers yet')
  expect((await follow({ follow: 'no' })).status).toBe(303)
  h.clock.advance(1)
  await ann.publish({ title: 'Later', store: true })
  expect(await page('/notifications')).not.toContain('Later')
})

test('an own agent, an unknown maker and one off Explore are refused and store nothing', async () => {
  await h.agent('hidden')
  expect(await page('/explore/@ben')).not.toContain('/explore/@ben/follow')
  const { token = '' } = /name="token" value="(?<token>[^"]+)"/.exec(await page('/explore/@ann'))
    ?.groups ?? { token: '' }
  const before = await h.snapshot()
  const own = await olga.send('/explore/@ben/follow', { token, follow: 'yes' })
  expect([own.status, String(own.body)]).toEqual([400, expect.stringContaining('your own agent')])
  for (const name of ['@nobody', '@hidden', 'x']) {
    const sent = await olga.send(`/explore/${name}/follow`, { token, follow: 'yes' })
    expect([name, sent.status]).toEqual([name, 404])
  }
  const stale = await olga.send('/explore/@ann/follow', { token: 'x', follow: 'yes' })
  expect(stale.status).toBe(403)
  expect(await h.snapshot()).toEqual(before)
})

test('a person follows at most 1,000 makers', async () => {
  const [row] = await followAnn()
  if (!row) throw new Error('olga follows nobody')
  const more = Array.from({ length: 999 }, (_, at) => ({ ...row, maker: `maker-${at}` }))
  await h.ctx.db.tx((db) => db.insert(follows).values(more))
  expect((await follow()).status).toBe(303)
  await (await h.agent('cleo')).publish({ store: true })
  const full = await olga.fill('/explore/@cleo', '/explore/@cleo/follow', { follow: 'yes' })
  expect([full.status, String(full.body)]).toEqual([400, expect.stringContaining('Unfollow one')])
  expect(await rows()).toHaveLength(1_000)
})

const rows = () => h.ctx.db.read.select().from(follows)
const followAnn = async () => {
  await follow()
  return rows()
}

test('follows are deleted with the account of either side', async () => {
  const bea = await signUp(h, 'dora', '198.51.100.3')
  await bea.fill('/explore/@ann', '/explore/@ann/follow', { follow: 'yes' })
  const count = (await rows()).length
  const left = await bea.fill('/account', '/account/leave', { password })
  expect([left.status < 400, (await rows()).length]).toEqual([true, count - 1])
  await ann.call('DELETE', '/me')
  expect((await rows()).length).toBe(count - 2)
})
