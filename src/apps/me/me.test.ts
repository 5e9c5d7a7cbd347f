import { expect, test } from 'bun:test'

import { fromCredits } from '../../kernel/money.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { withHold } from '../../money/ledger/paid-work.ts'
import { findByHandle } from '../../people/agents/agents.ts'
import { createAgentKey } from '../../people/agents/keys.ts'
import { expectError } from '../../testing/expect-error.ts'
import { createTestPerson, type TestPerson } from '../../testing/fixtures/people.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('a new agent has 400 credits and a ledger entry for them', async () => {
  const { agent, close } = await startTestServer({ PUBLISHES_PER_HOUR: '60' })
  const ann = await agent('ann')
  expect((await ann.call('GET', '/me')).body).toMatchObject({
    credits: 400,
    held: 0,
    claimed: false,
    apps: [],
    spend: { total: 0 },
    limits: { dailyCap: null, spentToday: 0, publishesHour: { used: 0, max: 60 } },
  })
  expect((await ann.call('GET', '/me/ledger')).body).toMatchObject({
    entries: [{ kind: 'start', credits: 400, balance: 400 }],
    next: null,
  })
  await close()
})

test('spending on builds is in the agent record and in the paged ledger', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const stored = await findByHandle(ctx, ann.handle)
  const owner = { kind: 'agent', owner: stored?.id ?? '' } as const
  const account = await ctx.db.tx((db) => ledger.openOwnerAccount(ctx, db, owner))
  for (const ref of ['build:one', 'build:two']) {
    const ask = { account, amount: fromCredits(50), ref, kind: 'build', ms: 1_000 }
    await withHold(ctx, ask, async () => ({ result: null, charge: fromCredits(30) }))
  }
  const { body } = await ann.call('GET', '/me')
  expect(body).toMatchObject({ credits: 340, spend: { builds: 60, icons: 0, total: 60 } })

  const first = await ann.call('GET', '/me/ledger?limit=2')
  expect(first.body).toMatchObject({ entries: [{ balance: 340 }, { balance: 370, credits: -30 }] })
  const rest = await ann.call('GET', `/me/ledger?limit=2&cursor=${first.text('next')}`)
  expect(rest.body).toMatchObject({ entries: [{ kind: 'start' }], next: null })
  expect((await ann.call('GET', '/me/ledger?cursor=x')).code).toBe('bad_request')
  await close()
})

test('lists of keys and hooks are newest first, with limit and cursor', async () => {
  const h = await startTestServer({ HOOKS_TO_PRIVATE: 'on' })
  const [ann, olga] = [await h.agent('ann'), await createTestPerson(h, 'olga')]
  const code = (await ann.call('POST', '/me/claim')).text('claim.code')
  expect((await olga.call('POST', '/claim', { code })).status).toBe(200)
  for (const name of ['second', 'third']) {
    h.clock.advance(1)
    await ann.call('POST', '/me/keys', { name })
    await ann.call('POST', '/me/hooks', { url: `http://127.0.0.1:1/${name}` })
  }
  await ann.call('POST', '/me/hooks', { url: 'http://127.0.0.1:1/first' })
  const lists: [Pick<TestPerson, 'call'>, string, string][] = [
    [ann, '/me/keys', 'keys'],
    [olga, `/people/me/agents/${ann.handle}/keys`, 'keys'],
    [ann, '/me/hooks', 'hooks'],
  ]
  for (const [who, path, field] of lists) {
    const read = async (query: string) => Object((await who.call('GET', `${path}?${query}`)).body)
    const all = await read('')
    expect([all[field].length, all.next]).toEqual([3, null])
    const times = all[field].map(({ created }: { created: string }) => created)
    expect(times).toEqual(times.toSorted().toReversed())
    const first = await read('limit=2')
    expect(first[field]).toEqual(all[field].slice(0, 2))
    const rest = await read(`limit=2&cursor=${first.next}`)
    expect([rest[field], rest.next]).toEqual([all[field].slice(2), null])
    for (const query of ['limit=0', 'limit=101', 'cursor=zz']) {
      await expectError(h, 400, 'bad_request', () => who.call('GET', `${path}?${query}`))
    }
  }
  await h.close()
})

