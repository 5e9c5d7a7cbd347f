import { expect, test } from 'bun:test'

import { openLog } from '../../kernel/log.ts'
import { invalidField } from '../fields.ts'
import { CircuitBreaker, MonitoredUpstream } from './monitored-upstream.ts'
import { type SentChat, UpstreamError } from './upstream.ts'

function fresh() {
  const clock = { at: 1_000_000, now: () => clock.at }
  const breaker = new CircuitBreaker(clock)
  const fail = (times: number) =>
    Array.from({ length: times }, () => breaker.tryAcquire() && breaker.failed())
  return { breaker, clock, fail }
}

test('opens after five failures in a row and reports it once', () => {
  const { breaker, fail } = fresh()
  expect(fail(5)).toEqual([false, false, false, false, true])
  expect(breaker.isAvailable).toBe(false)
  expect(breaker.tryAcquire()).toBe(false)
})

test('resets the count after a success', () => {
  const { breaker, fail } = fresh()
  fail(4)
  breaker.succeeded()
  fail(4)
  expect(breaker.isAvailable).toBe(true)
})

test('admits one probe after the pause and closes after its success', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at += 4_999
  expect(breaker.tryAcquire()).toBe(false)
  clock.at += 1
  expect(breaker.tryAcquire()).toBe(true)
  expect(breaker.tryAcquire()).toBe(false)
  breaker.succeeded()
  expect([breaker.tryAcquire(), breaker.tryAcquire()]).toEqual([true, true])
})

test('doubles the pause after a failed probe, up to five minutes', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  let pause = 5_000
  for (let probes = 0; probes < 10; probes += 1) {
    clock.at += pause - 1
    expect(breaker.tryAcquire()).toBe(false)
    clock.at += 1
    expect(fail(1)).toEqual([true])
    pause = Math.min(pause * 2, 300_000)
  }
  expect(pause).toBe(300_000)
})

test('admits another probe when one is released or expires', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
  breaker.released()
  expect(breaker.tryAcquire()).toBe(true)
  clock.at += 300_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('does not extend the pause for requests already running', () => {
  const { breaker, clock, fail } = fresh()
  const underWay = [breaker.tryAcquire(), breaker.tryAcquire()]
  fail(5)
  for (const sent of underWay) expect(sent && breaker.failed()).toBe(false)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('does not extend pauses when the clock is set back', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at -= 3_600_000
  expect(breaker.state).toBe('half-open')
  expect(breaker.tryAcquire()).toBe(true)
  clock.at -= 3_600_000
  expect(breaker.tryAcquire()).toBe(true)
})

const chat = {
  model: 'm',
  request: { messages: [], tools: [], choices: 1, sampling: {}, stop: [], extra: {} },
  isStream: false,
  outputMax: 100,
  stopsItself: true,
  signal: AbortSignal.timeout(5_000),
}

/** Returns an upstream whose chats end in this way, and its log. */
function monitored(respond: () => Promise<SentChat>) {
  const lines: Record<string, unknown>[] = []
  const clock = { now: () => 1_000_000 }
  const log = openLog(clock, (line) => void lines.push(JSON.parse(line)))
  const upstream = new MonitoredUpstream(
    {
      name: 'a',
      kind: 'openai',
      apis: ['chat'],
      send: () => Promise.resolve({ json: {} }),
      chat: respond,
    },
    clock,
    log,
  )
  return { upstream, lines }
}

const rejected = (status: number) => () => Promise.resolve({ rejected: { status, body: {} } })

async function* steps() {
  yield []
}

test('counts a chat by the status of its rejection, or of its response', async () => {
  const rows: [() => Promise<SentChat>, string | undefined][] = [
    [() => Promise.resolve({ steps: steps(), ignored: [] }), undefined],
    [rejected(400), undefined],
    [rejected(429), undefined],
    [rejected(401), 'status 401'],
    [rejected(500), 'status 500'],
    [() => Promise.reject(new UpstreamError('reset', 'a')), 'reset'],
    [() => Promise.reject(new Error('odd')), 'unknown'],
  ]
  for (const [respond, why] of rows) {
    const { upstream } = monitored(respond)
    await upstream.chat(chat).catch(() => {})
    const { answers, failures, lastFailure } = upstream.health
    expect([answers, failures, lastFailure?.why]).toEqual(why ? [0, 1, why] : [1, 0, undefined])
  }
})

test('does not count chats that cannot be encoded, or whose client left', async () => {
  for (const error of [invalidField('n', 'One.'), new UpstreamError('aborted', 'a')]) {
    const { upstream, lines } = monitored(() => Promise.reject(error))
    for (let times = 0; times < 6; times += 1) {
      await expect(upstream.chat(chat)).rejects.toBe(error)
    }
    expect(upstream.health).toMatchObject({ state: 'closed', answers: 0, failures: 0 })
    expect([upstream.isAvailable, lines]).toEqual([true, []])
  }
})
