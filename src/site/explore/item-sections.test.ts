import { afterEach, beforeEach, expect, test } from 'bun:test'

import { isRecord } from '../../kernel/schema.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  type FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let bella: FormBrowser
let id: string
let path: string

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  bella = await signUp(t, 'bella')
  await claimAgent(bella, ben)
  id = await ann.publish({ title: 'Harbour Lights', store: true })
  path = `/explore/${id}/remix`
})
afterEach(() => closeWithoutErrors(t))

const confirm = async (): Promise<{ text: string; fields: Record<string, string> }> => {
  const text = await bella.read(path)
  return { text, fields: { ...hiddenFields(text, path), as: 'ben' } }
}
const credits = async (agent: TestAgent): Promise<unknown> => {
  const { body } = await agent.call('GET', '/me')
  return isRecord(body) ? body['credits'] : undefined
}

test('shows the price first, and pays once', async () => {
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 40 })
  expect(await bella.read(`/explore/${id}`)).toContain('Remix · 40 credits')
  const { text, fields } = await confirm()
  expect(shownPage(text).text).toMatch(/40 credits ?80% for the maker/)
  expect(text).toContain('@ben · 400 credits')
  shownPage(text).byRole('button', 'Remix for 40 credits')
  expect(await credits(ben)).toBe(400)
  const done = await bella.send(path, fields)
  const location = done.headers.get('location') ?? ''
  expect([done.status, location]).toEqual([
    303,
    expect.stringMatching(/^\/studio\/[\w-]{12}\/build\?done=remix$/),
  ])
  expect([await credits(ben), await credits(ann)]).toEqual([360, 432])
  expect((await bella.send(path, fields)).headers.get('location')).toBe(location)
  expect(await credits(ben)).toBe(360)
  expect(await bella.read(location)).toContain('This copy is yours.')
})

test('copies a free item without credits', async () => {
  const { text, fields } = await confirm()
  expect(shownPage(text).text).toContain('Price Free')
  expect((await bella.send(path, fields)).status).toBe(303)
  expect([await credits(ben), await credits(ann)]).toEqual([400, 400])
})

test('asks again after the price changed', async () => {
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 40 })
  const { fields } = await confirm()
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 50 })
  const before = await t.snapshot()
  const failed = await bella.send(path, fields)
  expect([failed.status, alertText(failed)]).toEqual([
    402,
    expect.stringContaining('The price changed to 50 credits. Nothing was charged.'),
  ])
  shownPage(failed.body).byRole('button', 'Remix for 50 credits')
  for (const maxCredits of ['', '-1', '1.5', 'x']) {
    expect((await bella.send(path, { ...fields, maxCredits })).status).toBe(400)
  }
  expect((await bella.send(path, { ...fields, maxCredits: '50', ref: 'no' })).status).toBe(400)
  expect(await t.snapshot()).toEqual(before)
})

test('explains missing credits, a daily limit, a pause and disabled remixes', async () => {
  const attempt = async () => {
    const failed = await bella.send(path, { ...(await confirm()).fields })
    return [failed.status, alertText(failed)]
  }
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 401 })
  expect(await attempt()).toEqual([402, expect.stringContaining('the agent has 400')])
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 40 })
  await bella.fill('/agents/ben/settings', '/agents/ben/cap', { dailyCap: '39' })
  expect(await attempt()).toEqual([402, expect.stringContaining('of its daily cap of 39 credits')])
  await bella.fill('/agents/ben', '/agents/ben/pause', { paused: 'yes' })
  expect(await attempt()).toEqual([
    403,
    expect.stringContaining('Spending of this agent is paused'),
  ])
  const { fields } = await confirm()
  await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })
  const off = await bella.send(path, fields)
  expect([off.status, alertText(off)]).toEqual([403, expect.stringContaining('turned off remixes')])
  expect(shownPage(off.body).forms(path)).toEqual([])
  expect(await credits(ben)).toBe(400)
})

test('lets a person with several agents choose one, but not a suspended one', async () => {
  const bob = await t.agent('bob')
  await claimAgent(bella, bob)
  const { text, fields } = await confirm()
  expect(shownPage(text).byRole('option', '@ben · 400 credits').value).toBe('ben')
  expect((await bella.send(path, { ...fields, as: 'bob' })).status).toBe(303)
  expect((await bob.call('GET', '/me')).body).toMatchObject({ apps: [{ title: 'Harbour Lights' }] })
  const olga = await signInOperator(t)
  const page = '/console/agents/bob'
  await olga.fill(page, page, { decision: 'suspend', why: 'spam' })
  const next = await confirm()
  expect(next.text).not.toContain('@bob')
  const denied = await bella.send(path, { ...next.fields, as: 'bob' })
  expect([denied.status, alertText(denied)]).toEqual([403, expect.stringContaining('spam')])
})
