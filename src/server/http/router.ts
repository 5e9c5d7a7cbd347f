import { fileAddresses } from '../../apps/viewer/file-addresses.ts'
import { hostingSource } from '../../apps/viewer/hosting-source.ts'
import { filesPath, filesRoute, Pages } from '../../apps/viewer/pages.ts'
import { embeddersOf } from '../../apps/viewer/policy.ts'
import { serveFromMemory } from '../../apps/viewer/serve-from-memory.ts'
import {
  clientApis,
  findClientAlias,
  inOwnEnvelope,
  ownAliases,
  type PathAlias,
  setRequestId,
} from '../../gateway/client-apis.ts'
import * as gateway from '../../gateway/error-response.ts'
import { runFor } from '../../kernel/client.ts'
import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { contentOf } from '../../kernel/http/entity.ts'
import { pageHosts, wrongHostPage } from '../../kernel/http/host.ts'
import {
  pathOf,
  type RequestContext,
  setRequestContext,
} from '../../kernel/http/request-context.ts'
import { errorResponse } from '../../kernel/http/response.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { lazy } from '../../kernel/lazy.ts'
import { readPublic } from '../../kernel/public-files.ts'
import { systemClock } from '../../kernel/time.ts'
import type { TrafficPart } from '../../kernel/traffic.ts'
import { networkRejection } from '../../money/keys/restrictions.ts'
import * as hosting from '../../people/error-response.ts'
import { inLanguageOf } from '../../people/language.ts'
import { createMcpEndpoint, type McpOptions } from '../mcp/mcp.ts'
import { healthResponse } from '../operator/health.ts'
import { registerBackgroundWork } from './background-work.ts'
import {
  agentApiPolicy,
  gatewayPolicy,
  mayChange,
  openToAllOrigins,
  type RequestHandler,
  withRequestLog,
} from './middleware.ts'

/**
 * The parts of the server, by the first segment of the path. The site answers all other paths: web
 * pages, guides and metrics. The gateway's operations have a path with `/v1` and one without.
 */
export const partsBySegment: Record<string, TrafficPart | 'health'> = {
  api: 'api',
  mcp: 'mcp',
  a: 'apps',
  f: 'apps',
  frame: 'apps',
  healthz: 'health',
  readyz: 'health',
  v1: 'gateway',
  accounts: 'gateway',
  audio: 'gateway',
  batches: 'gateway',
  chat: 'gateway',
  completions: 'gateway',
  credits: 'gateway',
  embeddings: 'gateway',
  files: 'gateway',
  fim: 'gateway',
  images: 'gateway',
  messages: 'gateway',
  realtime: 'gateway',
  models: 'gateway',
  moderations: 'gateway',
  queries: 'gateway',
  rerank: 'gateway',
  responses: 'gateway',
  topup: 'gateway',
  videos: 'gateway',
  ...Object.fromEntries(clientApis.map(({ prefix }) => [prefix.split('/')[1], 'gateway'])),
}
const parts = new Map(Object.entries(partsBySegment))

/** The MCP endpoint: without and with the need to sign in. */
const isMcpPath = (path: string): boolean => /^\/mcp(?:\/|\/connect\/?)?$/.test(path)

/** Returns the part that answers a path. */
export function partOf(path: string): TrafficPart | 'health' {
  const end = path.indexOf('/', 1)
  const part = parts.get(end < 0 ? path.slice(1) : path.slice(1, end)) ?? 'pages'
  return part === 'mcp' && !isMcpPath(path) ? 'pages' : part
}

/** The start of other paths of the gateway, and the start that they have inside the server. */
const aliases: readonly PathAlias[] = [
  // groq-sdk takes a base URL without a path, and adds this one.
  [/^\/openai\/v1(?=\/|$)/, '/v1'],
  ...ownAliases,
]

/** Maps a request to an alias to the path inside the server. Returns that path, too. */
function resolveAlias(request: Request): { request: Request; path: string } {
  const path = pathOf(request.url)
  const match =
    aliases.find(([start]) => start.test(path)) ?? findClientAlias(request.headers, path)
  if (!match) return { request, path }
  const url = new URL(request.url)
  const [start, prefix] = match
  url.pathname = path.replace(start, prefix)
  return { request: new Request(url.href, request), path: url.pathname }
}

/** The path inside the server of each public base URL. */
const pathsByUrl = [
  ['base', '/api'],
  ['mcp', '/mcp'],
  ['gateway', ''],
] as const

/**
 * Returns the function that maps a request to the public host and path of an API to the path inside
 * the server. Most servers have one host and the default paths, and need no mapping.
 */
function hostMapper(urls: Urls): (request: Request) => Request {
  const mapped = pathsByUrl.flatMap(([name, path]) => {
    const { host, pathname } = new URL(urls[name])
    const publicPath = pathname.replace(/\/$/, '')
    return publicPath === path ? [] : [{ host, publicPath, path }]
  })
  if (mapped.length === 0) return (request) => request
  return (request) => {
    const url = new URL(request.url)
    // Metadata has its path after the host of each API (RFC 8414, 3; RFC 9728, 3).
    if (url.pathname.startsWith('/.well-known/oauth-')) return request
    // A host name can end with the dot of the root zone.
    const host = request.headers.get('host')?.replace(/\.(?=:|$)/, '')
    const match = mapped.find(
      (entry) => entry.host === host && `${url.pathname}/`.startsWith(`${entry.publicPath}/`),
    )
    if (!match) return request
    url.pathname = match.path + url.pathname.slice(match.publicPath.length)
    return new Request(url.href, request)
  }
}

/** The operator signs in and lifts a restriction from every network. */
const isForOperator = (path: string): boolean =>
  /^\/(console|sign-in|sign-out|recover|account|static)(\/|$)/.test(path)

