import { afterEach, expect, spyOn, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { fromCredits, zero } from '../../kernel/money.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { accounts } from '../../money/ledger/tables.ts'
import { findByHandle } from '../../people/agents/agents.ts'
import { updateLimits } from '../../people/agents/spending.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
const body = { messages: [{ role: 'user', content: 'Tell me of the sea' }] }
const here = { 'sec-fetch-site': 'same-origin' }

let t: TestServer
afterEach(() => t.close())

async function openOracle() {
  t = await startTestServer()
  const ann = await t.agent('ann')
  return { ann, id: await ann.publish({ html }) }
}

const chat = (id: string, from: string, headers: Record<string, string> = here) =>
  t.request('POST', `/a/${id}/ai/v1/chat/completions`, { body, headers, from })
const stateOf = async (id: string) =>
  (await t.call('GET', `/apps/${id}/ai`, { headers: here })).body
const nanoOf = (headers: Headers): number => Math.round(Number(headers.get('x-service-cost')) * 1e9)

test('a maker pays for visitors without an account, up to both caps', async () => {
  const { ann, id } = await openOracle()
  expect((await chat(id, '192.0.2.50')).code).toBe('not_signed_in')
  const caps = { dailyCap: 5, playerDailyCap: 3 }
  const set = await ann.call('PUT', `/apps/${id}/sponsor`, caps)
  expect(set.body).toEqual({ sponsor: { ...caps, spent: 0 } })
  expect(await stateOf(id)).toMatchObject({ state: 'ready', available: null })

  const spent = new Map<string, number>()
  for (const from of ['192.0.2.50', '198.51.100.7', '203.0.113.99']) {
    for (let at = 0; at < 12; at += 1) {
      const { status, headers, code } = await chat(id, from)
      if (status === 200) spent.set(from, (spent.get(from) ?? 0) + nanoOf(headers))
      else
        expect([status, code]).toBeOneOf([
          [403, 'daily_cap'],
          [403, 'budget_exceeded'],
          [403, 'not_signed_in'],
        ])
    }
  }
  const all = [...spent.values()]
  const sum = all.reduce((total, one) => total + one, 0)
  expect(Math.max(...all)).toBeLessThanOrEqual(3_000_000)
  expect(sum).toBeLessThanOrEqual(5_000_000)
  const { body: after } = await ann.call('GET', `/apps/${id}/sponsor`)
  expect(after).toEqual({ sponsor: { ...caps, spent: sum / 1e6 } })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400 - sum / 1e6 })
})

test('many calls at once of many players stay below the cap of the sponsor', async () => {
  const { ann, id } = await openOracle()
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 4, playerDailyCap: 4 })
  const calls = Array.from({ length: 40 }, (_, at) => chat(id, `10.${at}.0.1`))
  const paid = (await Promise.all(calls)).filter(({ status }) => status === 200)
  const sum = paid.reduce((total, { headers }) => total + nanoOf(headers), 0)
  expect(sum).toBeLessThanOrEqual(4_000_000)
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400 - sum / 1e6, held: 0 })
})

test('beyond the caps the player is asked, and after the end, too', async () => {
  const { ann, id } = await openOracle()
  const { person } = await createTestPerson(t, 'olga', 1n)
  const { cookie } = await createTestSession(t, { person })
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 100, playerDailyCap: 100 })
  const asOlga = { ...here, cookie }
  expect((await chat(id, '192.0.2.50', asOlga)).status).toBe(200)
  expect((await ann.call('DELETE', `/apps/${id}/sponsor`)).body).toEqual({ sponsor: null })
  expect((await chat(id, '192.0.2.50', asOlga)).code).toBe('not_granted')
  expect((await ann.call('GET', `/apps/${id}/sponsor`)).body).toEqual({ sponsor: null })
})

test('a call that is more than a sponsor has left is paid by the player, who agrees first', async () => {
  const { ann, id } = await openOracle()
  const { person } = await createTestPerson(t, 'olga', 1n)
  const { cookie } = await createTestSession(t, { person })
  const headers = { ...here, cookie }
  // Of the cap, nothing is spent, and the hold of a call is more.
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 1, playerDailyCap: 1 })
  const before = await t.snapshot()
  expect((await chat(id, '192.0.2.50')).code).toBe('not_signed_in')
  expect((await chat(id, '192.0.2.50', headers)).code).toBe('not_granted')
  expect(await t.snapshot()).toEqual(before)
  const consent = { uses: ['ai'], dailyCap: 20, remember: false }
  await t.call('PUT', `/apps/${id}/consent`, { headers, body: consent })
  const take = spyOn(t.ctx.state.limits.gatewayRequests, 'take')
  const paid = await chat(id, '192.0.2.50', headers)
  expect(paid.status).toBe(200)
  // Two payers are tried for one call, which counts once.
  expect(take).toHaveBeenCalledTimes(1)
  const me = await t.call('GET', '/people/me', { headers })
  expect(me.body).toMatchObject({ credits: (1e9 - nanoOf(paid.headers)) / 1e6, held: 0 })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400, held: 0 })
})

