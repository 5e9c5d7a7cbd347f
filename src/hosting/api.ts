import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { appRoutes } from './apps/routes.ts'
import { assetRoutes } from './assets/routes.ts'
import { buildRoutes } from './builds/routes.ts'
import { exploreRoutes } from './explore/routes.ts'
import { iconRoutes } from './icons/routes.ts'
import { jobRoutes } from './jobs/routes.ts'
import { earningsRoutes } from './me/earnings-routes.ts'
import { hookRoutes } from './me/hook-routes.ts'
import { noteRoutes } from './me/note-routes.ts'
import { meRoutes } from './me/routes.ts'
import { moderationRoutes } from './moderation/routes.ts'
import { peopleRoutes } from './people/routes.ts'
import { reviewRoutes } from './reviews/routes.ts'
import { docs, type PublicFiles } from './start/docs.ts'
import { descriptionRoutes, startRoutes } from './start/routes.ts'
import { versionRoutes } from './versions/routes.ts'

/** The Agent API (document 1), mounted at /api, with the description and the docs of all of it. */
export function agentApi(ctx: AppContext, files: PublicFiles) {
  const api = new Elysia({ prefix: '/api' })
    .use(startRoutes(ctx))
    .use(meRoutes(ctx))
    .use(noteRoutes(ctx))
    .use(hookRoutes(ctx))
    .use(earningsRoutes(ctx))
    .use(peopleRoutes(ctx))
    .use(buildRoutes(ctx))
    .use(appRoutes(ctx))
    .use(versionRoutes(ctx))
    .use(exploreRoutes(ctx))
    .use(reviewRoutes(ctx))
    .use(iconRoutes(ctx))
    .use(moderationRoutes(ctx))
    .use(jobRoutes(ctx))
    .use(assetRoutes(ctx))
    .use(docs(ctx, files))
  return api.use(descriptionRoutes(ctx, api))
}
