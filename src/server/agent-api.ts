import { Elysia } from 'elysia'

import { agentApiUrl } from '../apps/app-url.ts'
import { appealOperations } from '../apps/appeal/operations.ts'
import { assetOperations } from '../apps/assets/operations.ts'
import { collectionOperations } from '../apps/collections/operations.ts'
import { coverOperations } from '../apps/covers/operations.ts'
import { exploreOperations } from '../apps/explore/operations.ts'
import { iconOperations } from '../apps/icon/operations.ts'
import { jobOperations } from '../apps/jobs/operations.ts'
import { libraryOperations } from '../apps/libraries/operations.ts'
import { earningsOperations } from '../apps/me/earnings/operations.ts'
import { hookOperations } from '../apps/me/hooks/operations.ts'
import { keyOperations } from '../apps/me/key-operations.ts'
import { ledgerOperations } from '../apps/me/ledger/operations.ts'
import { noteOperations } from '../apps/me/notes/operations.ts'
import { meOperations } from '../apps/me/operations.ts'
import { reportOperations } from '../apps/moderation/operations.ts'
import { appOperations } from '../apps/operations.ts'
import { peopleOperations } from '../apps/owners/operations.ts'
import { walletOperations } from '../apps/owners/wallet-operations.ts'
import { packOperations } from '../apps/packs/operations.ts'
import { remixOperations } from '../apps/remix/operations.ts'
import { reviewOperations } from '../apps/reviews/operations.ts'
import { runOperations } from '../apps/runs/operations.ts'
import { scanOperations } from '../apps/scans/operations.ts'
import { versionOperations } from '../apps/versions/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Entity } from '../kernel/http/entity.ts'
import type { Operation } from '../kernel/http/operation.ts'
import { pathOf } from '../kernel/http/request-context.ts'
import {
  errorResponse,
  internalErrorResponse,
  unknownOperationResponse,
} from '../people/error-response.ts'
import { accountOperations } from '../people/operations.ts'
import { topUpOperations } from '../people/topup/operations.ts'
import { docsRoutes } from '../site/guide/docs.ts'
import { descriptionOperation, startOperations } from '../site/guide/operations.ts'
import { describeAgentApi } from './agent-description.ts'
import { createApp, type FailedRequest } from './http/app.ts'
import { routesOf } from './http/routes.ts'
import { accountKeyOperations } from './operator/key-operations.ts'
import { operatorOperations } from './operator/operations.ts'

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
  ...walletOperations,
  ...accountOperations,
  ...operatorOperations,
  ...accountKeyOperations,
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
