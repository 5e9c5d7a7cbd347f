import type { UpstreamHealth } from '../../gateway/providers/monitored-upstream.ts'
import {
  addSpending,
  noSpending,
  type Spending,
  type SubjectKind,
  weightOf,
} from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { lookUp } from '../../kernel/schema.ts'
import type { LoggedRequest, ModelCall } from '../../kernel/state/observations.ts'
import { second } from '../../kernel/time.ts'
import { version } from '../../kernel/version.ts'
import type { ServerHealth } from '../../money/payments/server-pool.ts'

/** Reports of all servers that responded. */
export interface Collected<Value> {
  /** That of the server itself first, then those of the others by name. */
  reports: { server: string; value: Value }[]
  /** Servers whose report is missing. */
  silent: number
}

/**
 * A part of the memory of one server that the console of every server shows. Reports are JSON.
 * During an upgrade servers of two versions exchange them, so a report of another form needs
 * another name.
 */
export class ServerReport<Input, Value> {
  constructor(
    readonly name: string,
    private readonly read: (ctx: AppContext, input: Input) => Value | Promise<Value>,
  ) {}

  /** Returns the report of this server for another one. */
  async respond(ctx: AppContext, input: string): Promise<string> {
    const parsed: Input = JSON.parse(input)
    return JSON.stringify([ctx.otherServers.ownName, await this.read(ctx, parsed)])
  }

  /** Returns the reports of all servers. */
  async collect(ctx: AppContext, input: Input): Promise<Collected<Value>> {
    const [own, { results, silent }] = await Promise.all([
      this.read(ctx, input),
      ctx.otherServers.query(this.name, JSON.stringify(input)),
    ])
    const others = results.map((result) => {
      const [server, value]: [string, Value] = JSON.parse(result)
      return { server, value }
    })
    others.sort((a, b) => (a.server < b.server ? -1 : 1))
    return { reports: [{ server: ctx.otherServers.ownName, value: own }, ...others], silent }
  }
}

/** Requests that the console shows, of all servers together. */
export const requestsShown = 60
const errorsShown = 10
/** Characters of a text that another server receives. */
const textCharsMax = 300

/** A request with the name of the server that answered it. */
export interface ServedRequest extends LoggedRequest {
  server: string
}

/** The parts of a request to look for. */
export interface RequestFilter {
  /** The first digit of the status, or all of it. */
  status: string
  /** Words of the method and the route, in lower case. */
  route: string
  /** The first characters of the key. */
  key: string
  /** Accounts and addresses; null for those of every client. */
  clients: string[] | null
}

/** Without words to look for, the files of pages would hide all other requests. */
const isOfRoute = ({ method, route, status }: LoggedRequest, words: string): boolean =>
  words === ''
    ? status >= 400 || !pageFile.test(route)
    : `${method} ${route}`.toLowerCase().includes(words)

/** Returns a request with bounded texts. */
const bounded = (request: LoggedRequest): LoggedRequest => ({
  ...request,
  method: request.method.slice(0, textCharsMax),
  route: request.route.slice(0, textCharsMax),
  cause: request.cause?.slice(0, textCharsMax),
})

/** Files that a page loads: its scripts, styles, covers and icons. */
const pageFile = /^(?:\/(?:static|covers|icons|cards)\/|\/favicon\.)/

function findNewest({ state }: AppContext, filter: RequestFilter): LoggedRequest[] {
  const { status, route, key, clients } = filter
  const matches = (request: LoggedRequest): boolean =>
    String(request.status).startsWith(status) &&
    isOfRoute(request, route) &&
    (key === '' || request.key?.startsWith(key) === true) &&
    (clients === null ||
      clients.includes(request.account ?? '') ||
      clients.includes(request.address))
  const { requests, clientErrors, serverErrors } = state.observations
  // Errors stay in memory longer than other requests.
  const log = lookUp({ '4': clientErrors, '5': serverErrors }, status.charAt(0)) ?? requests
  return log.newest(requestsShown, matches).map(bounded)
}

export const newestRequests = new ServerReport('requests', findNewest)

export const newestErrors = new ServerReport('errors', ({ state }, _input: null) =>
  state.observations.serverErrors.newest(errorsShown, () => true).map(bounded),
)

/** A request with the model call that it made; null where the server does not remember it. */
export const requestDetails = new ServerReport(
  'request',
  (
    { state: { observations } },
    id: string,
  ): { request: LoggedRequest; call: ModelCall | null } | null => {
    const request = observations.findRequest(id)
    return request ? { request, call: observations.findModelCall(id) ?? null } : null
  },
)

/** Returns the newest requests of all servers, newest first. */
export const mergeRequests = (
  { reports }: Collected<LoggedRequest[]>,
  max: number,
): ServedRequest[] =>
  reports
    .flatMap(({ server, value }) => value.map((request) => ({ ...request, server })))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, max)

/** Returns the newest server errors of all servers, newest first. */
export const mergeErrors = (errors: Collected<LoggedRequest[]>): ServedRequest[] =>
  mergeRequests(errors, errorsShown)

/** Clients of a kind that a server reports: more than the console shows, because it adds up. */
const clientsMax = 60
/** Restricted clients of a kind that a server reports. */
const restrictedMax = 200

/** The costs of one client at one server. */
export interface ClientCost {
  kind: SubjectKind
  name: string
  spending: Spending
}

const kinds: SubjectKind[] = ['address', 'account', 'key']

/** Returns the names of the restricted clients of a kind. */
export const restrictedNames = ({ restrictions }: AppContext, kind: SubjectKind): string[] =>
  restrictions
    .list()
    .flatMap(([subject]) => (subject.startsWith(`${kind}:`) ? subject.slice(kind.length + 1) : []))

/** Reports the most expensive clients, and what those with a restriction cost. */
function readCosts(ctx: AppContext, _input: null): ClientCost[] {
  const { costs } = ctx.state
  return kinds.flatMap((kind) => {
    const restricted = restrictedNames(ctx, kind)
      .filter((name) => weightOf(costs.spendingOf(kind, name)) > 0)
      .slice(0, restrictedMax)
    const top = costs.top(kind, clientsMax).map(({ name }) => name)
    return [...new Set([...restricted, ...top])].map((name) => ({
      kind,
      name,
      spending: costs.spendingOf(kind, name),
    }))
  })
}

export const clientCosts = new ServerReport('clients', readCosts)

/** Adds up the costs of the clients of a kind over all servers, the most expensive first. */
export function sumCosts(
  { reports }: Collected<ClientCost[]>,
  kind: SubjectKind,
): Map<string, Spending> {
  const sums = new Map<string, Spending>()
  for (const client of reports.flatMap(({ value }) => value)) {
    if (client.kind !== kind) continue
    const before = sums.get(client.name) ?? noSpending()
    sums.set(client.name, addSpending(before, client.spending))
  }
  return new Map([...sums].toSorted(([, a], [, b]) => weightOf(b) - weightOf(a)))
}

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
