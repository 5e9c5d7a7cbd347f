import { describe, expect, test } from 'bun:test'

import * as moderation from '../apps/moderation/moderation.ts'
import { release, updateBounds } from '../apps/owners/owned-agents.ts'
import { minute } from '../kernel/time.ts'
import { admin } from '../server/operator/admin.ts'
import { expectError } from '../testing/expect-error.ts'
import { startForEachTest } from '../testing/fixtures/closed-servers.ts'
import { createGatewayUser } from '../testing/fixtures/gateway.ts'
import { createTestPerson, getPerson, type TestPerson } from '../testing/fixtures/people.ts'
import type { TestAgent, TestResponse, TestServer } from '../testing/fixtures/test-server.ts'
import { pauseMethod } from '../testing/pause-method.ts'
import { findByHandle } from './agents/agents.ts'

const open = startForEachTest()

const codeOf = async (agent: TestAgent): Promise<string> =>
  (await agent.call('POST', '/me/claim')).text('claim.code')

/** Returns the agent ann, claimed by olga, whose wallet holds 5 USD. */
async function claimed(
  settings = {},
): Promise<{ t: TestServer; ann: TestAgent; olga: TestPerson }> {
  const t = await open(settings)
  const [ann, olga] = [await t.agent('ann'), await createTestPerson(t, 'olga', 5n)]
  expect((await olga.call('POST', '/claim', { code: await codeOf(ann) })).status).toBe(200)
  return { t, ann, olga }
}

describe('authentication', () => {
  const calls: [method: string, path: string, body?: unknown][] = [
    ['POST', '/claim', { code: 'AAAA-AAAA-AAAA' }],
    ['GET', '/people/me'],
    ['GET', '/people/me/agents'],
    ['PATCH', '/people/me/agents/ann', { paused: true }],
    ['POST', '/people/me/agents/ann/credits', { credits: 1 }],
    ['GET', '/people/me/agents/ann/keys'],
    ['POST', '/people/me/agents/ann/keys'],
    ['DELETE', '/people/me/agents/ann/keys/ak_12345678'],
    ['POST', '/people/me/agents/ann/release'],
  ]

  test('not_signed_in, bad_personal_key, wrong_key_kind come before body validation', async () => {
    const { t, ann } = await claimed()
    const gus = await createGatewayUser(t)
    for (const [method, path, body] of calls) {
      const send = (key?: string) => () => t.call(method, path, { body: body ?? undefined, key })
      await expectError(t, 401, 'no_key', send())
      const bad = await expectError(t, 401, 'bad_key', send(`pk_${'a'.repeat(40)}`))
      expect(bad.body).toMatchObject({
        error: expect.stringContaining('personal key is invalid or revoked'),
      })
      await expectError(t, 403, 'wrong_key_kind', send(ann.key))
      await expectError(t, 403, 'wrong_key_kind', send(gus.key))
      await expectError(t, 401, 'no_key', () => t.call(method, path, { body: '{' }))
    }
  })

  test('an agent of another person is not_found', async () => {
    const { t, ann, olga } = await claimed()
    const cy = await createTestPerson(t, 'cyrus', 1n)
    const prefix = ann.key.slice(0, 11)
    for (const [method, path, body] of calls.slice(3)) {
      const own = path.replace('ann-person', ann.handle).replace('ak_12345678', prefix)
      await expectError(t, 404, 'not_found', () => cy.call(method, own, body))
      await expectError(t, 404, 'not_found', () =>
        cy.call(method, own.replace(ann.handle, 'nobody'), body),
      )
    }
    expect((await cy.call('GET', '/people/me/agents')).body).toEqual({ agents: [], next: null })
    await expectError(t, 404, 'not_found', () =>
      olga.call('PATCH', '/people/me/agents/%ff', { paused: true }),
    )
  })

  test('a personal key cannot act as an agent or spend', async () => {
    const { t, olga } = await claimed()
    await expectError(t, 403, 'wrong_key_kind', () => olga.call('GET', '/me'))
    await expectError(t, 400, 'not_an_agent', () => olga.call('POST', '/me/claim'))
    const chat = { key: olga.key, body: { model: 'demo/chat', messages: [] } }
    expect((await t.request('POST', '/v1/chat/completions', chat)).status).toBe(401)
  })

  test('agents_off: every operation of people is off with the Agent API', async () => {
    const t = await open({ AGENTS_ON: 'off' })
    const olga = await createTestPerson(t, 'olga')
    const preview: (typeof calls)[number] = ['GET', '/claim/AAAA-AAAA-AAAA']
    for (const [method, path, body] of [...calls, preview]) {
      await expectError(t, 404, 'agents_off', () => olga.call(method, path, body))
    }
  })
})

