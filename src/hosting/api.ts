import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import { createApp, type FailedRequest } from '../http/app.ts'
import { pathOf } from '../http/request-context.ts'
import { parameterProblem } from '../http/validation.ts'
import { appealRoutes } from './apps/appeal/routes.ts'
import { assetRoutes } from './apps/assets/routes.ts'
import { coverRoutes } from './apps/covers/routes.ts'
import { iconRoutes } from './apps/icon/routes.ts'
import { remixRoutes } from './apps/remix/routes.ts'
import { appRoutes } from './apps/routes.ts'
import { scanRoutes } from './apps/scan/routes.ts'
import { versionRoutes } from './apps/versions/routes.ts'
import { collectionRoutes } from './collections/routes.ts'
import { errorResponse, internalErrorResponse, unknownOperationResponse } from './error-response.ts'
import { exploreRoutes } from './explore/routes.ts'
import { docsRoutes } from './guide/docs.ts'
import { descriptionRoutes, startRoutes } from './guide/routes.ts'
import { jobRoutes } from './jobs/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { libraryRoutes } from './libraries/routes.ts'
import { earningsRoutes } from './me/earnings/routes.ts'
import { hookRoutes } from './me/hooks/routes.ts'
import { ledgerRoutes } from './me/ledger/routes.ts'
import { noteRoutes } from './me/notes/routes.ts'
import { meRoutes } from './me/routes.ts'
import { packRoutes } from './packs/routes.ts'
import { peopleRoutes } from './people/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import { reviewRoutes } from './reviews/routes.ts'
import { runRoutes } from './runs/routes.ts'
import { topUpRoutes } from './topup/routes.ts'

/** Creates the Agent API (document 1) with its description and its docs. */
export function createAgentApi(ctx: AppContext) {
  const api = new Elysia({ prefix: '/api' })
    .use(startRoutes(ctx))
    .use(keyRoutes(ctx))
    .use(meRoutes(ctx))
    .use(noteRoutes(ctx))
    .use(hookRoutes(ctx))
    .use(ledgerRoutes(ctx))
    .use(earningsRoutes(ctx))
    .use(peopleRoutes(ctx))
    .use(appRoutes(ctx))
    .use(versionRoutes(ctx))
    .use(exploreRoutes(ctx))
    .use(collectionRoutes(ctx))
    .use(packRoutes(ctx, 'skill'))
    .use(packRoutes(ctx, 'framework'))
    .use(libraryRoutes(ctx))
    .use(remixRoutes(ctx))
    .use(reviewRoutes(ctx))
    .use(iconRoutes(ctx))
    .use(coverRoutes(ctx))
    .use(reportRoutes(ctx))
    .use(appealRoutes(ctx))
    .use(scanRoutes(ctx))
    .use(jobRoutes(ctx))
    .use(assetRoutes(ctx))
    .use(topUpRoutes(ctx))
    .use(runRoutes(ctx))
    .use(docsRoutes(ctx))
  return createApp(ctx, respondToError(ctx)).use(api.use(descriptionRoutes(ctx, api)))
}

const respondToError =
  ({ urls }: AppContext) =>
  (failed: FailedRequest): Response => {
    const { request, error, validationError, isUnknownRoute, allowedMethods, internalError } =
      failed
    const { method, url } = request
    if (isUnknownRoute) {
      const known = { allowed: allowedMethods(), baseUrl: urls.base }
      return unknownOperationResponse(method, pathOf(url), known)
    }
    const invalid =
      validationError &&
      new ApiError('bad_request', { problem: parameterProblem(validationError, url) })
    return errorResponse(invalid ?? error, () => internalError(internalErrorResponse))
  }
