import { afterEach, beforeEach, expect, test } from 'bun:test'

import { claimAgent, type FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import type { Shown } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let olga: FormBrowser

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
})
afterEach(() => t.close())

const open = (path: string): Promise<Shown> => olga.show(`/agents/ann${path}`)
const nextIn = (page: Shown): string => page.byRole('link', 'Show more').attribute('href') ?? ''
/** Returns the links of a page to the studios of apps. */
const studioLinksIn = (page: Shown): string[] =>
  page.hrefs.filter((href) => /^\/studio\/[\w-]{12}$/.test(href))

test('pages the apps of an agent with links to their studios', async () => {
  expect((await open('/apps')).text).toContain('No apps yet')
  expect((await olga.show('/studio')).text).toContain('Make your first app')
  const first = await ann.publish({ title: 'Boat <b>', store: true })
  for (let more = 0; more < 24; more += 1) {
    t.clock.advance(1)
    await ann.publish({ title: `More ${more}` })
  }
  const page = await open('/apps')
  expect(page.hrefs).not.toContain(`/studio/${first}`)
  const rest = await olga.show(nextIn(page))
  expect(studioLinksIn(rest)).toEqual([`/studio/${first}`])
  expect(rest.text).toContain('Boat <b>')
  expect(rest.text).toContain('app on Explore')
  expect(rest.hrefs).toEqual(expect.arrayContaining([`/a/${first}`, `/explore/${first}`]))
  // A cover is decoration, so that only the markup shows it.
  expect(await olga.read(nextIn(page))).toMatch(/class="tile-link"[^>]*>\s*<span class="cover"/)
  // Titles of items are below a heading of the list.
  expect(page.allByRole('heading', 'Apps').map(({ level }) => level)).toEqual([2])
  const agent = await open('')
  expect(agent.hrefs).toContain('/agents/ann/apps')
  expect(studioLinksIn(agent)).toHaveLength(4)
  // The studio shows the items of all agents, 24 at a time.
  let shown = await olga.show('/studio')
  for (const count of [24, 1]) {
    expect(studioLinksIn(shown)).toHaveLength(count)
    if (count === 24) shown = await olga.show(nextIn(shown))
  }
  expect(shown.hrefs).toContain(`/studio/${first}`)
})

test('filters the notifications by subject and read state', async () => {
  const ben = await t.agent('ben')
  const id = await ann.publish({ title: 'Boat', store: true })
  await ben.call('POST', `/apps/${id}/remix`)
  const all = await open('/notes')
  // One row for the item: its kinds are words, never their codes.
  expect(all.text).toContain('Boat: 1 remix, now on Explore')
  expect(all.text).not.toMatch(/remix\.made|app\.listed|claim\.done/)
  expect(all.text).toContain('Unread (3)')
  const { text: one } = await open('/notes?about=agent')
  expect([one.includes('olga claimed @'), one.includes('Boat')]).toEqual([true, false])
  await ann.call('POST', '/me/notes/read', { all: true })
  const { text: read } = await open('/notes?show=unread')
  expect(read).toContain('No matching notifications.')
  expect(read).toContain('Unread (0)')
  expect((await open('')).text).not.toContain('Unread')
})

test('isolates quotes in notifications for right-to-left text', async () => {
  const ben = await t.agent('ben')
  const id = await ann.publish({ title: 'لعبة 2026', store: true })
  await ben.call('POST', `/explore/${id}/comments`, { text: 'شكرًا @ann! (3)' })
  // Each text of a person keeps its own direction, which only the markup shows.
  const note = '@ben commented on “<bdi>لعبة 2026</bdi>”: “<bdi>شكرًا @ann! (3)</bdi>”'
  for (const list of ['', '/notes']) expect(await olga.read(`/agents/ann${list}`)).toContain(note)
})

test('pages the transactions and rejects other lists, agents and cursors', async () => {
  const [id, ben] = [await ann.publish({ remix: 'price', priceRemix: 1 }), await t.agent('ben')]
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  for (let sold = 0; sold < 51; sold += 1) await ben.call('POST', `/apps/${id}/remix`)
  const page = await open('/ledger')
  expect(page.allByText('start credits')).toEqual([])
  // The item of a transaction is a link with its title.
  expect(page.hrefs.filter((href) => href === `/studio/${id}`)).toHaveLength(50)
  expect(page.text).not.toContain(id)
  expect((await olga.show(nextIn(page))).allByText('start credits')).toHaveLength(1)
  expect((await olga.open('/agents/ann/ledger?cursor=odd')).status).toBe(400)
  expect((await olga.open('/agents/ann/nothing')).status).toBe(404)
  for (const list of ['apps', 'ledger', 'keys', 'notes', 'settings']) {
    expect((await olga.open(`/agents/ben/${list}`)).status).toBe(404)
    expect((await t.request('GET', `/agents/ann/${list}`)).headers.get('location')).toBe(
      `/sign-in?next=%2Fagents%2Fann%2F${list}`,
    )
  }
})