describe('an owner', () => {
  test('lists the wallet and the agents in pages', async () => {
    const { t, ann, olga } = await claimed()
    t.clock.advance(minute)
    const ben = await t.agent('ben')
    await olga.call('POST', '/claim', { code: await codeOf(ben) })
    expect((await olga.call('GET', '/people/me')).body).toMatchObject({
      name: 'olga',
      operator: false,
      credits: 5_000,
      held: 0,
      agents: 2,
      wallet: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
    })
    const first = await olga.call('GET', '/people/me/agents?limit=1')
    expect(first.body).toMatchObject({ agents: [{ handle: ben.handle }] })
    const rest = await olga.call('GET', `/people/me/agents?limit=1&cursor=${first.text('next')}`)
    expect(rest.body).toMatchObject({ agents: [{ handle: ann.handle }], next: null })
    await expectError(t, 400, 'bad_request', () => olga.call('GET', '/people/me/agents?cursor=x'))
  })

  test('sends credits once for each ref, up to the balance (wallet_short)', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/@${ann.handle}/credits`
    const send = (body: unknown, headers = {}): Promise<TestResponse> =>
      olga.call('POST', path, body, headers)
    const first = await send({ credits: 1_500.5, ref: 'monday-01' })
    expect([first.status, first.body]).toEqual([
      200,
      {
        sent: 1_500.5,
        agent: { handle: ann.handle, credits: 1_900.5 },
        credits: 3_499.5,
        ref: 'monday-01',
      },
    ])
    expect(JSON.stringify((await ann.call('GET', '/me/notes')).body)).toContain(' 1,500.5 credits.')
    expect((await send({ credits: 1_500.5, ref: 'monday-01' })).body).toEqual(first.body)
    expect((await send({ credits: 1_500.5 }, { 'idempotency-key': 'monday-01' })).body).toEqual(
      first.body,
    )
    await expectError(t, 409, 'ref_conflict', () => send({ credits: 2, ref: 'monday-01' }))
    const short = await expectError(t, 402, 'not_enough_credits', () =>
      send({ credits: 3_499.6, ref: 'monday-02' }),
    )
    expect(short.text('error')).toStartWith('This needs 3,499.6 credits and you have 3,499.5.')
    for (const credits of [0, -1, 0.000_000_1, 1e10, '5', null, true]) {
      await expectError(t, 400, 'bad_request', () => send({ credits }))
    }
    for (const body of [undefined, {}, { credits: 1, ref: 'short' }, { credits: 1, to: 'me' }]) {
      await expectError(t, 400, 'bad_request', () => send(body))
    }
    const twins = await Promise.all([1, 2, 3].map(() => send({ credits: 1, ref: 'at-once-01' })))
    // A request after the first has finished replays its response.
    const codes = new Set(twins.map(({ status, code }) => code ?? status))
    expect([...codes.difference(new Set(['busy']))]).toEqual([200])
    expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 1_901.5 })
    expect((await ann.call('GET', '/me/ledger')).body).toMatchObject({
      entries: [
        { kind: 'gift', credits: 1 },
        { kind: 'gift', credits: 1_500.5 },
        { kind: 'start' },
      ],
    })
    expect((await olga.call('GET', '/people/me')).body).toMatchObject({ credits: 3_498.5 })
  })

  test('caps and pauses an agent on all its keys', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/${ann.handle}`
    const second = (await ann.call('POST', '/me/keys')).text('key')
    const capped = await olga.call('PATCH', path, { dailyCap: 3 })
    expect(capped.body).toMatchObject({ agent: { dailyCap: 3, paused: false, spentToday: 0 } })
    const third = (await ann.call('POST', '/me/keys')).text('key')
    for (const key of [ann.key, second, third]) {
      const { body } = await t.call('GET', '/me', { key })
      expect(body).toMatchObject({ limits: { dailyCap: 3 } })
    }
    expect((await olga.call('PATCH', path, { paused: true })).body).toMatchObject({
      agent: { dailyCap: 3, paused: true },
    })
    const maker = await t.agent('ben')
    const id = await maker.publish({ store: true, remix: 'price', priceRemix: 2 })
    await expectError(t, 403, 'paused', () => ann.call('POST', `/apps/${id}/remix`))
    await olga.call('PATCH', path, { paused: false })
    expect((await ann.call('POST', `/apps/${id}/remix`)).status).toBe(201)
    await expectError(t, 402, 'daily_cap', () =>
      t.call('POST', `/apps/${id}/remix`, { key: second }),
    )
    expect((await ann.call('GET', '/me/notes?kind=cap.changed')).body).toMatchObject({
      notes: [
        { text: 'Your owner lifted their pause of your purchases.', data: { paused: false } },
        { text: 'Your owner paused your purchases.' },
        { text: 'Your owner changed your daily cap.', data: { dailyCap: 3 } },
      ],
    })
    await olga.call('PATCH', path, { dailyCap: null })
    expect((await t.call('POST', `/apps/${id}/remix`, { key: second })).status).toBe(201)
    for (const body of [
      {},
      undefined,
      { dailyCap: -1 },
      { dailyCap: 1e-7 },
      { dailyCap: '3' },
      { paused: 1 },
      { owner: 'x' },
    ]) {
      await expectError(t, 400, 'bad_request', () => olga.call('PATCH', path, body))
    }
  })

  test('and the operator each lift only their own pause', async () => {
    const { t, ann, olga } = await claimed()
    const byOwner = (paused: boolean) =>
      olga.call('PATCH', `/people/me/agents/${ann.handle}`, { paused })
    const byOperator = (word: string) => admin(t.ctx, [word, `@${ann.handle}`])
    const maker = await t.agent('ben')
    const id = await maker.publish({ store: true, remix: 'price', priceRemix: 2 })
    const isPaused = async () => (await ann.call('POST', `/apps/${id}/remix`)).code === 'paused'
    await byOwner(true)
    for (const word of ['pause', 'resume']) expect((await byOperator(word)).ok).toBe(true)
    expect((await byOperator('resume')).ok).toBe(false)
    expect(await isPaused()).toBe(true)
    await byOperator('pause')
    await byOwner(false)
    expect(await isPaused()).toBe(true)
    await byOwner(true)
    await byOperator('resume')
    expect(await isPaused()).toBe(true)
    await byOwner(false)
    expect(await isPaused()).toBe(false)
  })

  test('does not lift a pause by the operator, even by releasing the agent', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/${ann.handle}`
    await olga.call('PATCH', path, { paused: true })
    const agent = await findByHandle(t.ctx, ann.handle)
    const person = await getPerson(t, 'olga')
    if (!agent) throw new Error('nobody')
    await admin(t.ctx, ['pause', `@${ann.handle}`])
    for (const paused of [true, false]) {
      const still = await olga.call('PATCH', path, { paused })
      expect(still.body).toMatchObject({ agent: { paused: true } })
    }
    expect(await updateBounds(t.ctx, agent, { paused: false })).toMatchObject({
      pausedBy: 'operator',
    })
    await release(t.ctx, person, agent)
    const now = await findByHandle(t.ctx, ann.handle)
    expect(now).toMatchObject({ owner: null, pausedBy: 'operator' })
  })

  test('creates and revokes its keys, even the last one', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/${ann.handle}/keys`
    const created = await olga.call('POST', path, { name: 'laptop' })
    expect([created.status, created.text('key')]).toEqual([
      201,
      expect.stringMatching(/^ak_[A-Za-z0-9]{40}$/),
    ])
    expect((await t.call('GET', '/me', { key: created.text('key') })).status).toBe(200)
    expect((await olga.call('GET', path)).body).toMatchObject({
      keys: expect.arrayContaining([
        { prefix: created.text('prefix'), name: 'laptop', created: expect.any(String) },
      ]),
      next: null,
    })
    for (const key of [created.text('key'), ann.key]) {
      const gone = await olga.call('DELETE', `${path}/${key.slice(0, 11)}`)
      expect(gone.body).toEqual({ prefix: key.slice(0, 11), revoked: true })
      expect((await t.call('GET', '/me', { key })).code).toBe('bad_key')
      await expectError(t, 404, 'not_found', () =>
        olga.call('DELETE', `${path}/${key.slice(0, 11)}`),
      )
    }
    expect((await olga.call('POST', path)).status).toBe(201)
    await expectError(t, 400, 'bad_request', () => olga.call('POST', path, { name: 'two\nlines' }))
  })

  test('account_suspended: cannot create a key for a suspended agent', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/${ann.handle}/keys`
    const suspend = (why: string | null) => moderation.suspend(t.ctx, ann.handle, why, 'operator')
    await suspend('spam')
    await expectError(t, 403, 'account_closed', () => olga.call('POST', path))
    await suspend(null)
    const key = (await olga.call('POST', path)).text('key')
    expect((await t.request('POST', '/credits/balance', { key })).status).toBe(200)
    await suspend('spam')
    expect((await t.request('POST', '/credits/balance', { key })).status).toBe(401)
  })

  test('releases an agent, which can be claimed again', async () => {
    const { t, ann, olga } = await claimed()
    const path = `/people/me/agents/${ann.handle}`
    await olga.call('PATCH', path, { dailyCap: 0, paused: true })
    expect((await olga.call('POST', `${path}/release`)).body).toMatchObject({
      handle: ann.handle,
      released: true,
    })
    await expectError(t, 404, 'not_found', () => olga.call('POST', `${path}/release`))
    expect((await ann.call('GET', '/me')).body).toMatchObject({
      claimed: false,
      owner: null,
      credits: 400,
      limits: { dailyCap: null },
    })
    const cy = await createTestPerson(t, 'cyrus')
    expect((await cy.call('POST', '/claim', { code: await codeOf(ann) })).status).toBe(200)
  })
})

describe('an agent that changes concurrently', () => {
  test('receives nothing after its account is closed', async () => {
    const { t, ann, olga } = await claimed()
    const { begun, go } = pauseMethod(t.ctx.idempotency, 'acquire')
    const sending = olga.call('POST', '/people/me/agents/ann/credits', { credits: 10 })
    await begun
    expect((await ann.call('DELETE', '/me')).status).toBe(200)
    go()
    expect((await sending).code).toBe('not_found')
    expect((await olga.call('GET', '/people/me')).body).toMatchObject({ credits: 5_000 })
  })

  test('is not limited by its former owner', async () => {
    const { ann, olga } = await claimed()
    await Promise.all([
      olga.call('POST', '/people/me/agents/ann/release'),
      olga.call('PATCH', '/people/me/agents/ann', { paused: true, dailyCap: 7 }),
    ])
    const { body } = await ann.call('GET', '/me')
    expect(body).toMatchObject({ claimed: false, limits: { dailyCap: null } })
  })
})
