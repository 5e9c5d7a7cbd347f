import { expect, test } from 'bun:test'

import { minute } from '../../kernel/time.ts'
import { Balancer } from './balancer.ts'
import { Measurements } from './measurements.ts'

/** A clock that a test advances. */
function manualClock() {
  let now = 1_000_000
  return { now: () => now, advance: (ms: number) => void (now += ms) }
}

function open(clock = manualClock()) {
  const measurements = new Measurements(clock)
  return { clock, measurements, balancer: new Balancer(measurements, clock) }
}

const offers = (...names: string[]) =>
  names.map((upstream) => ({ offer: { upstream, model: 'm' } }))
const namesOf = (list: readonly { offer: { upstream: string } }[]) =>
  list.map(({ offer }) => offer.upstream).join(' ')

test('weights give each upstream its share, evenly spread', () => {
  const { balancer } = open()
  const list = [
    { offer: { upstream: 'a', model: 'm', weight: 3 } },
    { offer: { upstream: 'b', model: 'm' } },
  ]
  const firsts = Array.from({ length: 8 }, () => namesOf(balancer.sort('m', 'weights', list))[0])
  expect(firsts.join('')).toBe('aabaaaba')
  expect(namesOf(list)).toBe('a b')
})

test('busy selects the fewest running calls, and equal upstreams take turns', () => {
  const { balancer, measurements } = open()
  const list = offers('a', 'b')
  const first = () => namesOf(balancer.sort('m', 'busy', list))[0]
  expect([first(), first(), first(), first()]).toEqual(['a', 'b', 'a', 'b'])
  const running = measurements.begin({ upstream: 'a', model: 'm' })
  expect([first(), first()]).toEqual(['b', 'b'])
  running.end('completed')
  running.end('completed')
  expect(measurements.running({ upstream: 'a', model: 'm' })).toBe(0)
})

test('latency selects the fastest, measures unknown ones, and avoids failed ones', async () => {
  const { balancer, measurements, clock } = open()
  const list = offers('a', 'b', 'c')
  const sorted = () => namesOf(balancer.sort('m', 'latency', list))
  const slow = measurements.begin({ upstream: 'a', model: 'm' })
  const probe = measurements.begin({ upstream: 'b', model: 'm' })
  // One call at a time measures an unknown upstream.
  expect(sorted()[0]).toBe('c')
  probe.end('completed')
  clock.advance(20)
  slow.end('completed')
  measurements.begin({ upstream: 'c', model: 'm' }).end('failed')
  expect(sorted()).toBe('b a c')
  clock.advance(6 * minute)
  const { begin } = { begin: () => measurements.begin({ upstream: 'b', model: 'm' }) }
  begin().end('completed')
  expect(sorted()).toMatch(/^(a c|c a) b$/)
})

test('further keys of an upstream share its place in the order', () => {
  const { balancer, measurements } = open()
  const list = [
    ...offers('a'),
    { offer: { upstream: 'a#2', model: 'm', replicaOf: 'a' } },
    ...offers('b'),
  ]
  const running = measurements.begin({ upstream: 'a', model: 'm' })
  expect(namesOf(balancer.sort('m', 'order', list))).toBe('a#2 a b')
  running.end('dismissed')
  const firsts = [1, 2, 3, 4, 5, 6].map(() => namesOf(balancer.sort('m', 'order', list)))
  expect(new Set(firsts)).toEqual(new Set(['a a#2 b', 'a#2 a b']))
})

test('a model that cools down at an upstream comes last until the time has passed', () => {
  const { balancer, clock } = open()
  const list = offers('a', 'b')
  expect(balancer.withoutCooling(list)).toBe(list)
  balancer.cool({ upstream: 'a', model: 'm' }, 30)
  expect(namesOf(balancer.withoutCooling(list))).toBe('b a')
  balancer.cool({ upstream: 'b', model: 'other' }, 30)
  clock.advance(31_000)
  expect(namesOf(balancer.withoutCooling(list))).toBe('a b')
})

test('measurements sum up latency, success and speed of a day', () => {
  const { measurements, clock } = open()
  const [a, b] = [
    { upstream: 'a', model: 'm' },
    { upstream: 'b', model: 'm' },
  ]
  expect(measurements.summarize([a, b])).toBeUndefined()
  for (let calls = 0; calls < 300; calls += 1) measurements.begin(a).end('completed')
  measurements.begin(b).end('failed')
  measurements.begin(b).end('dismissed')
  const running = measurements.begin(b)
  expect(measurements.summarize([a, b])).toMatchObject({
    calls: 257,
    successRate: 256 / 257,
    firstByteMs: { p50: 0, p99: expect.any(Number) },
    running: 1,
  })
  expect(measurements.summarize([b])).toMatchObject({ calls: 1, successRate: 0, totalMs: null })
  running.end('dismissed')
  clock.advance(25 * 60 * minute)
  expect(measurements.summarize([a, b])).toBeUndefined()
})

test('the speed is a moving average', () => {
  const { measurements, clock } = open()
  const place = { upstream: 'a', model: 'm' }
  const call = (tokens: number) => {
    const running = measurements.begin(place)
    clock.advance(1_000)
    running.end('completed', tokens)
  }
  call(100)
  expect(measurements.tokensPerSecond(place)).toBe(100)
  call(200)
  expect(measurements.tokensPerSecond(place)).toBe(120)
  call(0)
  expect(measurements.tokensPerSecond(place)).toBe(120)
})
