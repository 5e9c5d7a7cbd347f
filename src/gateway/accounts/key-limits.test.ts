import { afterAll, describe, expect, test } from 'bun:test'

import { keysPerAgentMax } from '../../kernel/limits.ts'
import { day, hour, minute } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import * as accountKeys from './keys.ts'

const faked = await startFakeUpstreamServer()
const gus = await faked.gus('1')
afterAll(() => faked.close())

const messages = [{ role: 'user', content: 'Say hello.' }]
const chatWith = (key: string, model = 'fake/ok', more: object = {}) =>
  faked.request('POST', '/v1/chat/completions', {
    key,
    body: { model, messages, max_tokens: 50, ...more },
  })

/** Creates a key with settings, and returns its text and its id. */
async function newKey(settings: object, by = gus.key): Promise<{ key: string; id: string }> {
  const made = await faked.request('POST', '/v1/accounts/keys', { key: by, body: settings })
  expect([made.status, made.body]).toMatchObject([201, settings])
  return { key: made.text('api_key'), id: made.text('id') }
}

const change = (id: string, settings: object, by = gus.key) =>
  faked.request('PATCH', `/v1/accounts/keys/${id}`, { key: by, body: settings })

/** Returns the cost of a chat in credits. */
async function costOfChat(): Promise<number> {
  const { headers } = await chatWith(gus.key)
  return Number(headers.get('x-service-cost')) * 1_000
}

describe('models', () => {
  test('limit a key to ids and patterns', async () => {
    const { key, id } = await newKey({ models: ['fake/ok*', 'other/model'] })
    expect((await chatWith(key)).status).toBe(200)
    const before = await faked.snapshot()
    const rejected = await chatWith(key, 'fake/500')
    expect([rejected.status, rejected.code]).toEqual([403, 'model_not_allowed'])
    expect(Object(rejected.body).error.message).toContain('fake/ok*, other/model')
    const fallback = await chatWith(key, 'fake/ok', { models: ['fake/500'] })
    expect([fallback.status, fallback.code]).toEqual([403, 'model_not_allowed'])
    expect(await faked.snapshot()).toEqual(before)
    expect((await change(id, { models: null })).status).toBe(200)
    expect((await chatWith(key, 'fake/500')).status).toBe(502)
  })
})

describe('expiry', () => {
  test.each(['2099-01-31T00:00:00Z', '2099-01-31T01:00:00+01:00'])(
    'takes %s, as its error says',
    async (expires_at) => {
      const body = { expires_at }
      const made = await faked.request('POST', '/v1/accounts/keys', { key: gus.key, body })
      expect([made.status, made.text('expires_at')]).toEqual([201, '2099-01-31T00:00:00.000Z'])
    },
  )

  test('ends a key, and rotation replaces it with an overlap', async () => {
    const expires_at = new Date(faked.clock.now() + hour).toISOString()
    const { key, id } = await newKey({ name: 'ci', expires_at, tags: ['ci'], note: 'For tests.' })
    expect((await chatWith(key)).status).toBe(200)
    const rotated = await faked.request('POST', `/v1/accounts/keys/${id}/rotate`, {
      key: gus.key,
      body: { overlap_hours: 0.5 },
    })
    expect([rotated.status, rotated.body]).toMatchObject([
      201,
      { name: 'ci', expires_at, tags: ['ci'], note: 'For tests.' },
    ])
    const replacement = rotated.text('api_key')
    expect((await chatWith(key)).status).toBe(200)
    faked.clock.advance(31 * minute)
    const old = await chatWith(key)
    expect([old.status, old.code]).toEqual([401, 'key_expired'])
    expect((await chatWith(replacement)).status).toBe(200)
    faked.clock.advance(30 * minute)
    expect((await chatWith(replacement)).code).toBe('key_expired')
  })
})

describe('a rotated key', () => {
  test('shares its budgets and rates with its replacement', async () => {
    const cost = await costOfChat()
    const { key, id } = await newKey({ monthly_cap: 10, requests_per_minute: 3 })
    expect((await chatWith(key)).status).toBe(200)
    await change(id, { monthly_cap: cost })
    const rotated = await faked.request('POST', `/v1/accounts/keys/${id}/rotate`, { key: gus.key })
    const replacement = rotated.text('api_key')
    expect((await chatWith(replacement)).code).toBe('budget_exceeded')
    await change(rotated.text('id'), { monthly_cap: 10 })
    expect((await chatWith(replacement)).status).toBe(200)
    expect((await chatWith(key)).code).toBe('key_rate')
    const again = await faked.request('POST', `/v1/accounts/keys/${rotated.text('id')}/rotate`, {
      key: gus.key,
    })
    expect((await chatWith(again.text('api_key'))).code).toBe('key_rate')
  })

  test('has no wider limits than the key that rotates it', async () => {
    const wide = await newKey({ monthly_cap: 50 })
    const limited = await newKey({ monthly_cap: 10 })
    const rotate = (id: string) =>
      faked.request('POST', `/v1/accounts/keys/${id}/rotate`, { key: limited.key, body: {} })
    const before = await faked.snapshot()
    const rejected = await rotate(wide.id)
    expect([rejected.status, rejected.code]).toEqual([403, 'key_above_own'])
    expect(await faked.snapshot()).toEqual(before)
    expect((await rotate(limited.id)).status).toBe(201)
  })
})

