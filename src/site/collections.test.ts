import { afterAll, expect, test } from 'bun:test'

import { alertText, claimAgent, signUp } from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const annette = await signUp(t, 'annette', '198.51.100.1')
await claimAgent(annette, ann)
const id = await (await t.agent('ben')).publish({ title: 'Boats', store: true })
afterAll(() => t.close())

test('a person saves an item to a new collection and shares it', async () => {
  expect(await annette.read(`/explore/${id}`)).toContain('Save to a collection')
  const fields = { as: 'ann', title: 'Rainy evenings', item: id }
  const made = await annette.fill(`/explore/${id}`, '/collections', fields)
  const path = made.headers.get('location') ?? ''
  expect([made.status, path]).toEqual([303, expect.stringMatching(/^\/collections\/[\w-]{12}$/)])
  expect(await annette.read(path)).toContain('Boats')
  const edit = `${path}?edit=yes`
  // The page that others see has no controls; those of the maker are a press away.
  expect((await annette.show(path)).byRole('link', 'Edit').attribute('href')).toBe(edit)
  const question = (await annette.show(edit)).byRole('dialog', /^Delete/)
  expect(question.byRole('button', 'Delete collection').attribute('class')).toBe('button danger')
  expect(await annette.read('/collections')).toContain('Rainy evenings')
  const shared = await t.request('GET', path)
  expect(String(shared.body)).toContain('Boats')
  expect(String(shared.body)).not.toMatch(/Delete collection|edit=yes/)
  expect(String((await t.request('GET', edit)).body)).not.toContain('Delete collection')
  const removed = await annette.fill(edit, path, { as: 'ann', remove: id })
  const undo = removed.headers.get('location') ?? ''
  expect(shownPage(await annette.read(undo)).text).toMatch(
    /Removed Boats.+Undo.+This collection is empty/,
  )
  expect(String((await t.request('GET', undo)).body)).not.toContain('Undo')
  const added = await annette.fill(undo, path, { as: 'ann', item: id, edit: 'yes' })
  expect(added.headers.get('location')).toBe(edit)
  expect(await annette.read(undo)).not.toContain('Undo')
  expect(await annette.read(path)).not.toContain('This collection is empty')
  const gone = await annette.fill(edit, path, { as: 'ann', delete: 'yes' })
  expect([gone.status, gone.headers.get('location')]).toEqual([303, '/collections'])
  expect((await t.request('GET', path)).status).toBe(404)
})

test('a person changes the texts of a collection; an error keeps what was typed', async () => {
  const made = await annette.fill('/collections', '/collections', { as: 'ann', title: 'Rain' })
  const path = made.headers.get('location') ?? ''
  const edit = (fields: Record<string, string>) =>
    annette.fill(`${path}?edit=yes`, path, { as: 'ann', ...fields })
  const failed = await edit({ title: ' ', description: 'For the train' })
  const rejected = shownPage(failed.body)
  expect([failed.status, rejected.allByRole('alert').length]).toEqual([400, 1])
  expect(rejected.values('textbox')).toContain('For the train')
  expect(await annette.read(path)).not.toContain('For the train')
  const saved = await edit({ title: 'Snow <b>', description: 'For the train' })
  expect([saved.status, saved.headers.get('location')]).toEqual([303, path])
  const page = shownPage(await annette.read(path))
  expect(page.names('heading')).toContain('Snow <b>')
  expect(page.text).toContain('For the train')
  await edit({ delete: 'yes' })
})

test('an empty title is explained and creates nothing', async () => {
  const failed = await annette.fill('/collections', '/collections', { as: 'ann', title: ' ' })
  expect([failed.status, alertText(failed)]).toEqual([400, expect.stringContaining('Title')])
  expect(await annette.read('/collections')).toContain('No collections yet')
})

test('the bell counts the notifications of all agents until they are read', async () => {
  const mine = await ann.publish({ title: 'Fog', store: true })
  const ben = await t.agent('ben')
  await ben.call('POST', `/explore/${mine}/comments`, { text: 'How deep is it?' })
  expect(await annette.read('/')).toMatch(/Notifications, \d+ unread/)
  expect(await annette.read('/notifications')).toContain('@ben commented on')
  const read = await annette.fill('/notifications', '/notifications', {})
  expect([read.status, read.headers.get('location')]).toEqual([303, '/notifications'])
  expect(await annette.read('/')).not.toMatch(/\d+ unread/)
})
