import { afterAll, expect, spyOn, test } from 'bun:test'

import { runningPerKey } from '../../kernel/limits.ts'
import { nano } from '../../kernel/money.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { openHold } from '../../money/ledger/ledger.ts'
import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { quickOutcomes } from '../../testing/fixtures/ledger.ts'
import { testModel } from '../../testing/fixtures/models.ts'
import { until } from '../../testing/until.ts'
import { expireHolds, holdDurationMs, holdRef } from '../usage/expire-holds.ts'

const later = fakeModel('ok', { id: 'fake/later' })
const offers = later.offers.map((offer) => ({ ...offer, model: 'fake/later' }))
const { price } = testModel({ prompt: '999999999', completion: '999999999' })
const dear = fakeModel('ok', { id: 'fake/dear', price })
const faked = await startFakeUpstreamServer({}, [{ ...later, offers }, dear], {
  // PostgreSQL needs time for 100 calls of one account.
  pendingSettlements: quickOutcomes(10_000),
})
afterAll(() => faked.close())

const path = '/v1/chat/completions'
const ask = (model: string, content = 'Say hello.', more: object = {}) => ({
  model,
  messages: [{ role: 'user', content }],
  max_tokens: 50,
  ...more,
})
const balanceOf = async (gus: GatewayUser) =>
  Object((await gus.call('POST', '/credits/balance', {})).body)

/** The hold of one such call, in nano-USD. */
async function heldBy(model: string): Promise<bigint> {
  const gus = await faked.gus()
  await gus.call('POST', path, ask(model, '000'))
  return (await faked.lastUse(gus)).use?.held ?? 0n
}

test('of 100 parallel calls exactly as many succeed as the credits cover', async () => {
  const held = await heldBy('fake/bad-json')
  const gus = await faked.gus(String(Number(held * 7n + held / 2n) / 1e9))
  const second = await gus.call('POST', '/accounts/keys', {})
  const keys = [gus.key, second.text('api_key')]
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      faked.request('POST', path, {
        key: keys[at % 2],
        // Bodies differ, because the same failure would be repeated without a charge.
        body: ask('fake/bad-json', String(at).padStart(3, '0')),
      }),
    ),
  )
  const count = (status: number) =>
    responses.filter((response) => response.status === status).length
  // An unreadable response charges its whole hold.
  expect({ charged: count(502), rejected: count(402) }).toEqual({ charged: 7, rejected: 93 })
  expect((await faked.lastUse(gus)).total).toBe(7)
  expect((await balanceOf(gus)).balance).toBe(Number(held / 2n) / 1e9)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('without a journal a settlement that the database misses is reported, and exact later', async () => {
  const gus = await faked.gus()
  const { tx } = faked.ctx.db
  const away = spyOn(faked.ctx.db, 'tx').mockRejectedValue(new Error('away'))
  away.mockImplementationOnce(tx)
  const response = await gus.call('POST', path, ask('fake/ok'))
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([500, 'false'])
  expect(Object(response.body).error.message).toContain('is charged when the database recovers')
  expect((await balanceOf(gus)).held).toBeGreaterThan(0)
  faked.clock.advance(holdDurationMs(faked.ctx))
  away.mockRestore()
  await expireHolds(faked.ctx)
  await until(() => faked.ctx.pendingSettlements.pendingCount === 0)
  expect((await faked.lastUse(gus)).use).toMatchObject({ charged: 37_000n, status: 'completed' })
  expect(await faked.findProblems(gus)).toEqual([])
})

