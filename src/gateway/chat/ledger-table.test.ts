import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { NanoUsd } from '../../core/money.ts'
import { chargeOf } from '../../models/charge.ts'
import { estimateTokens } from '../../models/tokens.ts'
import { createUsage } from '../../models/usage.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'

let patient: FakeUpstreamServer
/** For hanging upstreams. No other call may reach a deadline. */
let hasty: FakeUpstreamServer
beforeAll(async () => {
  patient = await startFakeUpstreamServer()
  hasty = await startFakeUpstreamServer({
    GATEWAY_FIRST_BYTE_SECONDS: '1',
    GATEWAY_TOTAL_SECONDS: '2',
  })
})
afterAll(async () => {
  await patient.close()
  await hasty.close()
})

/** All cells run in parallel. */
const waitMs = 30_000
const messages = [{ role: 'user', content: 'Say hello.' }]

/** The expectation of one table cell. */
interface Cell {
  status: number
  /** `used`: exactly what the fake's usage costs; `own`: our own count of all it said. */
  charge: 'used' | 'own' | 'nothing' | 'hold' | 'delivered' | 'one' | 'within'
  code?: string | null
  type?: string
  estimated?: true
  /** The code of the error event that ends the stream, without [DONE]. */
  event?: 'upstream_stream_error' | 'content_policy_violation'
}

const price = () => {
  const own = patient.ctx.catalogue.find('fake/ok')?.model.price
  if (!own) throw new Error('no price')
  return own
}
const costs = (parts: Parameters<typeof createUsage>[0]): NanoUsd =>
  chargeOf(price(), createUsage(parts))

const fits = {
  used: (c: NanoUsd) => c === costs({ prompt: 11, cached: 4, completion: 7, reasoning: 2 }),
  own: (c: NanoUsd) => c > costs({ prompt: 2, completion: estimateTokens(fakeText.join('')) }),
  nothing: (c: NanoUsd) => c === 0n,
  hold: (c: NanoUsd, held: NanoUsd) => c === held && c > 0n,
  /** The prompt, and three of six words. */
  delivered: (c: NanoUsd, held: NanoUsd) => c >= costs({ prompt: 2 }) && c < held,
  one: (c: NanoUsd) => c === 1n,
  within: (c: NanoUsd, held: NanoUsd) => c > 0n && c <= held,
}

async function run(script: string, stream: boolean, cell: Cell): Promise<TestResponse> {
  const faked = script.startsWith('hang') ? hasty : patient
  const gus = await faked.gus()
  const body = { model: `fake/${script}`, messages, stream, max_tokens: 50 }
  const answer = await gus.call('POST', '/v1/chat/completions', body)
  expect(answer.status).toBe(cell.status)
  const { use, total } = await faked.lastUse(gus)
  expect(total).toBe(1)
  if (!use) throw new Error('no row')
  expect([cell.charge, use.charged, use.held, fits[cell.charge](use.charged, use.held)]).toEqual([
    cell.charge,
    use.charged,
    use.held,
    true,
  ])
  expect(use).toMatchObject({ model: `fake/${script}`, type: 'chat', source: 'api' })
  if (cell.estimated) expect(use.estimated).toBe(true)
  const status = cell.event ? 'failed' : 'completed'
  if (cell.charge === 'used') expect(use).toMatchObject({ estimated: false, status })
  const { balance } = Object((await gus.call('POST', '/credits/balance', {})).body)
  expect(balance).toBe(Number(1_000_000_000n - use.charged) / 1e9)
  expect(await faked.findProblems(gus)).toEqual([])
  if (cell.status !== 200) {
    const { error } = Object(answer.body)
    expect(error).toMatchObject({ type: cell.type ?? 'api_error', code: cell.code ?? null })
    expect(answer.headers.get('x-should-retry')).toBe(
      cell.charge === 'hold' ? 'false' : anyOf(error),
    )
  }
  return answer
}

const anyOf = ({ code, message }: { code: unknown; message: string }) =>
  code === 'content_policy_violation' || message.includes('Change it') ? 'false' : null

