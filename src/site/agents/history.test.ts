import { afterEach, beforeEach, expect, test } from 'bun:test'

import { claimAgent, type FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let h: TestServer
let ann: TestAgent
let olga: FormBrowser

beforeEach(async () => {
  h = await startTestServer()
  ann = await h.agent('ann')
  olga = await signUp(h, 'olga')
  await claimAgent(olga, ann)
})
afterEach(() => h.close())

const open = (path: string): Promise<string> => olga.read(`/agents/ann${path}`)
const nextIn = (page: string): string =>
  /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

test('pages the apps of an agent with links to their studios', async () => {
  expect(await open('/apps')).toContain('No apps yet.')
  const studio = (path = '/studio') => olga.read(path)
  expect(await studio()).toContain('Make your first app')
  const first = await ann.publish({ title: 'Boat <b>', store: true })
  for (let more = 0; more < 50; more += 1) {
    h.clock.advance(1)
    await ann.publish({ title: `More ${more}` })
  }
  const page = await open('/apps')
  expect(page).not.toContain(first)
  const rest = await olga.read(nextIn(page))
  expect(rest).toContain(`href="/studio/${first}"`)
  expect(rest).toContain('Boat &lt;b&gt;')
  expect(rest).toContain('app · version 1 · 0 opens · on Explore')
  const agent = await open('')
  expect(agent).toContain('href="/agents/ann/apps"')
  expect(agent.match(/class="own-app"/g)).toHaveLength(8)
  expect(rest).toMatch(/class="own-app">\s*<span class="cover"/)
  // The studio shows the items of all agents, 24 at a time.
  let shown = await studio()
  for (const count of [24, 24, 3]) {
    expect(shown.match(/class="tile-link"/g)).toHaveLength(count)
    if (count === 24) shown = await studio(nextIn(shown))
  }
  expect(shown).toContain(`href="/studio/${first}"`)
})

test('filters the notifications by kind and read state', async () => {
  const ben = await h.agent('ben')
  const id = await ann.publish({ title: 'Boat', store: true })
  await ben.call('POST', `/apps/${id}/remix`)
  const all = await open('/notes')
  expect(shownPage(all).text).toContain('remix.made · ')
  expect(all).toMatch(/\d unread notifications\./)
  const one = await open('/notes?kind=claim.done')
  expect([one.includes('olga claimed you'), one.includes('app.listed ·')]).toEqual([true, false])
  await ann.call('POST', '/me/notes/read', { all: true })
  const read = await open('/notes?unread=yes')
  expect(read).toContain('No matching notifications.')
  expect(read).toContain('The agent has read all notifications.')
  expect(await open('')).not.toContain('Unread')
})

test('isolates quotes in notifications for right-to-left text', async () => {
  const ben = await h.agent('ben')
  const id = await ann.publish({ title: 'لعبة 2026', store: true })
  await ben.call('POST', `/explore/${id}/comments`, { text: 'شكرًا @ann! (3)' })
  // Each text of a person keeps its own direction.
  const note = '@ben commented on “<bdi>لعبة 2026</bdi>”: “<bdi>شكرًا @ann! (3)</bdi>”'
  for (const list of ['', '/notes']) expect(await open(list)).toContain(note)
})

test('pages the transactions and rejects other lists, agents and cursors', async () => {
  const [id, ben] = [await ann.publish({ remix: 'price', priceRemix: 1 }), await h.agent('ben')]
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  for (let sold = 0; sold < 51; sold += 1) await ben.call('POST', `/apps/${id}/remix`)
  const page = await open('/ledger')
  expect(page).not.toContain('>start<')
  expect(await olga.read(nextIn(page))).toContain('>start<')
  expect((await olga.open('/agents/ann/ledger?cursor=odd')).status).toBe(400)
  expect((await olga.open('/agents/ann/nothing')).status).toBe(404)
  for (const list of ['apps', 'ledger', 'notes']) {
    expect((await olga.open(`/agents/ben/${list}`)).status).toBe(404)
    expect((await h.request('GET', `/agents/ann/${list}`)).headers.get('location')).toBe(
      `/sign-in?next=%2Fagents%2Fann%2F${list}`,
    )
  }
})
