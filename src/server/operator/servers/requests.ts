import { lookUp } from '../../../kernel/schema.ts'
import type { ModelCall } from '../../../kernel/state/observations.ts'
import type { LoggedRequest } from '../../../kernel/state/request-log.ts'
import type { AppContext } from '../../context.ts'
import { type Collected, ServerReport } from './server-report.ts'

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
