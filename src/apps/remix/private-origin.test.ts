import { afterEach, beforeEach, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { publishPackOnExplore } from '../../testing/fixtures/packs-on-explore.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { purgeDeleted } from '../deletion.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
})
afterEach(() => t.close())

const remix = (agent: TestAgent, id: string) => agent.call('POST', `/apps/${id}/remix`)

test('names an origin only while it is public', async () => {
  const cy = await t.agent('cyd')
  const root = await ann.publish({ title: 'Secret root', store: true })
  const second = (await remix(ben, root)).text('app.id')
  await ben.call('PATCH', `/apps/${second}`, { title: 'Second', store: true })
  const third = (await remix(cy, second)).text('app.id')
  await cy.call('PATCH', `/apps/${third}`, { title: 'Third', store: true })
  const paths = ['/explore', '/explore/@ben', ...[second, third].map((id) => `/explore/${id}`)]
  const family = [second, third].map((id) => `/explore/${id}/family`)
  const read = async (agent?: TestAgent) =>
    Promise.all(
      [...paths, ...family].map(async (path) => {
        const sent = agent ? await agent.call('GET', path) : await t.call('GET', path)
        return JSON.stringify(sent.body)
      }),
    )
  const pages = async () =>
    Promise.all(
      [...paths, ...family].map(async (path) => String((await t.request('GET', path)).body)),
    )
  expect((await read()).filter((body) => body.includes('Secret root')).length).toBe(6)
  for (const change of [
    { audience: 'people', people: [] },
    { audience: 'link' },
    { audience: 'public', expiresAt: '2030-01-01T00:00:00Z' },
  ]) {
    expect((await ann.call('PATCH', `/apps/${root}/audience`, change)).status).toBe(200)
    for (const body of [...(await read()), ...(await read(cy)), ...(await pages())]) {
      expect(body).not.toContain('Secret root')
      expect(body).not.toContain(root)
    }
  }
  expect((await t.call('GET', `/explore/${third}`)).body).toMatchObject({
    item: { remixOf: { id: second } },
    lineage: [{ id: second, title: 'Second', maker: '@ben' }],
  })
  await ann.call('PATCH', `/apps/${root}/audience`, { expiresAt: null })
  expect((await t.call('GET', `/explore/${second}`)).body).toMatchObject({
    item: { remixOf: { id: root, title: 'Secret root', maker: '@ann' } },
  })
  // The removal of a private origin does not bring its name back.
  await ann.call('PATCH', `/apps/${root}/audience`, { audience: 'link' })
  await ann.call('DELETE', `/apps/${root}`)
  t.clock.advance(31 * day)
  expect(await purgeDeleted(t.ctx, async () => {})).toBe(1)
  for (const body of await read()) {
    expect(body).not.toContain('Secret root')
    expect(body).not.toContain(root)
  }
})

test('names the origin of a pack only while it is public', async () => {
  const root = await publishPackOnExplore(ann)
  const copy = (await ben.call('POST', `/apps/${root}/remix`, {})).text('skill.id')
  expect((await ben.call('PATCH', `/skills/${copy}`, { store: true })).status).toBe(200)
  const path = `/skills/${copy}`
  expect((await t.call('GET', path)).body).toMatchObject({ skill: { remixOf: { id: root } } })
  await ann.call('PATCH', `/apps/${root}/audience`, { audience: 'link' })
  expect((await t.call('GET', path)).body).toMatchObject({ skill: { remixOf: null } })
  expect((await ben.call('GET', path)).body).toMatchObject({ skill: { remixOf: { id: root } } })
})