const plain: [string, Cell][] = [
  ['ok', { status: 200, charge: 'used' }],
  ['ok-unstreamed', { status: 200, charge: 'used' }],
  ['usage-cost', { status: 200, charge: 'used' }],
  ['429', { status: 429, charge: 'nothing', type: 'rate_limit_error' }],
  ['408', { status: 502, charge: 'nothing' }],
  ['500', { status: 502, charge: 'nothing' }],
  ['503', { status: 502, charge: 'nothing' }],
  ['error-unstreamed', { status: 502, charge: 'nothing' }],
  ['reset-first', { status: 502, charge: 'nothing' }],
  ['close-first', { status: 502, charge: 'nothing' }],
  ...['content-filter', 'content-filter-finish', 'filter-unstreamed'].map(
    (name): [string, Cell] => [
      name,
      {
        status: 400,
        charge: 'nothing',
        code: 'content_policy_violation',
        type: 'invalid_request_error',
      },
    ],
  ),
  ...['400', '404', '422'].map((name): [string, Cell] => [
    name,
    { status: 400, charge: 'nothing' },
  ]),
  ...['empty', 'no-choices', 'no-content'].map((name): [string, Cell] => [
    name,
    { status: 502, charge: 'nothing' },
  ]),
  ...['bad-json', 'truncated', 'reset-middle', 'html', 'deep', 'bad-headers', 'gzip-bomb'].map(
    (name): [string, Cell] => [name, { status: 502, charge: 'hold', code: 'unreadable_response' }],
  ),
  ['hang', { status: 504, charge: 'hold', code: 'deadline_exceeded' }],
  ['hang-middle', { status: 504, charge: 'hold', code: 'deadline_exceeded' }],
  ['usage-missing', { status: 200, charge: 'own', estimated: true }],
  ['usage-null', { status: 200, charge: 'own', estimated: true }],
  ...['usage-negative', 'usage-float', 'usage-text', 'usage-overflow'].map(
    (name): [string, Cell] => [name, { status: 200, charge: 'within', estimated: true }],
  ),
  ['usage-zero', { status: 200, charge: 'one' }],
  ...['401', '402', '403'].map((name): [string, Cell] => [
    name,
    { status: 503, charge: 'nothing' },
  ]),
  ['redirect', { status: 502, charge: 'nothing' }],
]

/** Differences of a stream from the completion. */
const broken: Cell = { status: 200, charge: 'delivered', event: 'upstream_stream_error' }
const streamed: [string, Cell][] = [
  ...plain.filter(
    ([name]) => !/filter-finish|no-ch|no-co|json|trunc|middle|html|deep|bomb|bad-h/.test(name),
  ),
  ...'early each crlf cr comments empty-data split-utf8 one-piece done-twice'
    .split(' ')
    .map((name): [string, Cell] => [
      /early|each/.test(name) ? `ok-usage-${name}` : `ok-${name}`,
      { status: 200, charge: 'used' },
    ]),
  ...[
    'bad-json',
    'truncated',
    'reset-middle',
    'no-done',
    'html',
    'deep',
    'gzip-bomb',
    'hang-middle',
    'bad-headers',
  ].map((name): [string, Cell] => [name, broken]),
  ['error-event', broken],
  ['error-first', { status: 502, charge: 'nothing' }],
  ['content-filter-finish', { ...broken, charge: 'used', event: 'content_policy_violation' }],
  ['no-choices', { status: 502, charge: 'nothing' }],
  ['no-content', { ...broken, charge: 'nothing' }],
]

describe('charges of a completion', () => {
  test.concurrent.each(plain)(
    '%s',
    async (name, cell) => {
      const answer = await run(name, false, cell)
      if (cell.status !== 200) return
      const { choices, usage } = Object(answer.body)
      expect(choices[0].message.content).toBe(fakeText.join(''))
      expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(answer.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each(streamed)(
    '%s',
    async (name, cell) => {
      const answer = await run(name, true, cell)
      if (cell.status !== 200) return
      const text = String(answer.body)
      const data = text.split(/\r?\n|\r/).filter((line) => line.startsWith('data:'))
      const last = data.at(-1)?.slice(5).trim() ?? ''
      if (!cell.event) {
        expect(data.filter((line) => line.includes('[DONE]'))).toHaveLength(1)
        expect(last).toBe('[DONE]')
        return
      }
      expect(text).not.toContain('[DONE]')
      const { error } = JSON.parse(last)
      expect(error).toMatchObject({ code: cell.event, param: null })
      if (cell.charge !== 'nothing') expect(error.message).not.toContain('Nothing was charged')
    },
    waitMs,
  )
})

test('the target of a redirect is never contacted', () => {
  expect(patient.fake.canaryTouched()).toBe(0)
})

test('the operator is warned of a rejected upstream key, which appears in no response and no log line', () => {
  const warned = patient.warnings.filter(({ event }) => event === 'upstream.key_refused')
  expect(warned.map(({ status }) => status).toSorted()).toEqual([401, 401, 402, 402, 403, 403])
  expect(JSON.stringify([patient.warnings, patient.lines])).not.toContain('sk-fake')
})