test('402 has the needed and available credits; a cap is 429; neither is charged', async () => {
  const poor = await faked.gus('0.0001')
  const rejected = await poor.call('POST', path, ask('fake/ok'))
  expect(rejected.status).toBe(402)
  expect(rejected.body).toMatchObject({
    error: { type: 'insufficient_quota', message: expect.stringMatching(/\$0\.00\d+ .*\$0\.0001/) },
  })
  const gus = await faked.gus()
  const capped = await gus.call('POST', '/accounts/keys', { daily_cap: 0 })
  const response = await faked.request('POST', path, {
    key: capped.text('api_key'),
    body: ask('fake/ok'),
  })
  expect(response.status).toBe(429)
  expect(response.body).toMatchObject({ error: { type: 'rate_limit_error' } })
  for (const one of [poor, gus]) {
    expect((await faked.lastUse(one)).total).toBe(0)
    expect(await faked.findProblems(one)).toEqual([])
  }
})

test('a cost above the range of the database is 402', async () => {
  const gus = await faked.gus()
  const rejected = await gus.call('POST', path, ask('fake/dear'))
  expect([rejected.status, Object(rejected.body).error.type]).toEqual([402, 'insufficient_quota'])
  expect(await balanceOf(gus)).toMatchObject({ balance: 1, held: 0 })
})

test('a smaller max_tokens lowers the hold', async () => {
  const gus = await faked.gus()
  const held = async (max: number) => {
    await gus.call('POST', path, ask('fake/ok', 'x', { max_tokens: max }))
    return (await faked.lastUse(gus)).use?.held ?? 0n
  }
  const [small, large] = [await held(10), await held(500)]
  // The digits of the number are part of the body, whose bytes limit its tokens.
  expect(large - small).toBe(490n * 4_000n + 1_000n)
})

test('the running calls of a key are limited', async () => {
  const gus = await faked.gus()
  const left = new AbortController()
  const call = () =>
    fetch(faked.origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gus.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('fake/hang')),
      signal: left.signal,
    }).catch(() => undefined)
  const before = faked.fake.received.length
  const running = Array.from({ length: runningPerKey }, call)
  await faked.fake.arrival(before + runningPerKey - 1)
  const one = await call()
  expect(one?.status).toBe(429)
  expect(one?.headers.get('retry-after')).toBe('1')
  left.abort()
  await Promise.all(running)
  await until(async () => (await faked.lastUse(gus)).total >= runningPerKey)
  expect((await gus.call('POST', path, ask('fake/ok'))).status).toBe(200)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('a key that is revoked during a stream pays for it and cannot start another', async () => {
  const gus = await faked.gus()
  const second = await gus.call('POST', '/accounts/keys', {})
  const [key, id] = [second.text('api_key'), second.text('id')]
  const call = () =>
    fetch(faked.origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('fake/ok-slow', 'Say much.', { stream: true })),
    })
  const streaming = await call()
  expect((await gus.call('DELETE', `/accounts/keys/${id}`)).status).toBe(200)
  expect((await call()).status).toBe(401)
  expect((await streaming.text()).trimEnd().endsWith('data: [DONE]')).toBe(true)
  const { use, total } = await faked.lastUse(gus)
  expect({ total, output: use?.output, estimated: use?.estimated }).toEqual({
    total: 1,
    output: 40,
    estimated: false,
  })
  expect(await faked.findProblems(gus)).toEqual([])
})

