import { afterEach, beforeEach, expect, test } from 'bun:test'

import { reinstate, takeDown } from '../../apps/moderation/moderation.ts'
import { day, hour } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { findByHandle } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import { claimAgent, type FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import type { Shown } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let olga: FormBrowser
let skill = ''

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
  const text = '---\nname: release-notes\ndescription: Writes notes.\n---\n# Steps\n1. List.'
  skill = (await ann.call('POST', '/skills', { skill: text, store: true })).text('skill.id')
})
afterEach(() => t.close())

async function run(outcome?: string): Promise<string> {
  t.clock.advance(1_000)
  const id = (await ben.call('POST', '/runs', { pack: skill, goal: 'List' })).text('run.id')
  if (outcome !== undefined) {
    await ben.call('POST', `/runs/${id}/report`, { outcome, summary: `It ${outcome}.` })
  }
  return id
}

const open = (query = ''): Promise<Shown> => olga.show(`/notifications${query}`)
/** Returns the rows of a day, each with the first line of its link. */
const rowsOf = (page: Shown, name: string): string[] => {
  const list = page.byRole('list', name)
  return list.allByRole('listitem').flatMap((row) => row.allByRole('link')[0]?.text ?? [])
}

test('says where notifications before the newest 100 are', async () => {
  expect((await open()).text).not.toContain('Earlier ones')
  const to = (await findByHandle(t.ctx, 'ann'))?.id ?? ''
  await t.ctx.db.tx(async (db) => {
    for (let at = 0; at < 100; at += 1) {
      await notify(t.ctx, db, { to, kind: 'system', text: sentence(`Note ${at}`) })
    }
  })
  const page = await open()
  expect(page.text).toContain('Earlier ones are on the pages of your agents.')
  expect(page.text).not.toContain('claimed')
})

test('groups what happened to an item on a day, and shows first what failed', async () => {
  await run('worked')
  const failed = await run('failed')
  await run('worked')
  await run()
  const boat = await ann.publish({ title: 'Boat', store: true })
  const page = await open()
  const [first, second] = rowsOf(page, 'Today').filter((text) =>
    /^(?:Unread: )?(release|“Boat)/.test(text),
  )
  // Each run counts once, whether it was only started or also reported.
  expect(first).toContain('release-notes: 4 runs, 2 worked, 1 failed, now on Explore')
  expect(second).toContain('“Boat” is on Explore.')
  // A row is a link: that of a group leads to the item, and each of its notes to its own page.
  expect(page.hrefs).toEqual(
    expect.arrayContaining([`/explore/${skill}`, `/runs/${failed}`, `/explore/${boat}`]),
  )
  expect(page.text).toContain('Show all 5')
  const runs = page.hrefs.filter((href) => href.startsWith('/runs/'))
  expect([runs[0], runs.length]).toEqual([`/runs/${failed}`, 4])
})

test('keeps apart what two agents of a person have about one item', async () => {
  await claimAgent(olga, ben)
  const boat = await ann.publish({ title: 'Boat', store: true })
  const path = `/explore/${boat}/comments`
  const comment = (await ben.call('POST', path, { text: 'Fine.' })).text('comment.id')
  const cy = await t.agent('cyrus')
  expect((await cy.call('POST', path, { text: 'Yes.', replyTo: comment })).status).toBe(201)
  const rows = rowsOf(await open(), 'Today').filter((text) => /^Unread: .*Boat/.test(text))
  // All have the time of the test, so they have no order.
  expect(rows.toSorted((one, other) => other.localeCompare(one))).toEqual([
    expect.stringContaining('Boat: 2 comments, now on Explore@ann'),
    expect.stringContaining('@cyrus replied to your comment on “Boat”: “Yes.”@ben'),
  ])
  // The item is that of its maker, whichever agent heard of it first.
  expect((await ann.call('POST', '/me/notes/read', { all: true })).status).toBe(200)
  t.clock.advance(1_000)
  await cy.call('POST', path, { text: 'More.' })
  await ann.call('PATCH', `/apps/${boat}`, { store: false })
  const { hrefs } = await open('?show=unread')
  expect(new Set(hrefs.filter((href) => href.endsWith(boat)))).toEqual(new Set([`/studio/${boat}`]))
})

test('names days, and tells the time relative with the exact one beside it', async () => {
  await run('worked')
  t.clock.advance(day)
  await run('worked')
  t.clock.advance(2 * hour)
  const page = await open()
  expect(page.names('heading')).toEqual(expect.arrayContaining(['Today', 'Yesterday']))
  expect(rowsOf(page, 'Today')[0]).toContain('2 hours ago')
  expect(await olga.read('/notifications')).toMatch(
    /<time datetime="[^"]+Z" title="[^"]+ UTC">2 hours/,
  )
})

test('shows unread notifications apart, until all are read', async () => {
  await run('worked')
  const page = await open('?show=unread')
  expect(page.byRole('navigation', 'Notifications').text).toMatch(/Unread \(\d+\)/)
  expect(rowsOf(page, 'Today').length).toBeGreaterThan(0)
  await olga.fill('/notifications', '/notifications', {})
  expect((await open('?show=unread')).text).toContain('You have read everything')
  expect((await open()).text).toContain('release-notes: 1 run')
  expect((await open()).text).toContain('Unread (0)')
})

test('tells people what happened, and not which request a program would send', async () => {
  const id = await ann.publish({ title: 'Boat', store: true })
  await takeDown(t.ctx, id, 'phishing', 'operator')
  const page = await open()
  expect(page.text).toContain('“Boat” was taken down: phishing. You can appeal.')
  expect(page.text).not.toMatch(/POST |GET /)
  // What failed is first, and leads to the page with the appeal.
  expect(rowsOf(page, 'Today')[0]).toContain('Boat: taken down, now on Explore')
  expect(page.hrefs).toContain(`/studio/${id}/safety`)
})

test('names no request in notes of a deleted app that is reinstated, and of a released agent', async () => {
  const id = await ann.publish({ title: 'Raft' })
  await ann.call('DELETE', `/apps/${id}`)
  await takeDown(t.ctx, id, 'phishing', 'operator')
  await reinstate(t.ctx, id, '', 'operator')
  await olga.fill('/agents/ann/settings', '/agents/ann/release', {})
  await claimAgent(olga, ann)
  const page = await open()
  expect(page.text).toContain('“Raft” stays deleted until you restore it.')
  expect(page.text).toContain('olga released you.')
  expect(page.text).not.toMatch(/POST |GET /)
})

test('has the direction of the page in each note, whatever it begins with', async () => {
  const id = await ann.publish({ title: 'Boat', store: true })
  await olga.fill('/account', '/account/language', { language: 'ar' })
  expect(await olga.read('/notifications')).toContain('<bdi dir="rtl">')
  expect((await open()).hrefs).toContain(`/explore/${id}`)
})

test('leads from each note to the page where its reader acts', async () => {
  const id = await ann.publish({ title: 'Draft' })
  const notes = await open()
  expect(notes.hrefs).toContain('/agents/ann')
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  await ben.call('POST', `/explore/${id}/comments`, { text: 'How deep?' })
  await ann.call('PATCH', `/apps/${id}`, { store: false })
  // Off Explore, the page of an item is its studio.
  const { hrefs } = await open()
  expect(hrefs).toContain(`/studio/${id}`)
  expect(hrefs).not.toContain(`/explore/${id}#comments`)
})
