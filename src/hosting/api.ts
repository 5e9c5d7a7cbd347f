import { Elysia } from 'elysia'

import type { House } from '../house.ts'
import { appRoutes } from './apps/routes.ts'
import { assetRoutes } from './assets/routes.ts'
import { meRoutes } from './me/routes.ts'
import { startRoutes } from './start/routes.ts'
import { versionRoutes } from './versions/routes.ts'

/** The Agent API (document 1), mounted at /api. `describe` answers its OpenAPI description. */
export const agentApi = (house: House, describe: () => Promise<unknown>) =>
  new Elysia({ prefix: '/api' })
    .use(startRoutes(house, describe))
    .use(meRoutes(house))
    .use(appRoutes(house))
    .use(versionRoutes(house))
    .use(assetRoutes(house))