test('rotations are bounded by twice the keys of an account', async () => {
  const { key } = await faked.agent('ann')
  const rotate = () =>
    faked.request('POST', `/v1/accounts/keys/${key.slice(0, 11)}/rotate`, { key, body: {} })
  for (let keys = 1; keys < 2 * keysPerAgentMax; keys += 1) {
    expect((await rotate()).status).toBe(201)
  }
  const before = await faked.snapshot()
  const rejected = await rotate()
  expect([rejected.status, Object(rejected.body).error.message]).toEqual([
    400,
    'The maximum of 40 keys is reached. Revoke one first.',
  ])
  expect(await faked.snapshot()).toEqual(before)
})

describe('running requests', () => {
  /** Starts calls that end with `leave`, and waits until the upstream has them. */
  async function hang(by: typeof faked, key: string, calls: number) {
    const left = new AbortController()
    const before = by.fake.received.length
    const running = Array.from({ length: calls }, () =>
      fetch(`${by.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'fake/hang', messages, max_tokens: 50 }),
        signal: left.signal,
      }).catch(() => undefined),
    )
    await by.fake.arrival(before + calls - 1)
    return async (): Promise<void> => {
      left.abort()
      await Promise.all(running)
    }
  }

  test('of a key are limited by its own limit, which the error names', async () => {
    const { key, id } = await newKey({ running_requests: 2 })
    const leave = await hang(faked, key, 2)
    const before = await faked.snapshot()
    const third = await chatWith(key)
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect(Object(third.body).error.message).toContain('limit of 2 running requests')
    expect(await faked.snapshot()).toEqual(before)
    await change(id, { running_requests: 3 })
    expect((await chatWith(key)).status).toBe(200)
    await leave()
  })

  test('have the limit of the server, above which only the operator can go', async () => {
    const t = await startFakeUpstreamServer({ RUNNING_REQUESTS_PER_KEY: '1' })
    const { key } = await t.gus('1')
    const chat = () =>
      t.request('POST', '/v1/chat/completions', {
        key,
        body: { model: 'fake/ok', messages, max_tokens: 50 },
      })
    const leaveOne = await hang(t, key, 1)
    expect(Object((await chat()).body).error.message).toContain('limit of 1 running requests')
    const path = `/v1/accounts/keys/${key.slice(0, 11)}`
    const own = await t.request('PATCH', path, { key, body: { running_requests: 2 } })
    expect([own.status, Object(own.body).error]).toMatchObject([
      400,
      { param: 'running_requests', message: expect.stringContaining('at most 1 here') },
    ])
    const found = await t.ctx.keys.find(key)
    const owner = { kind: 'gateway', owner: found?.owner ?? '' } as const
    await accountKeys.edit(t.ctx, { owner }, key.slice(0, 11), { running_requests: 2 })
    const leaveTwo = await hang(t, key, 1)
    expect(Object((await chat()).body).error.message).toContain('limit of 2 running requests')
    await Promise.all([leaveOne(), leaveTwo()])
    await t.close()
  })
})

describe('rates', () => {
  test('limit requests and tokens per minute, and say when to retry', async () => {
    const requests = await newKey({ requests_per_minute: 2 })
    expect((await chatWith(requests.key)).status).toBe(200)
    expect((await chatWith(requests.key)).status).toBe(200)
    const third = await chatWith(requests.key)
    expect([third.status, third.code]).toEqual([429, 'key_rate'])
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
    const tokens = await newKey({ tokens_per_minute: 18 })
    expect((await chatWith(tokens.key)).status).toBe(200)
    const next = await chatWith(tokens.key)
    expect([next.status, Object(next.body).error.message]).toMatchObject([
      429,
      expect.stringContaining('18 tokens'),
    ])
    faked.clock.advance(2 * minute)
    expect((await chatWith(requests.key)).status).toBe(200)
    expect((await chatWith(tokens.key)).status).toBe(200)
  })
})

describe('budgets', () => {
  test('of a week and a month stop a key until the next', async () => {
    // Monday, May 4.
    const monthly = await newKey({ monthly_cap: 0.001 })
    const rejected = await chatWith(monthly.key)
    expect([rejected.status, rejected.code]).toEqual([429, 'budget_exceeded'])
    expect(Object(rejected.body).error.message).toContain('a month')
    const cost = await costOfChat()
    const weekly = await newKey({ weekly_cap: 10 })
    expect((await chatWith(weekly.key)).status).toBe(200)
    await change(weekly.id, { weekly_cap: cost })
    const again = await chatWith(weekly.key)
    expect([again.code, again.headers.get('x-should-retry')]).toEqual(['budget_exceeded', 'false'])
    await change(weekly.id, { weekly_cap: 10 })
    expect((await chatWith(weekly.key)).status).toBe(200)
    await change(weekly.id, { weekly_cap: cost })
    faked.clock.advance(7 * day)
    expect((await chatWith(weekly.key)).code).toBe('budget_exceeded')
    expect((await doctor(faked.ctx)).ok).toBe(true)
  })

  test('of a project are shared by its keys, and never exceeded by calls at once', async () => {
    const rich = await faked.gus('1')
    const by = rich.key
    const made = await faked.request('POST', '/v1/accounts/projects', {
      key: by,
      body: { name: 'team', monthly_cap: 1_000 },
    })
    expect(made.status).toBe(201)
    const project = made.text('id')
    const keys = await Promise.all(Array.from({ length: 5 }, () => newKey({ project }, by)))
    const first = await chatWith(keys[0]?.key ?? '')
    const cost = Number(first.headers.get('x-service-cost')) * 1_000
    const path = `/v1/accounts/projects/${project}`
    // Room for ten calls beside the first one, and less than for eleven.
    const monthly_cap = Math.round(cost * 11.5 * 1e6) / 1e6
    await faked.request('PATCH', path, { key: by, body: { monthly_cap } })
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, at) => chatWith(keys[at % 5]?.key ?? '')),
    )
    const served = results.filter(({ status }) => status === 200)
    expect(served.length).toBeLessThanOrEqual(10)
    const codes = new Set(results.filter(({ status }) => status !== 200).map(({ code }) => code))
    expect([...codes]).toEqual(['budget_exceeded'])
    const listed = await faked.request('GET', '/v1/accounts/projects', { key: by })
    const [{ spent }] = Object(listed.body).data
    expect(spent.month).toBeLessThanOrEqual(monthly_cap)
    expect(spent.month).toBeCloseTo((served.length + 1) * cost, 6)
    expect((await doctor(faked.ctx)).ok).toBe(true)
    expect((await faked.request('DELETE', path, { key: by })).status).toBe(200)
    expect((await chatWith(keys[1]?.key ?? '')).status).toBe(200)
  })
})

describe('a limited key', () => {
  test('creates no key with wider limits, and changes none to wider ones', async () => {
    const limits = { models: ['fake/*'], monthly_cap: 50, requests_per_minute: 10 }
    const { key, id } = await newKey(limits)
    const inherited = await faked.request('POST', '/v1/accounts/keys', { key, body: {} })
    expect(inherited.body).toMatchObject(limits)
    const wider: [object, string][] = [
      [{ models: null }, 'models'],
      [{ models: ['*'] }, 'models'],
      [{ monthly_cap: 51 }, 'monthly_cap'],
      [{ requests_per_minute: null }, 'requests_per_minute'],
    ]
    for (const [settings, field] of wider) {
      for (const response of [
        await faked.request('POST', '/v1/accounts/keys', { key, body: settings }),
        await change(id, settings, key),
      ]) {
        expect([response.status, response.code]).toEqual([403, 'key_above_own'])
        expect(Object(response.body).error.message).toContain(`${field} must not be wider`)
      }
    }
    const narrower = { models: ['fake/ok'], monthly_cap: 49 }
    expect((await change(id, narrower, key)).body).toMatchObject(narrower)
  })

  test.each([
    [{ models: [] }],
    [{ weekly_cap: -1 }],
    [{ tokens_per_minute: 0 }],
    [{ requests_per_minute: 1.5 }],
    [{ expires_at: '2020-01-01T00:00:00Z' }],
    [{ expires_at: 'soon' }],
    [{ expires_at: '2099-01-31' }],
    [{ tags: Array.from({ length: 11 }, () => 'a') }],
    [{ note: 'x'.repeat(501) }],
    [{ note: 'a\u0000b' }],
    [{ tags: ['a\nb'] }],
    [{ models: ['a\u0000b'] }],
  ])('%j is rejected and stores nothing', async (settings) => {
    const before = await faked.snapshot()
    const { status } = await faked.request('POST', '/v1/accounts/keys', {
      key: gus.key,
      body: settings,
    })
    expect(status).toBe(400)
    expect(await faked.snapshot()).toEqual(before)
  })

  test('finds no project of another account', async () => {
    const other = await faked.gus('1')
    const made = await faked.request('POST', '/v1/accounts/projects', {
      key: other.key,
      body: { name: 'theirs' },
    })
    const project = made.text('id')
    const added = await faked.request('POST', '/v1/accounts/keys', {
      key: gus.key,
      body: { project },
    })
    expect(added.status).toBe(404)
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined
      const response = await faked.request(method, `/v1/accounts/projects/${project}`, {
        key: gus.key,
        body,
      })
      expect([method, response.status]).toEqual([method, 404])
    }
    const twice = await faked.request('POST', '/v1/accounts/projects', {
      key: other.key,
      body: { name: 'theirs' },
    })
    expect([twice.status, Object(twice.body).error.param]).toEqual([400, 'name'])
  })
})
