import type { UpstreamHealth } from '../../../gateway/providers/monitored-upstream.ts'
import { second } from '../../../kernel/time.ts'
import { version } from '../../../kernel/version.ts'
import type { ServerHealth } from '../../../money/payments/health.ts'
import type { AppContext } from '../../context.ts'
import { type Collected, ServerReport } from './server-report.ts'

/** The state of one server. Times are milliseconds since 1970, sizes bytes. */
export interface ServerState {
  version: string
  startedAt: number
  memory: number
  free: number
  /** The longest delay of a timer in the last one to two minutes, in milliseconds. */
  lateMs: number
  /** It does the periodic work. */
  isLeader: boolean
  upstreams: UpstreamHealth[]
}

const readState = (ctx: AppContext, _input: null): ServerState => ({
  version,
  startedAt: Math.round(ctx.clock.now() - process.uptime() * second),
  memory: process.memoryUsage.rss(),
  free: ctx.storage.free(),
  lateMs: Math.round(ctx.state.metricsHistory.recentLateMs),
  isLeader: ctx.presence.isLeader,
  upstreams: ctx.upstreams.health(),
})

export const serverStates = new ServerReport('states', readState)

/** The health of an upstream as all servers see it. */
export interface SharedHealth extends UpstreamHealth {
  /** The servers that pause it or try it again. */
  pausedAt: string[]
}

const severities = { closed: 0, 'half-open': 1, open: 2 }

/** Sums up the health of each upstream over all servers. */
export function sumHealth({ reports }: Collected<ServerState>): SharedHealth[] {
  const sums = new Map<string, SharedHealth>()
  for (const { server, value } of reports) {
    for (const health of value.upstreams) {
      const sum = sums.get(health.name) ?? { ...health, answers: 0, failures: 0, pausedAt: [] }
      sums.set(health.name, {
        ...sum,
        state: severities[health.state] > severities[sum.state] ? health.state : sum.state,
        answers: sum.answers + health.answers,
        failures: sum.failures + health.failures,
        answeredAt: latest(sum.answeredAt, health.answeredAt),
        lastFailure: [sum.lastFailure, health.lastFailure]
          .filter((one) => one !== undefined)
          .toSorted((a, b) => b.at - a.at)[0],
        pausedAt: health.state === 'closed' ? sum.pausedAt : [...sum.pausedAt, server],
      })
    }
  }
  return [...sums.values()]
}

const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)

/** Returns the servers of the chains of top-ups that this process could not use last. */
export const findFailingServers = ({ coins }: AppContext): ServerHealth[] =>
  coins.chains().flatMap((chain) => chain.health().filter(({ problem }) => problem !== undefined))

export const chainServers = new ServerReport('chain-servers', (ctx, _input: null) =>
  findFailingServers(ctx),
)
