import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { lazy } from '../core/lazy.ts'
import { NotModifiedSchema } from '../core/schema.ts'
import { ApiError } from '../errors.ts'
import { createApp, type FailedRequest } from '../http/app.ts'
import { entityResponse } from '../http/entity.ts'
import type { RoutedApi } from '../http/operation.ts'
import { getRequestContext, pathOf } from '../http/request-context.ts'
import { validationProblem } from '../http/validation.ts'
import { projectRoutes } from './accounts/project-routes.ts'
import { accountRoutes } from './accounts/routes.ts'
import { audioRoutes } from './audio/routes.ts'
import { keyAuth } from './authentication.ts'
import { batchRoutes } from './batches/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import { chatRoutes } from './chat/routes.ts'
import { cohereRoutes } from './cohere/routes.ts'
import { completionRoutes } from './completions/routes.ts'
import { describeGateway } from './description.ts'
import { embeddingRoutes } from './embeddings/routes.ts'
import {
  errorResponse,
  internalErrorResponse,
  noUpgradeResponse,
  unknownOperationResponse,
} from './error-response.ts'
import { fileRoutes } from './files/routes.ts'
import { geminiPrefix } from './gemini/error-response.ts'
import { geminiRoutes } from './gemini/routes.ts'
import { imageRoutes } from './images/routes.ts'
import { messageRoutes } from './messages-api/routes.ts'
import { moderationRoutes } from './moderations/routes.ts'
import { publicPathOf } from './openrouter/error-response.ts'
import { openRouterRoutes } from './openrouter/routes.ts'
import { publicOperation } from './operation.ts'
import { realtimeRoutes } from './realtime/routes.ts'
import { rerankRoutes } from './rerank/routes.ts'
import { responseRoutes } from './responses/routes.ts'
import { topupRoutes } from './topups/routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { videoRoutes } from './videos/routes.ts'

const OpenApiSchema = Type.Object({ openapi: Type.String() }, { additionalProperties: true })

/** Every operation of the gateway, by the paths of document 2 without /v1. */
const routes = (ctx: AppContext) =>
  new Elysia()
    .use(catalogRoutes(ctx))
    .use(accountRoutes(ctx))
    .use(projectRoutes(ctx))
    .use(usageRoutes(ctx))
    .use(chatRoutes(ctx))
    .use(completionRoutes(ctx))
    .use(responseRoutes(ctx))
    .use(messageRoutes(ctx))
    .use(embeddingRoutes(ctx))
    .use(moderationRoutes(ctx))
    .use(rerankRoutes(ctx))
    .use(realtimeRoutes(ctx))
    .use(imageRoutes(ctx))
    .use(videoRoutes(ctx))
    .use(audioRoutes(ctx))
    .use(fileRoutes(ctx))
    .use(batchRoutes(ctx))
    .use(topupRoutes(ctx))

/** Creates the gateway (document 2). Every operation has a path with `/v1` and one without. */
export function createGateway(ctx: AppContext) {
  const api = new Elysia({ prefix: '/v1' }).use(routes(ctx))
  return createApp(ctx, respondToError)
    .use(api.use(descriptionRoute(ctx, api)))
    .use(routes(ctx))
    .use(openRouterRoutes(ctx))
    .use(geminiRoutes(ctx))
    .use(cohereRoutes(ctx))
}

function descriptionRoute(ctx: AppContext, api: RoutedApi) {
  const description = lazy(() => describeGateway(ctx, api))
  return new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/openapi.json',
      async ({ request }) => entityResponse(request, await description()),
      publicOperation(
        { id: 'get_openapi', tag: 'Models', summary: 'This description (OpenAPI 3.1).' },
        { 200: OpenApiSchema, 304: NotModifiedSchema },
      ),
    )
}

/** Gemini's route of POST has any path, but only those of its methods, with a colon, exist. */
const hasMethod = (path: string, method: string): boolean =>
  method !== 'POST' || !path.startsWith(`${geminiPrefix}/`) || path.includes(':')

function respondToError(failed: FailedRequest): Response {
  const { request, error, validationError, isUnknownRoute, internalError } = failed
  if (isUnknownRoute) {
    const innerPath = pathOf(request.url)
    const path = publicPathOf(innerPath)
    const allowed = failed.allowedMethods().filter((one) => hasMethod(innerPath, one))
    getRequestContext(request).unknownPath = path
    return request.headers.has('upgrade')
      ? noUpgradeResponse(path)
      : unknownOperationResponse(request.method, path, allowed)
  }
  const invalid =
    validationError && new ApiError('bad_request', validationProblem(validationError.valueError))
  return errorResponse(invalid ?? error, () =>
    internalError((requestId) => internalErrorResponse(requestId, error)),
  )
}