test('a new key works, and a revoked key stops at once', async () => {
  const { call, agent, clock, close } = await startTestServer()
  const ann = await agent('ann')
  clock.advance(1)
  const added = await ann.call('POST', '/me/keys', { name: 'second' })
  expect(added.status).toBe(201)
  const second = added.text('key')
  expect((await call('GET', '/me', { key: second })).status).toBe(200)
  expect((await ann.call('GET', '/me/keys')).body).toMatchObject({
    keys: [
      { name: 'second', current: false },
      { name: null, current: true },
    ],
  })
  const prefix = added.text('prefix')
  expect((await ann.call('DELETE', `/me/keys/${prefix}`)).status).toBe(200)
  expect((await call('GET', '/me', { key: second })).code).toBe('bad_key')
  expect((await ann.call('DELETE', `/me/keys/${prefix}`)).code).toBe('not_found')
  expect((await ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`)).code).toBe('last_key')
  expect((await ann.call('GET', '/me')).status).toBe(200)
  await close()
})

test('a closed account gives account_closed, and its links are gone', async () => {
  const { request, agent, clock, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  expect((await ann.call('DELETE', '/me')).status).toBe(200)
  clock.advance(1_000)
  expect((await ann.call('GET', '/me')).code).toBe('account_closed')
  expect((await request('GET', `/a/${id}`)).status).toBe(410)
  await close()
})

test('a key created with a capped key inherits its cap; a revoked key creates none', async () => {
  const { ctx, agent, call, request, close } = await startTestServer()
  const ann = await agent('ann')
  const capped = await request('POST', '/accounts/keys', { key: ann.key, body: { daily_cap: 2 } })
  const key = capped.text('api_key')
  const created = await call('POST', '/me/keys', { key })
  expect((await call('GET', '/me', { key: created.text('key') })).body).toMatchObject({
    limits: { dailyCap: 2 },
  })
  const own = await ann.call('POST', '/me/keys')
  expect((await call('GET', '/me', { key: own.text('key') })).body).toMatchObject({
    limits: { dailyCap: null },
  })
  const stored = await findByHandle(ctx, ann.handle)
  if (!stored) throw new Error('nobody')
  const by = await ctx.keys.find(key)
  await ann.call('DELETE', `/me/keys/${key.slice(0, 11)}`)
  await expect(createAgentKey(ctx, stored, undefined, by)).rejects.toMatchObject({
    errorName: 'bad_key',
  })
  await close()
})

test('a new claim link invalidates earlier ones, and about is one line', async () => {
  const { agent, snapshot, close } = await startTestServer()
  const ann = await agent('ann')
  const first = await ann.call('POST', '/me/claim')
  const second = await ann.call('POST', '/me/claim')
  expect(second.status).toBe(201)
  expect(second.text('claim.code')).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/)
  expect(second.text('claim.url')).not.toBe(first.text('claim.url'))

  const kind = await ann.call('PATCH', '/me', { about: ' I make games. ' })
  expect(kind.body).toMatchObject({ about: 'I make games.' })
  const before = await snapshot()
  for (const about of ['two\nlines', 'x'.repeat(161), 'turned \u202e round', 7]) {
    expect((await ann.call('PATCH', '/me', { about })).code).toBe('bad_request')
  }
  expect((await ann.call('PATCH', '/me', {})).code).toBe('bad_request')
  expect(await snapshot()).toEqual(before)
  expect((await ann.call('PATCH', '/me', { about: null })).body).toMatchObject({ about: null })
  await close()
})

test('restoring an app fails while its account closes', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  await ann.call('DELETE', `/apps/${id}`)
  await Promise.all([ann.call('DELETE', '/me'), ann.call('POST', `/apps/${id}/restore`)])
  expect((await request('GET', `/a/${id}`)).status).toBe(410)
  await close()
})
