import { afterAll, describe, expect, test } from 'bun:test'

import type { GatewayErrorName } from '../kernel/errors.ts'
import { runningPerKey } from '../kernel/limits.ts'
import { type NanoUsd, zero } from '../kernel/money.ts'
import {
  fakeModel,
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../testing/fixtures/gateway.ts'
import { testModel } from '../testing/fixtures/models.ts'
import type { TestResponse } from '../testing/fixtures/test-server.ts'

const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
/**
 * Document 2, section 7, over HTTP, row by row: status, type, param, code and charge. The tests of
 * chat/search and files cover their own errors.
 */
const faked = await startFakeUpstreamServer(
  { GATEWAY_FIRST_BYTE_SECONDS: '1', GATEWAY_TOTAL_SECONDS: '2' },
  [
    model('small', { contextLength: 8_000 }),
    model('reads', { inputs: ['text', 'file'], contextLength: 2_000 }),
    testModel(undefined, { id: 'fake/unpriced' }),
    fakeModel('nowhere'),
  ],
)
const gus = await faked.gus()
const poor = await faked.gus('0.0001')
/** A key of gus that may spend nothing. */
const capped = (await gus.call('POST', '/accounts/keys', { daily_cap: 0 })).text('api_key')
afterAll(() => faked.close())

const path = '/v1/chat/completions'
const invalid = 'invalid_request_error'
const chatOf = (content: unknown, role = 'user') => ({ messages: [{ role, content }] })
const pdf = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' }
const file = { type: 'file', file: pdf }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

interface Row {
  /** Fields of the request besides "model": "fake/ok" and a message. */
  send: object
  is: [status: number, type: string, param: string | null, code: string | null]
  /** The key of the request. Default: gus's key. */
  key?: () => string
}
const bad = (param: string, code: string | null = null): Row['is'] => [400, invalid, param, code]

const before: [GatewayErrorName, Row][] = [
  ['no_messages', { send: { messages: [] }, is: bad('messages') }],
  ['bad_role', { send: chatOf('x', 'robot'), is: bad('messages') }],
  ['no_usable_messages', { send: chatOf(''), is: bad('messages') }],
  [
    'conversation_too_long',
    {
      send: { model: 'fake/small', ...chatOf('x'.repeat(120_001)) },
      is: bad('messages'),
    },
  ],
  ['no_price', { send: { model: 'fake/unpriced' }, is: bad('model') }],
  ['no_key', { send: {}, key: () => '', is: [401, 'authentication_error', null, null] }],
  [
    'bad_key',
    {
      send: {},
      key: () => `gk_${'x'.repeat(40)}`,
      is: [401, 'authentication_error', null, 'invalid_api_key'],
    },
  ],
  [
    'not_enough_credits',
    {
      send: {},
      key: () => poor.key,
      is: [402, 'insufficient_quota', null, 'insufficient_quota'],
    },
  ],
  [
    'no_model',
    {
      send: { model: 'fake/nothing' },
      is: [404, invalid, 'model', 'model_not_found'],
    },
  ],
  [
    'daily_cap',
    {
      send: {},
      key: () => capped,
      is: [429, 'rate_limit_error', null, 'daily_cap'],
    },
  ],
  ['no_image_input', { send: chatOf([image]), is: bad('messages') }],
  ['no_file_input', { send: chatOf([file]), is: bad('messages') }],
  ['bad_part', { send: chatOf([{ type: 'refusal', refusal: 'no' }]), is: bad('messages') }],
  [
    'no_file',
    {
      send: chatOf([{ type: 'file', file_id: 'file_aaaaaaaaaaaa' }]),
      is: [404, invalid, 'file_id', null],
    },
  ],
  [
    'too_many_pdfs',
    {
      send: { model: 'fake/reads', ...chatOf(Array(7).fill(file)) },
      is: [413, invalid, 'messages', null],
    },
  ],
  [
    'window_exceeded',
    {
      send: { model: 'fake/reads', ...chatOf([{ type: 'text', text: 'x'.repeat(9_000) }, file]) },
      is: [413, invalid, 'messages', 'context_length_exceeded'],
    },
  ],
  [
    'bad_media',
    {
      send: {
        model: 'fake/reads',
        ...chatOf([{ type: 'video_url', video_url: { url: 'https://a.b' } }]),
      },
      is: bad('messages', 'W609'),
    },
  ],
]

const ask = (row: Pick<Row, 'send' | 'key'>, stream: boolean): Promise<TestResponse> =>
  faked.request('POST', path, {
    key: row.key?.() ?? gus.key,
    body: { model: 'fake/ok', ...chatOf('Hello.'), max_tokens: 50, stream, ...row.send },
  })

/** The envelope, its headers, and a sentence that says what to do. */
function expectRejected({ status, headers, body }: TestResponse, is: Row['is']): void {
  const [expectedStatus, type, param, code] = is
  expect([status, body]).toEqual([
    expectedStatus,
    { error: { message: expect.stringMatching(/\S.{14,}\.$/), type, param, code } },
  ])
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9]{12}$/)
  expect(headers.has('retry-after')).toBe(status === 429 || status === 503)
  expect(headers.has('x-service-cost')).toBe(false)
}

