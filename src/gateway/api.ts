import { Elysia } from 'elysia'

import type { House } from '../house.ts'
import { accountRoutes } from './accounts/routes.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { topupRoutes } from './topups/routes.ts'
import { usageRoutes } from './usage/routes.ts'

/** The gateway's first path segments: never web pages. */
const segments = new Set(
  `v1 chat models images videos audio files embeddings responses accounts credits topup queries`.split(
    ' ',
  ),
)

/** Whether a path belongs to the gateway. */
export const isGateway = (pathname: string): boolean => segments.has(pathname.split('/')[1] ?? '')

/** Every operation of the gateway, by the paths of document 2 without /v1. */
const routes = (house: House) =>
  new Elysia()
    .use(catalogueRoutes(house))
    .use(accountRoutes(house))
    .use(usageRoutes(house))
    .use(fileRoutes(house))
    .use(topupRoutes(house))

/** The gateway (document 2): every operation answers with and without /v1. */
export function gatewayApi(house: House) {
  return new Elysia().group('/v1', (app) => app.use(routes(house))).use(routes(house))
}
