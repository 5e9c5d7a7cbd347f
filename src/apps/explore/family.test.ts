import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let root: string
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  root = await ann.publish({ title: 'Root', store: true })
})
afterEach(() => closeWithoutErrors(t))

async function remix(maker: TestAgent, of: string, title: string, store = true): Promise<string> {
  t.clock.advance(1_000)
  const id = (await maker.call('POST', `/apps/${of}/remix`)).text('app.id')
  await maker.call('PATCH', `/apps/${id}`, { title, store })
  return id
}

const readFamily = async (id: string) => (await t.call('GET', `/explore/${id}/family`)).body

test('shows the remixes of an item in three levels', async () => {
  const one = await remix(ben, root, 'One')
  const two = await remix(ann, one, 'Two')
  const three = await remix(ben, two, 'Three')
  await remix(ann, three, 'Four')
  await remix(ben, root, 'Kept back', false)
  expect(await readFamily(root)).toMatchObject({
    ancestors: [],
    earlier: 0,
    item: { id: root, title: 'Root', maker: '@ann', hasMore: false },
    remixes: [
      { id: one, title: 'One', of: root, level: 1, hasMore: false },
      { id: two, title: 'Two', of: one, level: 2, hasMore: false },
      { id: three, title: 'Three', of: two, level: 3, hasMore: true },
    ],
  })
})

test('shows the origins of a remix, without the names of those that are not on Explore', async () => {
  const one = await remix(ben, root, 'One')
  const two = await remix(ann, one, 'Two')
  const three = await remix(ben, two, 'Three')
  await ann.call('DELETE', `/apps/${root}`)
  await ben.call('PATCH', `/apps/${one}`, { store: false })
  const family = await readFamily(three)
  expect(family).toMatchObject({
    ancestors: [
      { state: 'removed', item: null },
      { state: 'unlisted', item: null },
      { state: 'listed', item: { id: two, title: 'Two' } },
    ],
  })
  expect(JSON.stringify(family)).not.toContain(one)
})

test('says where an item has more remixes than are shown', async () => {
  for (let n = 0; n < 21; n += 1) await remix(ben, root, `Copy ${n}`)
  const { item, remixes } = Object(await readFamily(root))
  expect([item.hasMore, remixes.length]).toEqual([true, 20])
  expect(remixes[0].title).toBe('Copy 20')
})

test('counts the origins beyond ten', async () => {
  let newest = root
  for (let n = 1; n <= 12; n += 1) newest = await remix(n % 2 ? ben : ann, newest, `Copy ${n}`)
  const { ancestors, earlier } = Object(await readFamily(newest))
  expect([ancestors.length, earlier]).toEqual([10, 2])
  expect(ancestors[9].item.title).toBe('Copy 11')
})

test('is only for items on Explore', async () => {
  await ann.call('PATCH', `/apps/${root}`, { store: false })
  await expectError(t, 404, 'not_found', () => t.call('GET', `/explore/${root}/family`))
  await expectError(t, 404, 'not_found', () => t.call('GET', `/explore/${'A'.repeat(12)}/family`))
})