describe.each([false, true])('before the model runs (stream: %p)', (stream) => {
  test.each(before)('%s', async (_name, row) => {
    const seen = [await faked.snapshot(), faked.fake.received.length]
    expectRejected(await ask(row, stream), row.is)
    expect([await faked.snapshot(), faked.fake.received.length]).toEqual(seen)
  })

  test('model_unavailable, gateway_unavailable: the hold is released', async () => {
    const own = await faked.gus()
    const send = { model: 'fake/nowhere' }
    expectRejected(await ask({ send, key: () => own.key }, stream), api(503))
    await expectPaid(faked, own)
    const alone = await startFakeUpstreamServer()
    const lone = await alone.gus()
    alone.fake.close()
    const body = { model: 'fake/ok', ...chatOf('Hello.'), stream }
    expectRejected(await lone.call('POST', path, body), api(502))
    await expectPaid(alone, lone)
    await alone.close()
  })
})

/** Expects this charge on an account that had one dollar, no open hold, and a balanced ledger. */
async function expectPaid(
  ctx: FakeUpstreamServer,
  own: GatewayUser,
  charged: NanoUsd = zero,
): Promise<void> {
  const { use, total } = await ctx.lastUse(own)
  expect([total, use?.charged]).toEqual([1, charged])
  const balance = await own.call('POST', '/credits/balance', {})
  expect(balance.body).toMatchObject({ balance: Number(1_000_000_000n - charged) / 1e9, held: 0 })
  expect(await ctx.findProblems(own)).toEqual([])
}

interface Ran {
  /** A model of the fake upstream, which selects its script. */
  script: string
  is: Row['is']
  /** Charges the whole hold, and says so. */
  charged?: true
}
const api = (status: number, code: string | null = null): Row['is'] => [
  status,
  'api_error',
  null,
  code,
]

const after: [GatewayErrorName, Ran][] = [
  ['upstream_busy', { script: '429', is: [429, 'rate_limit_error', null, null] }],
  [
    'content_policy',
    {
      script: 'content-filter',
      is: [400, invalid, null, 'content_policy_violation'],
    },
  ],
  ['upstream_failed', { script: '500', is: api(502) }],
  ['upstream_rejected', { script: '422', is: api(400) }],
  ['no_content', { script: 'empty', is: api(502) }],
  ['unreadable', { script: 'html', is: api(502, 'unreadable_response'), charged: true }],
  ['deadline', { script: 'hang', is: api(504, 'deadline_exceeded'), charged: true }],
]

describe('after the model has run', () => {
  test.concurrent.each(after)('%s', async (_name, { script, is, charged }) => {
    const own = await faked.gus()
    const send = { model: `fake/${script}` }
    const response = await ask({ send, key: () => own.key }, false)
    expectRejected(response, is)
    const message = response.text('error.message')
    expect(message).toContain(charged ? 'The reserved credits were charged' : 'Nothing was charged')
    if (script === '422') expect(message).toEndWith(' Reason: Unprocessable.')
    const { use } = await faked.lastUse(own)
    expect(use?.held).toBeGreaterThan(0n)
    await expectPaid(faked, own, charged && use?.held)
  })
})

test('the order of the checks: key, shape, model, rate, credits, cap', async () => {
  const none = { daily_cap: 0 }
  const both = (await poor.call('POST', '/accounts/keys', none)).text('api_key')
  const worse = [
    { key: () => '', send: { messages: 5, model: 'fake/nothing' } },
    { key: () => both, send: { messages: 5, model: 'fake/nothing' } },
    { key: () => both, send: { model: 'fake/nothing' } },
    { key: () => both, send: { model: 'fake/unpriced' } },
    { key: () => both, send: {} },
    { key: () => capped, send: {} },
  ]
  const texts = []
  for (const row of worse) texts.push((await ask(row, false)).status)
  expect(texts).toEqual([401, 400, 404, 400, 402, 429])
})

test('holds_limit: the concurrent calls of a key are limited', async () => {
  // The last call starts before the first one ends, also where a busy machine takes seconds.
  const patient = await startFakeUpstreamServer({ GATEWAY_FIRST_BYTE_SECONDS: '6' })
  const own = await patient.gus('20')
  const calls = Array.from({ length: runningPerKey + 1 }, (_, at) =>
    own.call('POST', path, { ...chatOf('Ahoy'), model: 'fake/hang', seed: at }),
  )
  const responses = await Promise.all(calls)
  const [over] = responses.filter(({ status }) => status !== 504)
  if (!over) throw new Error('all of them ran')
  expectRejected(over, [429, 'rate_limit_error', null, null])
  expect(responses.filter(({ status }) => status === 504)).toHaveLength(runningPerKey)
  expect((await patient.lastUse(own)).total).toBe(runningPerKey)
  await patient.close()
})