const restrictedPage = (retryAfter: number): Response =>
  new Response('The operator of this server has limited requests from your network.\n', {
    status: 429,
    headers: { 'retry-after': String(retryAfter), 'content-type': 'text/plain; charset=utf-8' },
  })

type Handler = (request: Request, context: RequestContext) => Response | Promise<Response>

/** Returns a function that returns the response for an app, where it is in memory. */
const responsesInMemory =
  (pages: Pages, addresses: ReturnType<typeof fileAddresses>) =>
  (request: Request, context: RequestContext, path: string): Response | undefined =>
    path.startsWith(filesPath)
      ? addresses.fromMemory(request, context)
      : serveFromMemory(pages, request, context, path)

/** Serves files without the routes of the site, which take as long again. */
const withFiles =
  (addresses: ReturnType<typeof fileAddresses>, site: Handler): Handler =>
  (request, context) =>
    context.route === filesRoute
      ? // The site describes a fault.
        addresses.serve(request).catch(() => site(request, context))
      : site(request, context)

/** Creates the handler of all requests. Each part is loaded with its first request. */
export function createRouter(ctx: AppContext, options?: McpOptions) {
  const files = readPublic()
  registerBackgroundWork(ctx, files)
  const { app, apps } = ctx.urls
  const isConfigured = ctx.config.appUrl !== ''
  const embedders = embeddersOf(ctx.config)
  const pageUrls = { app, isConfigured, embedders, ...(apps !== app && { apps }) }
  const pages = new Pages(hostingSource(ctx), pageUrls, ctx.clock, ctx.secret, files)
  const addresses = fileAddresses(pages)
  const fromMemory = responsesInMemory(pages, addresses)
  const hostFor = pageHosts(ctx.urls, isConfigured)

  const agentApi = lazyApp(async () => (await import('../agent-api.ts')).createAgentApi(ctx))
  const gatewayApi = lazyApp(async () => (await import('../gateway-api.ts')).createGateway(ctx))
  const readOpenApi = lazy(async (): Promise<readonly unknown[]> => {
    const { describedAgentApi } = await import('../agent-api.ts')
    const { describedGateway } = await import('../gateway-api.ts')
    const both = [describedAgentApi(ctx), describedGateway(ctx)]
    return Promise.all(both.map(async (entity) => contentOf(await entity).content.json()))
  })
  const site = lazyApp(async () =>
    (await import('./site.ts')).createSite(ctx, { files, pages, readOpenApi }),
  )
  const handlers: Record<TrafficPart | 'health', Handler> = {
    api: agentApiPolicy(ctx, agentApi.fetch),
    gateway: gatewayPolicy(ctx, gatewayApi.fetch),
    mcp: createMcpEndpoint(ctx, pages, options),
    health: (request) => healthResponse(ctx, request, pathOf(request.url)) ?? site.fetch(request),
    apps: withFiles(addresses, site.fetch),
    pages: (request) => inLanguageOf(ctx, request, () => site.fetch(request)),
  }

  const toInternalUrl = hostMapper(ctx.urls)
  const handle: RequestHandler = (outerRequest, socketAddress, connection) => {
    const { request, path } = resolveAlias(toInternalUrl(outerRequest))
    const part = partOf(path)
    return withRequestLog(ctx, { request, socketAddress, part, connection }, (context) => {
      if (part === 'apps' || part === 'pages') {
        if (hostFor(request) === undefined) return wrongHostPage()
        const rejection = isForOperator(path) ? undefined : networkRejection(ctx, context.client)
        if (rejection) return restrictedPage(rejection.retryAfter)
      }
      const known = part === 'apps' && fromMemory(request, context, path)
      if (known) return known
      setRequestContext(request, context)
      const response = runFor(context.client, () => handlers[part](request, context))
      return mayChange(ctx, request.method) && /^(api|pages)$/.test(part)
        ? withAnnouncement(ctx, response)
        : response
    })
  }

  return {
    handle,
    /** Loads both APIs now. */
    load: async () => ({ agentApi: await agentApi.load(), gateway: await gatewayApi.load() }),
  }
}

/** Tells the other servers of a change before the client can ask them for it. */
async function withAnnouncement(
  ctx: AppContext,
  pending: Response | Promise<Response>,
): Promise<Response> {
  const response = await pending
  if (response.status < 400) await ctx.state.appChanges.announce()
  return response
}

interface App {
  fetch(request: Request): Response | Promise<Response>
}

/** Returns an app that loads with its first request. The start waits for no API (docs/bench.md). */
function lazyApp<Part extends App>(create: () => Promise<Part>) {
  let app: Part | undefined
  const load = lazy(async () => (app = await create()))
  return {
    load,
    fetch: (request: Request): Response | Promise<Response> =>
      app ? app.fetch(request) : load().then((loaded) => loaded.fetch(request)),
  }
}

const startingResponse = (): Response => new Response('Starting.', { status: 503 })
const notReady = new ApiError('try_again', {})

/** Answers requests until the server is ready. Each API returns its `try_again` error. */
export const respondStarting: RequestHandler = (outerRequest) => {
  const { path } = resolveAlias(outerRequest)
  const part = partOf(path)
  const id = newOrderedId(systemClock.now())
  const response =
    part === 'api'
      ? hosting.apiErrorResponse(notReady)
      : part === 'gateway'
        ? errorResponse(inOwnEnvelope(path, gateway.errorEnvelope(notReady), id))
        : startingResponse()
  response.headers.set('retry-after', '1')
  if (part === 'gateway') setRequestId(path, response, id)
  return openToAllOrigins(response)
}
