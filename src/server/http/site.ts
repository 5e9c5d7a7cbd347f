import { Elysia } from 'elysia'

import { aiRoutes } from '../../apps/ai/routes.ts'
import { resourceMetadata, serverMetadata } from '../../apps/connectors/metadata.ts'
import { packSite } from '../../apps/packs/site-routes.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import { viewerRoutes } from '../../apps/viewer/routes.ts'
import { unknownOperation } from '../../gateway/error-response.ts'
import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { prefers } from '../../kernel/http/accept.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import { checkPath } from '../../kernel/http/path.ts'
import { pathOf } from '../../kernel/http/request-context.ts'
import { errorResponse } from '../../kernel/http/response.ts'
import type { PublicFile } from '../../kernel/public-files.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { queryOf } from '../../site/components.ts'
import type { ReadOpenApi } from '../../site/docs/api-operations.ts'
import { errorPage, internalErrorPage, sendErrorPage, unknownPage } from '../../site/error-pages.ts'
import { guideFiles } from '../../site/guide/routes.ts'
import { createLayout } from '../../site/layout.ts'
import { privateRoutes, publicRoutes } from '../../site/routes.ts'
import { consoleRoutes } from '../console/routes.ts'
import { metricsRoute } from '../operator/metrics.ts'
import { createApp } from './routes.ts'

interface SiteParts {
  files: ReadonlyMap<string, PublicFile>
  pages: Pages
  readOpenApi: ReadOpenApi
}

/** Creates the site: hosted pages, web pages, guides for agents and metrics. */
export function createSite(ctx: AppContext, { files, pages, readOpenApi }: SiteParts) {
  const layout = createLayout(files, ctx)
  return createApp(
    ctx,
    async ({ request, error, isUnknownRoute, allowedMethods, internalError }) => {
      const allowed = isUnknownRoute ? allowedMethods() : []
      if (request.method === 'OPTIONS' && allowed.length > 0) return optionsResponse(allowed)
      if (isUnknownRoute && isProgram(request)) return wrongBaseUrl(request, ctx.urls, allowed)
      const input = { ctx, layout, request, query: queryOf(request) }
      const page = isUnknownRoute
        ? unknownPage(request.method, allowed)
        : await errorPage(input, error)
      return sendErrorPage(input, page ?? internalError(internalErrorPage))
    },
  )
    .onTransform({ as: 'global' }, ({ params }) => checkPath(params))
    .use(metricsRoute(ctx))
    .use(guideFiles(ctx, readOpenApi))
    .use(metadataRoutes(ctx))
    .use(packSite(ctx))
    .use(viewerRoutes(pages))
    .use(aiRoutes(ctx))
    .use(publicRoutes(ctx, layout, readOpenApi))
    .use(privateRoutes(ctx, layout))
    .use(consoleRoutes(ctx, layout))
}

const optionsResponse = (allowed: string[]): Response =>
  new Response(null, { status: 204, headers: { allow: ['OPTIONS', ...allowed].join(', ') } })

/** Returns whether the client is an API client. Browsers accept HTML with every request. */
const isProgram = (request: Request): boolean =>
  ['GET', 'HEAD'].includes(request.method)
    ? prefers(request, 'application/json', 'text/html')
    : !prefers(request, 'text/html', 'application/json')

/** API clients with a wrong base URL show the message of the error to their users. */
function wrongBaseUrl(
  { method, url }: Request,
  { gateway, base }: Urls,
  allowed: readonly string[],
): Response {
  const instead = `The base URL of models is ${gateway}/v1, that of the Agent API ${base}.`
  const response = errorResponse(unknownOperation(method, pathOf(url), allowed, instead))
  response.headers.set('cache-control', 'no-store')
  return response
}

/** Clients of every origin read the metadata, which names the host that they requested. */
const json = (value: unknown): Response =>
  Response.json(value, { headers: { 'access-control-allow-origin': '*', vary: 'host' } })

/** The metadata by which programs find the sign-in (RFC 8414, RFC 9728). */
const metadataRoutes = (ctx: AppContext) => {
  const readResource = ({ request }: { request: Request }): Response => {
    const metadata = resourceMetadata(urlsFor(ctx, request.headers), pathOf(request.url))
    if (metadata) return json(metadata)
    throw new ApiError('not_found', { what: 'resource' })
  }
  return new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get('/.well-known/oauth-authorization-server', ({ request }) =>
      json(serverMetadata(urlsFor(ctx, request.headers))),
    )
    .get('/.well-known/oauth-protected-resource', readResource)
    .get('/.well-known/oauth-protected-resource/*', readResource)
}
