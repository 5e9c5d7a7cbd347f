import { afterEach, expect, test } from 'bun:test'

import { consents } from '../../apps/ai/tables.ts'
import { forgetGuests } from '../../apps/app-data/players.ts'
import { fromCredits } from '../../kernel/money.ts'
import { hour } from '../../kernel/time.ts'
import { findByHandle } from '../../people/agents/agents.ts'
import { updateLimits } from '../../people/agents/spending.ts'
import { callTool } from '../../testing/fixtures/mcp-server.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
const turn = JSON.stringify({ messages: [{ role: 'user', content: 'Tell me of the sea' }] })

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let id = ''
/** The passes of views that each party has opened. */
let passes = new Map<TestAgent | undefined, string>()
afterEach(() => t.close())

async function openOracle(uses?: string[]): Promise<void> {
  t = await startTestServer()
  ;[ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  id = await ann.publish({ html, uses })
  await openViews()
}

async function openViews(): Promise<void> {
  passes = new Map()
  for (const by of [undefined, ann, ben]) {
    const opened = await callTool(t, 'open_app_page', { id }, by ? { key: by.key } : {})
    passes.set(by, String(opened.structuredContent['pass']))
  }
}

const useData = async (by: TestAgent | undefined, method: string, path: string, body?: unknown) => {
  const args = { id, pass: passes.get(by), method, path, ...(body !== undefined && { body }) }
  const result = await callTool(t, 'use_app_data', args, by ? { key: by.key } : {})
  return result.structuredContent
}
const chat = async (by?: TestAgent, path = 'v1/chat/completions', body = turn) => {
  const args = { id, pass: passes.get(by), path, body }
  return (await callTool(t, 'use_app_model', args, by ? { key: by.key } : {})).structuredContent
}

test('the values of an app are those of the agent that plays in the chat', async () => {
  await openOracle()
  expect(await useData(ben, 'GET', '/player')).toMatchObject({ player: { signedIn: true } })
  await useData(ben, 'PUT', '/value/own', { key: 'level', value: { at: 3 } })
  const path = '/value/own?key=level'
  expect(await useData(ben, 'GET', path)).toMatchObject({ key: 'level', value: { at: 3 } })
  expect(await useData(ann, 'GET', path)).toMatchObject({ code: 'not_found' })
  expect(await useData(ben, 'GET', '/values/own')).toEqual({ keys: ['level'] })
  expect(await useData(ben, 'DELETE', path)).toEqual({ deleted: true })
  // The key may be an argument, as it may of every tool.
  const args = { id, pass: passes.get(ben), key: ben.key, method: 'GET', path: '/player' }
  const named = await callTool(t, 'use_app_data', args)
  expect(named.structuredContent).toMatchObject({ player: { signedIn: true } })
})

test('what an agent keeps in an app outlasts the sweep of guests, and needs no place of theirs', async () => {
  await openOracle()
  t.ctx.state.limits.newGuests.max = 1
  await t.call('POST', `/apps/${id}/player`, { body: {} })
  await useData(ben, 'PUT', '/value/own', { key: 'level', value: 3 })
  expect(await useData(ben, 'POST', '/player', {})).toMatchObject({ player: { joined: true } })
  t.clock.advance(31 * 24 * 3_600_000)
  expect(await forgetGuests(t.ctx)).toBe(1)
  await openViews()
  expect(await useData(ben, 'GET', '/value/own?key=level')).toMatchObject({ value: 3 })
  expect(await useData(ben, 'GET', '/player')).toMatchObject({ player: { joined: true } })
  const listed = await ann.call('GET', `/apps/${id}/records?kind=personal`)
  expect(Object(listed.body).records).toHaveLength(1)
})

test('an agent in a chat pays the margin of the maker, who pays none to themselves', async () => {
  await openOracle()
  await ann.call('PATCH', `/apps/${id}`, { aiMargin: 50 })
  const agree = (by: TestAgent, margin: number) =>
    useData(by, 'PUT', '/consent', { uses: ['ai'], dailyCap: 100, margin, remember: false })
  const creditsOf = async (by: TestAgent) =>
    Math.round(Number(Object((await by.call('GET', '/me')).body).credits) * 1e6)
  await agree(ben, 0)
  expect(await chat(ben)).toMatchObject({ status: 403 })
  await agree(ben, 50)
  expect(await chat(ben)).toMatchObject({ status: 200 })
  const paid = 400e6 - (await creditsOf(ben))
  expect(await creditsOf(ann)).toBe(400e6 + Math.floor((paid * 50) / 150))
  await agree(ann, 50)
  const before = await creditsOf(ann)
  expect(await chat(ann)).toMatchObject({ status: 200 })
  expect(before - (await creditsOf(ann))).toBe(Math.round(paid / 1.5))
})

test('an agent shares data with other players after it has agreed, like any player', async () => {
  await openOracle(['db'])
  const body = { collection: 'scores', data: { points: 7 } }
  expect(await useData(ben, 'POST', '/documents', body)).toMatchObject({ code: 'not_joined' })
  expect(await useData(ben, 'POST', '/player', {})).toMatchObject({ player: { joined: true } })
  expect(await useData(ben, 'POST', '/documents', body)).toMatchObject({
    document: { data: { points: 7 } },
  })
  await useData(ann, 'POST', '/player', {})
  const found = await useData(ann, 'POST', '/documents/query', { collection: 'scores' })
  expect(found).toMatchObject({ documents: [{ data: { points: 7 } }] })
})

test('a chat without a key reads who plays, and stores nothing', async () => {
  await openOracle()
  expect(await useData(undefined, 'GET', '/player')).toMatchObject({
    player: { id: null, signedIn: false },
  })
  const before = await t.snapshot()
  for (const [method, path, body] of [
    ['PUT', '/value/own', { key: 'a', value: 1 }],
    ['POST', '/player', {}],
    ['PUT', '/consent', { uses: ['ai'], dailyCap: 100, remember: true }],
  ] as const) {
    expect(await useData(undefined, method, path, body)).toMatchObject({ code: 'no_key' })
  }
  expect(await useData(undefined, 'GET', '/value/own?key=a')).toMatchObject({ code: 'no_key' })
  expect(await chat()).toMatchObject({ status: 403, code: 'not_signed_in' })
  expect(await t.snapshot()).toEqual(before)
})

test('a view reaches the calls of apps and nothing else', async () => {
  await openOracle()
  const before = await t.snapshot()
  for (const [method, path] of [
    ['DELETE', '/'],
    ['GET', '/live'],
    ['GET', '/html'],
    ['PATCH', '/audience'],
    ['GET', '/value/own/../../html'],
    ['GET', '//other.example/value/own'],
    ['DELETE', '/consent'],
  ] as const) {
    expect(await useData(ann, method, path)).toMatchObject({ code: 'not_found' })
  }
  expect(await useData(ann, 'PUT', '/value/own', { key: '', value: 1 })).toMatchObject({
    code: 'bad_request',
  })
  const pass = passes.get(undefined)
  const wrong = await callTool(t, 'use_app_data', { id, pass, method: 'TRACE', path: '/player' })
  expect(wrong).toMatchObject({ isError: true, structuredContent: { code: 'bad_request' } })
  const bad = await callTool(t, 'use_app_data', {
    id,
    pass,
    key: 'nothing',
    method: 'GET',
    path: '/player',
  })
  expect(bad.structuredContent['code']).toBe('bad_key')
  expect(await t.snapshot()).toEqual(before)
  await useData(ann, 'PUT', '/consent', { uses: ['ai'], dailyCap: 100, remember: true })
  expect(await chat(ann, '../../api/me')).toMatchObject({ status: 404 })
})

test('an app in a chat calls a model after the consent, and the agent pays within its cap', async () => {
  await openOracle()
  expect(await useData(ben, 'GET', '/ai')).toMatchObject({ state: 'ask', available: 400 })
  const before = await t.snapshot()
  expect(await chat(ben)).toMatchObject({ status: 403, code: 'not_granted' })
  expect(await t.snapshot()).toEqual(before)
  const agree = (dailyCap: number) =>
    useData(ben, 'PUT', '/consent', { uses: ['ai'], dailyCap, remember: false })
  await agree(3)
  const reply = await chat(ben)
  expect(reply).toMatchObject({ status: 200, type: expect.stringContaining('json') })
  expect(String(reply['text'])).toContain('Tell me of the sea')
  const cost = Math.round(Number(reply['cost']) * 1e9)
  expect(cost).toBeGreaterThan(0)
  expect(cost).toBeLessThanOrEqual(3_000_000)
  expect((await ben.call('GET', '/me')).body).toMatchObject({ credits: 400 - cost / 1e6, held: 0 })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400 })
  expect(await useData(ben, 'GET', '/ai')).toMatchObject({ state: 'ready', spent: cost / 1e6 })
  await agree(0)
  expect(await chat(ben)).toMatchObject({ status: 403, code: 'budget_exceeded' })
  // The cap of the agent holds as well.
  await agree(100)
  const found = await findByHandle(t.ctx, ben.handle)
  await t.ctx.db.tx((db) => updateLimits(db, found?.id ?? '', { dailyCap: fromCredits(0) }))
  t.ctx.keys.forget()
  expect(await chat(ben)).toMatchObject({ status: 403, code: 'daily_cap' })
})