test('under an Idempotency-Key a call is charged once; the same call in flight is 409', async () => {
  const gus = await faked.gus()
  const twinCalled = Promise.withResolvers<void>()
  const plain = scripts.ok?.plain ?? []
  faked.fake.script('fake/later', [{ until: twinCalled.promise }, ...plain])
  const body = ask('fake/later')
  const key = { 'idempotency-key': 'a-1' }
  const before = faked.fake.received.length
  const running = gus.call('POST', path, body, key)
  await faked.fake.arrival(before)
  const twin = await gus.call('POST', path, body, key)
  twinCalled.resolve()
  const ran = await running
  expect([ran.status, twin.status]).toEqual([200, 409])
  expect(twin.headers.get('retry-after')).toBe('1')
  const again = await gus.call('POST', path, body, key)
  expect(again.body).toEqual(ran.body)
  expect(again.headers.get('x-service-cost')).toBe(String(ran.headers.get('x-service-cost')))
  expect((await gus.call('POST', path, ask('fake/later', 'Other.'), key)).status).toBe(409)
  expect((await faked.lastUse(gus)).total).toBe(1)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('under an Idempotency-Key a call continues when its client leaves, and a retry finds it', async () => {
  const gus = await faked.gus()
  const plain = scripts.ok?.plain ?? []
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  faked.fake.script('fake/later', [{ until: gone }, ...plain])
  const client = new AbortController()
  const before = faked.fake.received.length
  const headers = { 'idempotency-key': 'c-1', 'content-type': 'application/json' }
  const body = ask('fake/later')
  const left = fetch(faked.origin + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${gus.key}` },
    body: JSON.stringify(body),
    signal: client.signal,
  }).catch(() => 'left')
  await faked.fake.arrival(before)
  client.abort()
  expect(await left).toBe('left')
  leave()
  const again = await until(async () => {
    const retried = await gus.call('POST', path, body, headers)
    return retried.status !== 409 && retried
  })
  expect(again.status).toBe(200)
  expect(faked.fake.received.length).toBe(before + 1)
  expect((await faked.lastUse(gus)).use).toMatchObject({ status: 'completed', output: 7 })
  expect(await faked.findProblems(gus)).toEqual([])
})

test('a retry of work that died with its process reports the charge, and is charged once', async () => {
  const gus = await faked.gus()
  const { ctx } = faked
  const account = accountOf({ kind: 'gateway', owner: gus.creditId })
  const body = ask('fake/ok')
  const request = { path: '/chat/completions', body }
  const die = async () => {
    const { slot, release } = await ctx.idempotency.acquire(account, 'd-1', request)
    const what = { kind: 'chat', item: 'fake/ok', onExpiry: 'settle', ms: 1 } as const
    const ref = holdRef(['chat', 'died'], slot)
    await ctx.db.tx((db) => openHold(ctx, db, { account, amount: nano(9n), ref, ...what }))
    await release()
    throw new Error('killed')
  }
  const died = die()
  expect(await died.catch(String)).toContain('killed')
  faked.clock.advance(2)
  await expireHolds(ctx)
  const key = { 'idempotency-key': 'd-1' }
  const again = await gus.call('POST', path, body, key)
  expect([again.status, again.code]).toEqual([502, 'unreadable_response'])
  expect(again.headers.get('x-should-retry')).toBe('false')
  expect((await gus.call('POST', path, ask('fake/ok', 'Other.'), key)).status).toBe(409)
  const { use, total } = await faked.lastUse(gus)
  expect([total, use?.requestId, use?.charged]).toEqual([1, 'died', nano(9n)])
  expect(await faked.findProblems(gus)).toEqual([])
})

test('a charged failure is repeated for a minute, and then runs again', async () => {
  const gus = await faked.gus()
  const call = (headers?: Record<string, string>) =>
    gus.call('POST', path, ask('fake/bad-json'), headers)
  const first = await call()
  expect([first.status, first.headers.get('x-should-retry')]).toEqual([502, 'false'])
  const second = await call()
  expect(second.body).toEqual(first.body)
  expect((await faked.lastUse(gus)).total).toBe(1)
  faked.clock.advance(60_000)
  expect((await call({ 'idempotency-key': 'b-1' })).status).toBe(502)
  expect((await faked.lastUse(gus)).total).toBe(2)
  faked.clock.advance(3_600_000)
  const kept = await call({ 'idempotency-key': 'b-1' })
  expect([kept.body, kept.headers.get('x-should-retry')]).toEqual([first.body, 'false'])
  expect((await faked.lastUse(gus)).total).toBe(2)
  faked.clock.advance(-7_200_000)
  expect((await call()).status).toBe(502)
  expect((await faked.lastUse(gus)).total).toBe(3)
  expect(await faked.findProblems(gus)).toEqual([])
})
