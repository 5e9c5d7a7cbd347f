import { afterEach, expect, test } from 'bun:test'

import { doctor } from '../../money/ledger/doctor.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { flushTurns } from './turns.ts'

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
const here = { 'sec-fetch-site': 'same-origin' }

let t: TestServer
afterEach(() => t.close())

/** An app of ann with this margin, and olga with 1 USD. */
async function openOracle(aiMargin: number, settings: Record<string, string> = {}) {
  t = await startTestServer(settings)
  const ann = await t.agent('ann')
  const id = await ann.publish({ html })
  const set = (percent: unknown, key = ann) =>
    key.call('PATCH', `/apps/${id}`, { aiMargin: percent })
  if (aiMargin > 0) expect((await set(aiMargin)).body).toMatchObject({ app: { aiMargin } })
  const { person } = await createTestPerson(t, 'olga', 1n)
  const { cookie } = await createTestSession(t, { person })
  const headers = { ...here, cookie }
  return {
    ann,
    id,
    set,
    state: async () => (await t.call('GET', `/apps/${id}/ai`, { headers })).body,
    agree: (margin?: number, dailyCap = 100) =>
      t.call('PUT', `/apps/${id}/consent`, {
        headers,
        body: { uses: ['ai'], dailyCap, remember: true, ...(margin !== undefined && { margin }) },
      }),
    chat: (text = 'Tell me of the sea', more: object = {}) =>
      t.request('POST', `/a/${id}/ai/v1/chat/completions`, {
        headers,
        body: { messages: [{ role: 'user', content: text }], ...more },
      }),
    creditsOfPlayer: async () =>
      Number(Object((await t.call('GET', '/people/me', { headers })).body).credits),
    creditsOfMaker: async () => Number(Object((await ann.call('GET', '/me')).body).credits),
  }
}

const nanoOf = ({ headers }: { headers: Headers }): number =>
  Math.round(Number(headers.get('x-service-cost')) * 1e9)
const nanoOfCredits = (credits: number): number => Math.round(credits * 1e6)

test('a player pays the margin that the bar named, and the maker earns it to the nano', async () => {
  const { ann, id, state, agree, chat, creditsOfMaker, creditsOfPlayer } = await openOracle(0)
  await agree()
  const plain = nanoOf(await chat())
  await ann.call('PATCH', `/apps/${id}`, { aiMargin: 50 })
  expect(await state()).toMatchObject({ state: 'ask', margin: 50 })
  const before = await t.snapshot()
  expect((await chat()).code).toBe('not_granted')
  expect(await t.snapshot()).toEqual(before)
  await agree(49)
  expect((await chat()).code).toBe('not_granted')
  expect((await agree(50)).body).toMatchObject({ margin: 50 })
  const [maker, player] = [await creditsOfMaker(), await creditsOfPlayer()]
  const paid = nanoOf(await chat())
  expect(paid).toBe(Math.ceil((plain * 150) / 100))
  expect(nanoOfCredits(player - (await creditsOfPlayer()))).toBe(paid)
  expect(nanoOfCredits((await creditsOfMaker()) - maker)).toBe(Math.floor((paid * 50) / 150))
  const entries = Object((await ann.call('GET', '/me/ledger')).body).entries
  expect(entries[0]).toMatchObject({ kind: 'margin', item: id })
  const earned = await ann.call('GET', '/me/earnings')
  expect(JSON.stringify(earned.body)).toContain(id)
  expect((await doctor(t.ctx)).problems).toEqual([])
})

test('a lower margin needs no new agreement, a higher one does', async () => {
  const { set, agree, chat, state } = await openOracle(20)
  await agree(20)
  await set(10)
  expect((await chat()).status).toBe(200)
  expect(await state()).toMatchObject({ state: 'ready', margin: 10 })
  await set(21)
  expect((await chat()).code).toBe('not_granted')
})

test('streams have the margin, and many calls at once are exact', async () => {
  const { agree, chat, creditsOfMaker, creditsOfPlayer } = await openOracle(30)
  await agree(30)
  const [maker, player] = [await creditsOfMaker(), await creditsOfPlayer()]
  const calls = Array.from({ length: 7 }, (_, at) => chat(`Line ${'sea '.repeat(at)}`))
  const costs = (await Promise.all(calls)).filter(({ status }) => status === 200).map(nanoOf)
  const stream = await chat('Hello', { stream: true, stream_options: { include_usage: true } })
  const [, cost = ''] = /"cost":([\d.e-]+)/.exec(String(stream.body)) ?? []
  costs.push(Math.round(Number(cost) * 1e9))
  const earned = costs.reduce((sum, paid) => sum + Math.floor((paid * 30) / 130), 0)
  expect(costs.every((paid) => paid > 0)).toBe(true)
  expect(nanoOfCredits((await creditsOfMaker()) - maker)).toBe(earned)
  const paid = costs.reduce((sum, one) => sum + one, 0)
  expect(nanoOfCredits(player - (await creditsOfPlayer()))).toBe(paid)
  expect((await doctor(t.ctx)).problems).toEqual([])
})

test('a cap holds with the margin, and a sponsor pays none', async () => {
  const { ann, id, agree, chat, creditsOfMaker } = await openOracle(50)
  await agree(50, 2)
  // Without the margin, the hold of this call would fit.
  const text = 'a'.repeat(2_000)
  expect((await chat(text)).code).toBe('daily_cap')
  await agree(50, 100)
  expect((await chat(text)).status).toBe(200)
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 100, playerDailyCap: 100 })
  const before = await creditsOfMaker()
  const sponsored = nanoOf(await chat())
  expect(nanoOfCredits(before - (await creditsOfMaker()))).toBe(sponsored)
})

test('a margin is a whole percentage to 50, of the own app', async () => {
  const { set } = await openOracle(0)
  const ben = await t.agent('ben')
  const before = await t.snapshot()
  for (const wrong of [51, -1, 1.5, '20', null]) {
    expect((await set(wrong)).code).toBe('bad_request')
  }
  expect((await set(20, ben)).status).toBe(404)
  expect((await t.call('PATCH', '/apps/x', { body: { aiMargin: 20 } })).code).toBe('no_key')
  expect(await t.snapshot()).toEqual(before)
})

test('where prices are off, no margin is set', async () => {
  const { set } = await openOracle(0, { PRICES_ON: 'false' })
  expect((await set(20)).code).toBe('bad_request')
  expect((await set(0)).status).toBe(200)
})

test('the bar names the measured price of a turn, with the margin', async () => {
  const { agree, chat, state, set } = await openOracle(0)
  await agree()
  expect(await state()).toMatchObject({ isMeasured: false })
  let sum = 0
  for (let turn = 0; turn < 5; turn += 1) sum += nanoOf(await chat())
  await flushTurns(t.ctx)
  const average = Math.floor(sum / 5)
  expect(await state()).toMatchObject({ isMeasured: true, turn: average / 1e6 })
  await set(50)
  expect(await state()).toMatchObject({ turn: Math.floor((average * 150) / 100) / 1e6 })
})