test('what an agent may no longer open, or agreed to before it closed, ends at once', async () => {
  await openOracle()
  await useData(ben, 'PUT', '/value/own', { key: 'level', value: 3 })
  await useData(ben, 'PUT', '/consent', { uses: ['ai'], dailyCap: 100, remember: true })
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  for (const [method, path] of [
    ['GET', '/player'],
    ['GET', '/value/own?key=level'],
    ['GET', '/ai'],
  ] as const) {
    expect(await useData(ben, method, path)).toMatchObject({ code: 'not_found' })
  }
  expect(await chat(ben)).toMatchObject({ status: 404 })
  expect(await useData(ann, 'GET', '/player')).toMatchObject({ player: { signedIn: true } })
  const countConsents = async () => (await t.ctx.db.read.select().from(consents)).length
  expect(await countConsents()).toBe(1)
  await ben.call('DELETE', '/me')
  expect(await countConsents()).toBe(0)
  const listed = await ann.call('GET', `/apps/${id}/records?kind=personal`)
  expect(listed.body).toMatchObject({ records: [] })
  expect(await useData(ben, 'GET', '/player')).toMatchObject({ code: 'account_closed' })
})

test('a view calls for the app alone that it has opened', async () => {
  await openOracle()
  const other = await ann.publish({ html })
  const pass = passes.get(ben)
  const before = await t.snapshot()
  const consent = { method: 'PUT', path: '/consent', body: { uses: ['ai'], dailyCap: 9 } }
  for (const given of [
    { id: other, pass },
    { id, pass: '' },
    { id, pass: `${pass}a` },
  ]) {
    for (const [name, args] of [
      ['use_app_data', { ...given, ...consent }],
      ['use_app_model', { ...given, path: 'v1/messages', body: turn }],
    ] as const) {
      const barred = await callTool(t, name, args, { key: ben.key })
      expect(barred.structuredContent).toMatchObject({ code: 'not_found' })
    }
  }
  const without = await callTool(t, 'use_app_model', { id, path: 'v1/messages', body: turn })
  expect(without.structuredContent).toMatchObject({ code: 'bad_request' })
  expect(await t.snapshot()).toEqual(before)
})

test('a model that speaks answers in base64', async () => {
  await openOracle()
  await useData(ben, 'PUT', '/consent', { uses: ['ai'], dailyCap: 100, remember: false })
  const speech = await chat(ben, 'v1/audio/speech', JSON.stringify({ input: 'Hi', voice: 'a' }))
  expect(speech).toMatchObject({ status: 200, blob: expect.stringMatching(/^[\w+/]+=*$/) })
})

test('the pass of a view is for the party that opened it, and ends within two hours', async () => {
  await openOracle()
  const given = { id, pass: passes.get(ben), method: 'GET', path: '/player' }
  const codeFor = async (by?: TestAgent) =>
    (await callTool(t, 'use_app_data', given, by ? { key: by.key } : {})).structuredContent['code']
  const codes = async () => [await codeFor(ben), await codeFor(ann), await codeFor()]
  expect(await codes()).toEqual([undefined, 'not_found', 'not_found'])
  t.clock.advance(hour)
  expect(await codeFor(ben)).toBeUndefined()
  t.clock.advance(hour)
  expect(await codeFor(ben)).toBe('not_found')
})
