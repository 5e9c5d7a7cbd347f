import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { createApp, type FailedRequest } from '../http/app.ts'
import type { Entity } from '../http/entity.ts'
import type { Operation } from '../http/operation.ts'
import { pathOf } from '../http/request-context.ts'
import { routesOf } from '../http/routes.ts'
import { agentApiUrl } from './app-url.ts'
import { appealOperations } from './apps/appeal/operations.ts'
import { assetOperations } from './apps/assets/operations.ts'
import { coverOperations } from './apps/covers/operations.ts'
import { iconOperations } from './apps/icon/operations.ts'
import { appOperations } from './apps/operations.ts'
import { remixOperations } from './apps/remix/operations.ts'
import { scanOperations } from './apps/scan/operations.ts'
import { versionOperations } from './apps/versions/operations.ts'
import { collectionOperations } from './collections/operations.ts'
import { errorResponse, internalErrorResponse, unknownOperationResponse } from './error-response.ts'
import { exploreOperations } from './explore/operations.ts'
import { describeAgentApi } from './guide/description.ts'
import { docsRoutes } from './guide/docs.ts'
import { descriptionOperation, startOperations } from './guide/operations.ts'
import { jobOperations } from './jobs/operations.ts'
import { keyOperations } from './keys/operations.ts'
import { libraryOperations } from './libraries/operations.ts'
import { earningsOperations } from './me/earnings/operations.ts'
import { hookOperations } from './me/hooks/operations.ts'
import { ledgerOperations } from './me/ledger/operations.ts'
import { noteOperations } from './me/notes/operations.ts'
import { meOperations } from './me/operations.ts'
import { packOperations } from './packs/operations.ts'
import { peopleOperations } from './people/operations.ts'
import { reportOperations } from './reports/operations.ts'
import { reviewOperations } from './reviews/operations.ts'
import { runOperations } from './runs/operations.ts'
import { topUpOperations } from './topup/operations.ts'

/** The operations of the Agent API (document 1), in the order of its description. */
export const agentOperations: readonly Operation[] = [
  ...startOperations,
  ...keyOperations,
  ...meOperations,
  ...noteOperations,
  ...hookOperations,
  ...ledgerOperations,
  ...earningsOperations,
  ...peopleOperations,
  ...appOperations,
  ...versionOperations,
  ...exploreOperations,
  ...collectionOperations,
  ...packOperations,
  ...libraryOperations,
  ...remixOperations,
  ...reviewOperations,
  ...iconOperations,
  ...coverOperations,
  ...reportOperations,
  ...appealOperations,
  ...scanOperations,
  ...jobOperations,
  ...assetOperations,
  ...topUpOperations,
  ...runOperations,
  descriptionOperation((ctx) => describedAgentApi(ctx)),
]

/** Returns the description of the Agent API. */
export const describedAgentApi = (ctx: AppContext): Promise<Entity> =>
  describeAgentApi(ctx, agentOperations)

/** Creates the Agent API. */
export const createAgentApi = (ctx: AppContext) =>
  createApp(ctx, respondToError(ctx)).use(
    new Elysia({ prefix: '/api' })
      .use(routesOf(ctx, agentOperations, (path) => agentApiUrl(ctx, path)))
      .use(docsRoutes(ctx)),
  )

const respondToError =
  ({ urls }: AppContext) =>
  (failed: FailedRequest): Response => {
    const { request, error, isUnknownRoute, allowedMethods, internalError } = failed
    const { method, url } = request
    if (isUnknownRoute) {
      const known = { allowed: allowedMethods(), baseUrl: urls.base }
      return unknownOperationResponse(method, pathOf(url), known)
    }
    return errorResponse(error, () => internalError(internalErrorResponse))
  }