test('a sponsor without credits leaves the call to the player', async () => {
  const { ann, id } = await openOracle()
  const { person } = await createTestPerson(t, 'olga', 1n)
  const { cookie } = await createTestSession(t, { person })
  const headers = { ...here, cookie }
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 300, playerDailyCap: 300 })
  const found = await findByHandle(t.ctx, ann.handle)
  await t.ctx.db.tx((db) =>
    db
      .update(accounts)
      .set({ balance: zero, free: zero })
      .where(eq(accounts.id, agentAccount(found?.id ?? ''))),
  )
  expect((await chat(id, '192.0.2.50', headers)).code).toBe('not_granted')
  const consent = { uses: ['ai'], dailyCap: 20, remember: false }
  await t.call('PUT', `/apps/${id}/consent`, { headers, body: consent })
  expect((await chat(id, '192.0.2.50', headers)).status).toBe(200)
  // The body of a form is read again for the player.
  const form = new FormData()
  form.append('file', new File([makeWav()], 'a.wav', { type: 'audio/wav' }))
  const sent = new Request('http://localhost/', { method: 'POST', body: form })
  const type = { 'content-type': sent.headers.get('content-type') ?? '' }
  const path = `/a/${id}/ai/v1/audio/transcriptions`
  const bytes = await sent.bytes()
  const transcript = await t.request('POST', path, {
    headers: { ...headers, ...type },
    body: bytes,
  })
  expect(transcript.status).toBe(200)
})

test('only the maker sets a sponsor, with whole caps', async () => {
  const { ann, id } = await openOracle()
  const ben = await t.agent('ben')
  const caps = { dailyCap: 5, playerDailyCap: 3 }
  const before = await t.snapshot()
  expect((await ben.call('PUT', `/apps/${id}/sponsor`, caps)).status).toBe(404)
  expect((await t.call('PUT', `/apps/${id}/sponsor`, { body: caps })).code).toBe('no_key')
  for (const wrong of [{}, { dailyCap: 0, playerDailyCap: 1 }, { ...caps, dailyCap: 1.5 }]) {
    expect((await ann.call('PUT', `/apps/${id}/sponsor`, wrong)).code).toBe('bad_request')
  }
  expect(await t.snapshot()).toEqual(before)
})

test('the allowance of the operator pays for players of every app, within its caps', async () => {
  t = await startTestServer({
    APP_ALLOWANCE_AGENT: 'bank',
    APP_ALLOWANCE_CREDITS: '4',
    APP_ALLOWANCE_PLAYER_CREDITS: '2',
  })
  const [ann, bank] = [await t.agent('ann'), await t.agent('bank')]
  const ids = [await ann.publish({ html }), await ann.publish({ html })]
  let sum = 0
  for (const from of ['192.0.2.50', '198.51.100.7', '203.0.113.99']) {
    let ofPlayer = 0
    for (let at = 0; at < 16; at += 1) {
      const { status, headers } = await chat(ids[at % 2] ?? '', from)
      if (status === 200) ofPlayer += nanoOf(headers)
      else expect(status).toBe(403)
    }
    expect(ofPlayer).toBeLessThanOrEqual(2_000_000)
    sum += ofPlayer
  }
  expect(sum).toBeGreaterThan(0)
  expect(sum).toBeLessThanOrEqual(4_000_000)
  expect((await bank.call('GET', '/me')).body).toMatchObject({ credits: 400 - sum / 1e6, held: 0 })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400 })
})

test('several sponsored apps and its own calls stay below the cap of the agent together', async () => {
  const { ann, id } = await openOracle()
  const ids = [id, await ann.publish({ html }), await ann.publish({ html })]
  for (const one of ids) {
    await ann.call('PUT', `/apps/${one}/sponsor`, { dailyCap: 5, playerDailyCap: 5 })
  }
  const found = await findByHandle(t.ctx, ann.handle)
  const dailyCap = fromCredits(5)
  await t.ctx.db.tx((db) => updateLimits(db, found?.id ?? '', { dailyCap }))
  t.ctx.keys.forget()
  const messages = [{ role: 'user', content: 'sea '.repeat(5_000) }]
  const long = { model: 'demo/chat', messages }
  let sum = 0
  for (const one of ids) {
    const path = `/a/${one}/ai/v1/chat/completions`
    for (let at = 0; at < 3; at += 1) {
      const from = `10.${at}.0.1`
      const { status, headers } = await t.request('POST', path, {
        body: long,
        headers: here,
        from,
      })
      if (status === 200) sum += nanoOf(headers)
    }
  }
  expect(sum).toBeGreaterThan(0)
  expect(sum).toBeLessThanOrEqual(5_000_000)
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400 - sum / 1e6, held: 0 })
  const own = await t.request('POST', '/v1/chat/completions', { key: ann.key, body: long })
  expect([own.status, own.code]).toEqual([429, 'daily_cap'])
  expect((await doctor(t.ctx)).problems).toEqual([])
})

test('the cap of the agent limits what it sponsors, before and after', async () => {
  const { ann, id } = await openOracle()
  const limit = async (credits: number) => {
    const found = await findByHandle(t.ctx, ann.handle)
    const dailyCap = fromCredits(credits)
    await t.ctx.db.tx((db) => updateLimits(db, found?.id ?? '', { dailyCap }))
    t.ctx.keys.forget()
  }
  await limit(5)
  const before = await t.snapshot()
  const over = await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 6, playerDailyCap: 6 })
  expect([over.status, over.code]).toEqual([400, 'bad_request'])
  expect(await t.snapshot()).toEqual(before)
  await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 5, playerDailyCap: 5 })
  expect((await chat(id, '192.0.2.50')).status).toBe(200)
  await limit(0)
  expect((await chat(id, '192.0.2.50')).code).toBe('not_signed_in')
})
