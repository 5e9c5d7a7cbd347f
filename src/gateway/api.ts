import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { NotModifiedSchema } from '../core/schema.ts'
import { createApp, type FailedRequest } from '../http/app.ts'
import type { Entity } from '../http/entity.ts'
import type { Operation } from '../http/operation.ts'
import { Revalidated } from '../http/outcome.ts'
import { getRequestContext, pathOf } from '../http/request-context.ts'
import { routesOf, serveOperation } from '../http/routes.ts'
import { accountOperations } from './accounts/operations.ts'
import { projectOperations } from './accounts/project-operations.ts'
import { audioOperations } from './audio/operations.ts'
import { anyone } from './authentication.ts'
import { batchOperations } from './batches/operations.ts'
import { catalogOperations, getModel } from './catalog/operations.ts'
import { chatOperations } from './chat/operations.ts'
import { coherePrefix } from './cohere/error-response.ts'
import { cohereOperations } from './cohere/operations.ts'
import { completionOperations } from './completions/operations.ts'
import { describeGateway } from './description.ts'
import { embeddingOperations } from './embeddings/operations.ts'
import {
  errorResponse,
  internalErrorResponse,
  noUpgradeResponse,
  unknownOperationResponse,
} from './error-response.ts'
import { fileOperations } from './files/operations.ts'
import { geminiPrefix } from './gemini/error-response.ts'
import { geminiOperations } from './gemini/operations.ts'
import { imageOperations } from './images/operations.ts'
import { messageOperations } from './messages-api/operations.ts'
import { moderationOperations } from './moderations/operations.ts'
import { openRouterPrefix, publicPathOf } from './openrouter/error-response.ts'
import { openRouterOperations } from './openrouter/operations.ts'
import { operation } from './operation.ts'
import { realtimeOperations } from './realtime/operations.ts'
import { rerankOperations } from './rerank/operations.ts'
import { responseOperations } from './responses/operations.ts'
import { topupOperations } from './topups/operations.ts'
import { usageOperations } from './usage/operations.ts'
import { videoOperations } from './videos/operations.ts'

const OpenApiSchema = Type.Object({ openapi: Type.String() }, { additionalProperties: true })

const getOpenApi: Operation = operation({
  id: 'get_openapi',
  route: 'GET /openapi.json',
  tag: 'Models',
  summary: 'This description (OpenAPI 3.1).',
  access: anyone,
  output: { 200: OpenApiSchema, 304: NotModifiedSchema },
  run: async (ctx) => new Revalidated(await describedGateway(ctx)),
})

/** The operations of the gateway (document 2), by its paths without /v1. */
export const gatewayOperations: readonly Operation[] = [
  ...catalogOperations,
  ...accountOperations,
  ...projectOperations,
  ...usageOperations,
  ...chatOperations,
  ...completionOperations,
  ...responseOperations,
  ...messageOperations,
  ...embeddingOperations,
  ...moderationOperations,
  ...rerankOperations,
  ...realtimeOperations,
  ...imageOperations,
  ...videoOperations,
  ...audioOperations,
  ...fileOperations,
  ...batchOperations,
  ...topupOperations,
  getOpenApi,
]

/** The APIs of others that the gateway has, by the start of their paths. */
export const foreignOperations: Readonly<Record<string, readonly Operation[]>> = {
  [openRouterPrefix]: openRouterOperations,
  [geminiPrefix]: geminiOperations,
  [coherePrefix]: cohereOperations,
}

/** Returns the description of the gateway. */
export const describedGateway = (ctx: AppContext): Promise<Entity> =>
  describeGateway(ctx, gatewayOperations)

/** Creates the gateway (document 2). Every operation has a path with `/v1` and one without. */
export function createGateway(ctx: AppContext) {
  const urlOf = (path: string): string => ctx.urls.gateway + publicPathOf(path)
  const groups = { '/v1': gatewayOperations, '': gatewayOperations, ...foreignOperations }
  const app = createApp(ctx, respondToError)
  for (const [prefix, operations] of Object.entries(groups)) {
    const own = prefix === '' ? operations.filter((one) => one !== getOpenApi) : operations
    app.use(new Elysia({ prefix }).use(routesOf(ctx, own, urlOf)))
    if (operations === gatewayOperations) app.use(new Elysia({ prefix }).use(modelById(ctx, urlOf)))
  }
  return app
}

/** Ids contain a slash, which some clients do not encode as %2F. */
const modelById = (ctx: AppContext, urlOf: (path: string) => string) =>
  new Elysia().get('/models/*', ({ request, params }) =>
    serveOperation(ctx, getModel, urlOf, { request, params: { id: params['*'] }, query: {} }),
  )

/** Gemini's route of POST has any path, but only those of its methods, with a colon, exist. */
const hasMethod = (path: string, method: string): boolean =>
  method !== 'POST' || !path.startsWith(`${geminiPrefix}/`) || path.includes(':')

function respondToError(failed: FailedRequest): Response {
  const { request, error, isUnknownRoute, internalError } = failed
  if (isUnknownRoute) {
    const innerPath = pathOf(request.url)
    const path = publicPathOf(innerPath)
    const allowed = failed.allowedMethods().filter((one) => hasMethod(innerPath, one))
    getRequestContext(request).unknownPath = path
    return request.headers.has('upgrade')
      ? noUpgradeResponse(path)
      : unknownOperationResponse(request.method, path, allowed)
  }
  return errorResponse(error, () =>
    internalError((requestId) => internalErrorResponse(requestId, error)),
  )
}
