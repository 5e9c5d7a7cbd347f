import { expect, test } from 'bun:test'

import { nano, zero } from '../../kernel/money.ts'
import { day, minute } from '../../kernel/time.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { listDailyIncome } from '../../money/ledger/reports.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { listMetrics, recordMetrics } from './metrics-history.ts'

const open = startForEachTest()

/** Reads the text format as it is specified, and throws at the first line that is not in it. */
function parsed(text: string): Map<string, number> {
  expect(text).toEndWith('\n')
  const types = new Map<string, string>()
  const values = new Map<string, number>()
  for (const line of text.slice(0, -1).split('\n')) {
    const [, name = '', type] =
      /^# (?:HELP ([a-z_]+) \S.*|TYPE ([a-z_]+) (?:counter|gauge|histogram))$/
        .exec(line)
        ?.filter((part) => part !== undefined) ?? []
    if (line.startsWith('# TYPE')) {
      const [, , called = '', kind = ''] = line.split(' ')
      expect(types.has(called)).toBe(false)
      types.set(called, kind)
      continue
    }
    if (name || type) continue
    const sample =
      /^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (-?\d+(?:\.\d+)?(?:e-?\d+)?)$/
    const [, metric = '', labels = '', value = ''] = sample.exec(line) ?? []
    if (!metric) throw new Error(`no line of the format: ${line}`)
    const family = types.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '')
    expect([line, types.get(family)]).toEqual([line, expect.any(String)])
    expect(values.has(metric + labels)).toBe(false)
    values.set(metric + labels, Number(value))
  }
  return values
}

const token = 'metrics-token-of-this-test'

async function metricsOf(t: TestServer): Promise<Map<string, number>> {
  const response = await t.request('GET', '/metrics', { key: token })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parsed(String(response.body))
}

test('metrics need METRICS_TOKEN and are off without it', async () => {
  const none = await open()
  for (const key of [undefined, '', token]) {
    expect((await none.request('GET', '/metrics', { key })).status).toBe(404)
  }
  const t = await open({ METRICS_TOKEN: token })
  for (const key of [undefined, '', `${token}x`, token.slice(0, -1)]) {
    const response = await t.request('GET', '/metrics', { key })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(String(response.body)).not.toContain('berth_')
  }
})

test('responses are counted by part and status in the Prometheus format', async () => {
  const t = await open({ METRICS_TOKEN: token })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  await t.request('GET', `/a/${id}`)
  await t.call('GET', '/me')
  await t.request('GET', '/v1/models')
  const before = await metricsOf(t)
  expect(before.get('berth_requests_total{part="api",status="2xx"}')).toBe(2)
  expect(before.get('berth_requests_total{part="api",status="4xx"}')).toBe(1)
  expect(before.get('berth_requests_total{part="apps",status="2xx"}')).toBe(1)
  expect(before.get('berth_requests_total{part="gateway",status="2xx"}')).toBe(1)
  expect(before.get('berth_request_seconds_count{part="api"}')).toBe(3)
  expect(before.get('berth_request_seconds_bucket{part="api",le="+Inf"}')).toBe(3)
  const buckets = [...before].filter(([name]) => name.includes('_bucket{part="api"'))
  const counts = buckets.map(([, count]) => count)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
  expect(before.get('berth_balance_nano')).toBe(400_000_000)
  expect(before.get('berth_held_nano')).toBe(0)
  expect(before.get('berth_upstream_up{upstream="demo"}')).toBe(1)
  expect(before.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(before.get('berth_disk_free_bytes')).toBeGreaterThan(0)

  for (let at = 0; at < 20; at += 1) await t.request('GET', `/nowhere/${at}"\n`)
  const after = await metricsOf(t)
  expect([...after.keys()]).toEqual([...before.keys()])
  expect(after.get('berth_requests_total{part="pages",status="4xx"}')).toBe(20)
})

test('holds and revenue are exact and summed by day', async () => {
  const t = await open({ METRICS_TOKEN: token })
  const { ctx, clock } = t
  await t.agent('ann')
  const owner = { kind: 'gateway', owner: 'gus' } as const
  const amount = nano(5_000_000_007n)
  await ledger.grantTo(ctx, owner, { amount, kind: 'grant', ref: 'g', free: false })
  const pay = (ref: string, charge: bigint) =>
    ctx.db.tx(async (db) => {
      const ask = { account: 'gateway:gus', amount: nano(2_000n), ref, kind: 'chat' } as const
      const { hold } = await ledger.openHold(ctx, db, { ...ask, ms: minute })
      if (charge > 0n) await ledger.settleHold(ctx, db, hold, nano(charge))
    })
  await recordMetrics(ctx)
  await pay('one', 1_001n)
  clock.advance(minute)
  await recordMetrics(ctx)
  await t.request('GET', '/nowhere')
  await pay('open', 0n)
  const metrics = await metricsOf(t)
  expect(metrics.get('berth_income_nano_total')).toBe(1_001)
  expect(metrics.get('berth_held_nano')).toBe(2_000)
  expect(metrics.get('berth_balance_nano')).toBe(5_400_000_007 - 1_001)
  const points = await listMetrics(ctx, { ms: 3 * minute, points: 3 })
  expect(points.map(({ income }) => income)).toContain(nano(1_001n))
  expect(points.at(-1)?.requestsPerSecond).toBeGreaterThan(0)
  expect(points.at(-1)?.clientErrorPercent).toBe(50)

  clock.advance(2 * day)
  await pay('two', 500n)
  await pay('three', 400n)
  expect((await listDailyIncome(ctx, 4)).map(({ amount: paid }) => paid)).toEqual(
    [0n, 1_001n, 0n, 900n].map(nano),
  )
  for (let at = 0; at < 1_500; at += 1) {
    ctx.state.metricsHistory.add({
      at,
      upstreamErrors: 0,
      income: zero,
      jobs: 0,
      free: 1,
      lateMs: 0,
    })
  }
  expect(ctx.state.metricsHistory.samples).toHaveLength(1_441)
})
