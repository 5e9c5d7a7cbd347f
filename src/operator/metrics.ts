import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { sha256 } from '../core/ids.ts'
import { second } from '../core/time.ts'
import { statusClasses, trafficParts } from '../core/traffic.ts'
import { countByQueue } from '../jobs/jobs.ts'
import { readApiKey } from '../keys/request-key.ts'
import { readTotals } from '../ledger/totals.ts'
import { version } from '../version.ts'

type Type = 'counter' | 'gauge' | 'histogram'
type Row = [labels: Record<string, string>, value: number | bigint, suffix?: string]

const escaped = (text: string): string => text.replace(/[\\"\n]/g, (sign) => signs[sign] ?? '')
const signs: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

/** Returns a metric with its rows as text (Prometheus text format 0.0.4). */
function metric(name: string, type: Type, help: string, rows: Row[]): string {
  const lines = rows.map(([labels, value, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
    return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
  })
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

const gauge = (name: string, help: string, value: number | bigint): string =>
  metric(name, 'gauge', help, [[{}, value]])

function trafficMetrics({ state: { traffic } }: AppContext): string[] {
  const responses = trafficParts.flatMap((part) =>
    statusClasses.map((status): Row => [{ part, status }, traffic.responses(part, status)]),
  )
  const times = trafficParts.flatMap((part): Row[] => {
    const { buckets, count, seconds } = traffic.timings(part)
    return [
      ...buckets.map((one): Row => [{ part, le: String(one.seconds) }, one.count, '_bucket']),
      [{ part, le: '+Inf' }, count, '_bucket'],
      [{ part }, seconds, '_sum'],
      [{ part }, count, '_count'],
    ]
  })
  const until = 'Seconds until a response began, by part.'
  return [
    metric('berth_requests_total', 'counter', 'Requests by part and status.', responses),
    metric('berth_request_seconds', 'histogram', until, times),
  ]
}

async function ledgerMetrics(ctx: AppContext): Promise<string[]> {
  const { income, balance, held } = await readTotals(ctx)
  return [
    metric(
      'berth_income_nano_total',
      'counter',
      'Revenue of the operator, in billionths of a USD.',
      [[{}, income]],
    ),
    gauge('berth_balance_nano', 'Balance of all accounts, in billionths of a USD.', balance),
    gauge('berth_held_nano', 'Held for running work, in billionths of a USD.', held),
  ]
}

async function jobMetrics(ctx: AppContext): Promise<string[]> {
  const open = (await countByQueue(ctx)).map(({ queue, state, count }): Row => [
    { lane: queue, state },
    count,
  ])
  const ended = ctx.jobs
    .ended()
    .map(({ queue, state, count }): Row => [{ lane: queue, state }, count])
  return [
    metric('berth_jobs', 'gauge', 'Jobs that have not ended, by lane and state.', open),
    metric('berth_jobs_ended_total', 'counter', 'Jobs that ended, by lane and state.', ended),
  ]
}

function upstreamMetrics({ upstreams }: AppContext): string[] {
  const all = upstreams.health()
  const rows = (value: (one: (typeof all)[number]) => number) =>
    all.map((one): Row => [{ upstream: one.name }, value(one)])
  const counter = (name: string, help: string, counts: Row[]) =>
    metric(name, 'counter', help, counts)
  return [
    metric(
      'berth_upstream_up',
      'gauge',
      '1 while the circuit breaker of the upstream is closed.',
      rows(({ state }) => (state === 'closed' ? 1 : 0)),
    ),
    counter(
      'berth_upstream_answers_total',
      'Responses of upstreams.',
      rows(({ answers }) => answers),
    ),
    counter(
      'berth_upstream_errors_total',
      'Failed requests to upstreams.',
      rows(({ failures }) => failures),
    ),
  ]
}

function processMetrics(ctx: AppContext): string[] {
  const { user, system } = process.cpuUsage()
  const began = Math.round(ctx.clock.now() / second - process.uptime())
  return [
    metric('berth_info', 'gauge', 'The version of this program.', [[{ version }, 1]]),
    gauge(
      'berth_disk_free_bytes',
      'Free bytes on the disk of the data folder.',
      ctx.storage.free(),
    ),
    gauge(
      'berth_loop_late_seconds',
      'The longest delay of a timer in the last minutes.',
      ctx.state.metricsHistory.recentLateMs / second,
    ),
    gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start time of the process in seconds since 1970.', began),
    metric('process_cpu_seconds_total', 'counter', 'CPU time of the process.', [
      [{}, (user + system) / 1e6],
    ]),
  ]
}

/** Returns all metrics as Prometheus text. */
async function metricsText(ctx: AppContext): Promise<string> {
  const [ledger, jobs] = await Promise.all([ledgerMetrics(ctx), jobMetrics(ctx)])
  const [traffic, upstreams] = [trafficMetrics(ctx), upstreamMetrics(ctx)]
  return [...traffic, ...ledger, ...jobs, ...upstreams, ...processMetrics(ctx)].join('')
}

const text = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

/** Serves `GET /metrics` for the bearer token METRICS_TOKEN. */
export const metricsRoute = (ctx: AppContext) =>
  new Elysia().get('/metrics', async ({ request }) => {
    const { metricsToken } = ctx.config
    if (!metricsToken) {
      return new Response('Metrics are off: METRICS_TOKEN is not set.\n', {
        status: 404,
        headers: text,
      })
    }
    if (sha256(readApiKey(request.headers) ?? '') !== sha256(metricsToken)) {
      return new Response('Send "Authorization: Bearer" with the METRICS_TOKEN of this server.\n', {
        status: 401,
        headers: { ...text, 'www-authenticate': 'Bearer' },
      })
    }
    const headers = { ...text, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    return new Response(await metricsText(ctx), { headers })
  })
