import { Elysia } from 'elysia'

import { countByQueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { thisProcess } from '../../kernel/db/replicas/presence.ts'
import { sha256 } from '../../kernel/ids.ts'
import { lookUp } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import { statusClasses, trafficParts } from '../../kernel/traffic.ts'
import { version } from '../../kernel/version.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { readTotals } from '../../money/ledger/reports.ts'
import { openMethods } from '../../money/payments/coins/method.ts'

type Type = 'counter' | 'gauge' | 'histogram'
type Row = [labels: Record<string, string>, value: number | bigint, suffix?: string]

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (sign) => lookUp(signs, sign) ?? '')
const signs: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

/** Returns a metric with its rows as text (Prometheus text format 0.0.4). */
function metric(name: string, type: Type, help: string, rows: Row[]): string {
  const lines = rows.map(([labels, value, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
    return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
  })
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

/** A value without labels, or rows. */
type Values = number | bigint | Row[]
const rowsOf = (values: Values): Row[] => (typeof values === 'object' ? values : [[{}, values]])
const gauge = (name: string, help: string, values: Values) =>
  metric(name, 'gauge', help, rowsOf(values))
const counter = (name: string, help: string, values: Values) =>
  metric(name, 'counter', help, rowsOf(values))

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
  const help = 'Seconds until a response began, by part.'
  return [
    counter('berth_requests_total', 'Requests by part and status.', responses),
    metric('berth_request_seconds', 'histogram', help, times),
  ]
}

/** Returns the state of the bucket; nothing where files are in the data folder. */
async function bucketMetrics({ config, storage }: AppContext): Promise<string[]> {
  if (config.s3Bucket === '') return []
  const isUp = (await storage.problem()) === undefined
  return [gauge('berth_bucket_up', '1 while the bucket of the files responds.', Number(isUp))]
}

async function ledgerMetrics(ctx: AppContext): Promise<string[]> {
  const { income, balance, held } = await readTotals(ctx)
  const unit = 'in billionths of a USD'
  return [
    counter('berth_income_nano_total', `Revenue of the operator, ${unit}.`, income),
    gauge('berth_balance_nano', `Balance of all accounts, ${unit}.`, balance),
    gauge('berth_held_nano', `Held for running work, ${unit}.`, held),
  ]
}

async function jobMetrics(ctx: AppContext): Promise<string[]> {
  const rows = (jobs: { queue: string; state: string; count: number }[]) =>
    jobs.map(({ queue, state, count }): Row => [{ lane: queue, state }, count])
  const [open, ended] = [rows(await countByQueue(ctx)), rows(ctx.jobs.ended())]
  return [
    gauge('berth_jobs', 'Jobs that have not ended, by queue and state.', open),
    counter('berth_jobs_ended_total', 'Jobs that ended, by queue and state.', ended),
  ]
}

function upstreamMetrics({ upstreams }: AppContext): string[] {
  const all = upstreams.health()
  const rows = (value: (one: (typeof all)[number]) => number) =>
    all.map((one): Row => [{ upstream: one.name }, value(one)])
  const up = rows(({ state }) => (state === 'closed' ? 1 : 0))
  const failures = rows((one) => one.failures)
  return [
    gauge('berth_upstream_up', '1 while the circuit breaker of the upstream is closed.', up),
    counter(
      'berth_upstream_answers_total',
      'Responses of upstreams.',
      rows((one) => one.answers),
    ),
    counter('berth_upstream_errors_total', 'Failed requests to upstreams.', failures),
  ]
}

/** Returns whether each chain of the top-ups can be seen; nothing without top-ups. */
async function topupMetrics(ctx: AppContext): Promise<string[]> {
  if (openMethods(ctx.config).length === 0) return []
  const { readWatchers } = await import('../../money/payments/coins/watchers.ts')
  const up = (await readWatchers(ctx)).map(({ network, ok }): Row => [{ network }, ok ? 1 : 0])
  const help = '1 while the watcher of the network sees its chain.'
  return [gauge('berth_topup_watcher_up', help, up)]
}

function processMetrics({ clock, storage, state, presence: { isLeader } }: AppContext): string[] {
  const { user, system } = process.cpuUsage()
  const startedAt = Math.round(clock.now() / second - process.uptime())
  const lateSeconds = state.metricsHistory.recentLateMs / second
  const memory = process.memoryUsage.rss()
  return [
    gauge('berth_info', 'The version and the id of this process.', [
      [{ version, process: thisProcess }, 1],
    ]),
    gauge('berth_leader', '1 where this server does the periodic work.', isLeader ? 1 : 0),
    gauge('berth_disk_free_bytes', 'Free disk space of the data folder.', storage.free()),
    gauge('berth_loop_late_seconds', 'The longest recent delay of a timer.', lateSeconds),
    gauge('process_resident_memory_bytes', 'Memory of the process.', memory),
    gauge('process_start_time_seconds', 'Start of the process, since 1970.', startedAt),
    counter('process_cpu_seconds_total', 'CPU time of the process.', (user + system) / 1e6),
  ]
}

/** Returns what limits rejected: those in memory by name, and errors of all limits by code. */
function limitMetrics({ state }: AppContext): string[] {
  const rejected = Object.entries(state.limits).map(([limit, { rejected }]): Row => [
    { limit },
    rejected,
  ])
  const errors = [...state.limitErrors].map(([code, count]): Row => [{ code }, count])
  return [
    counter('berth_limit_rejections_total', 'Calls that a limit in memory rejected.', rejected),
    counter('berth_limit_errors_total', 'Errors of limits and full queues, by code.', errors),
  ]
}

/** Returns all metrics as Prometheus text. */
async function metricsText(ctx: AppContext): Promise<string> {
  const [ledger, jobs, topups] = await Promise.all([
    ledgerMetrics(ctx),
    jobMetrics(ctx),
    topupMetrics(ctx),
  ])
  const [traffic, upstreams] = [trafficMetrics(ctx), upstreamMetrics(ctx)]
  const limits = limitMetrics(ctx)
  return [
    ...traffic,
    ...limits,
    ...ledger,
    ...jobs,
    ...upstreams,
    ...topups,
    ...processMetrics(ctx),
    ...(await bucketMetrics(ctx)),
  ].join('')
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
