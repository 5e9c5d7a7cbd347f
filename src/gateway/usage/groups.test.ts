import { afterAll, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const chat = (key: string, model: string) =>
  faked.request('POST', '/v1/chat/completions', {
    key,
    body: { model, messages: [{ role: 'user', content: 'Say hello.' }] },
  })

const faked = await startFakeUpstreamServer()
const gus = await faked.gus('1')
const project = (await gus.call('POST', '/v1/accounts/projects', { name: 'web' })).text('id')
const made = await gus.call('POST', '/v1/accounts/keys', { tags: ['ci', 'nightly'], project })
const ci = made.text('api_key')
await chat(gus.key, 'fake/ok')
await chat(gus.key, 'fake/ok-crlf')
faked.clock.advance(day)
for (let call = 0; call < 3; call += 1) await chat(ci, 'fake/ok')
afterAll(() => faked.close())

const usage = async (query: string) =>
  Object((await gus.call('GET', `/v1/accounts/usage?${query}`)).body).data

test('adds up the calls of each day, key, model, upstream, tag and project', async () => {
  expect(await usage('')).toMatchObject([
    { day: '2026-05-05', requests: 3, input_count: 33, output_count: 21 },
    { day: '2026-05-04', requests: 2 },
  ])
  expect(await usage('group_by=key')).toMatchObject([
    { key: ci.slice(0, 11), requests: 3 },
    { key: gus.key.slice(0, 11), requests: 2 },
  ])
  expect(await usage('group_by=model,upstream')).toMatchObject([
    { model: 'fake/ok', upstream: 'ok', requests: 4 },
    { model: 'fake/ok-crlf', requests: 1 },
  ])
  expect(await usage('group_by=tag,day')).toMatchObject([
    { tag: 'ci', day: '2026-05-05', requests: 3 },
    { tag: 'nightly', requests: 3 },
    { tag: null, day: '2026-05-04', requests: 2 },
  ])
  expect(await usage('group_by=project')).toMatchObject([
    { project: 'web', requests: 3 },
    { project: null, requests: 2 },
  ])
  expect(await usage('from=2026-05-04&to=2026-05-04')).toMatchObject([{ requests: 2 }])
})

test('has the cost of the history, and is a CSV', async () => {
  const rows = await usage('group_by=model')
  const history = Object((await gus.call('GET', '/v1/queries/history')).body).data
  const sum = (list: { price_in_usd: number }[]) =>
    list.reduce((total, { price_in_usd }) => total + Math.round(price_in_usd * 1e9), 0)
  expect(sum(rows)).toBe(sum(history))
  const csv = await gus.call('GET', '/v1/accounts/usage?group_by=key,model&format=csv')
  expect(csv.headers.get('content-type')).toContain('text/csv')
  const [header, first] = String(csv.body).split('\r\n')
  expect(header).toBe(
    'key,model,requests,input_count,cached_count,output_count,reasoning_count,search_count,price_in_usd',
  )
  expect(first).toStartWith(`${ci.slice(0, 11)},fake/ok,3,33,`)
})

test('rejects unknown fields and times, and shows no other account', async () => {
  for (const query of ['group_by=owner', 'group_by=day,day', 'group_by=', 'from=soon']) {
    const { status } = await gus.call('GET', `/v1/accounts/usage?${query}`)
    expect([query, status]).toEqual([query, 400])
  }
  const other = await faked.gus('1')
  expect((await other.call('GET', '/v1/accounts/usage')).body).toEqual({ data: [] })
})
