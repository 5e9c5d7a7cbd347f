import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { answer, type Entity } from '../core/entity.ts'
import { accountRoutes } from './accounts/routes.ts'
import { listenerOf } from './audio/listener.ts'
import { audioRoutes } from './audio/routes.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import type { Listener } from './chat/chat.ts'
import { chatRoutes } from './chat/routes.ts'
import { describeGateway } from './description.ts'
import { embeddingRoutes } from './embeddings/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { imageRoutes } from './images/routes.ts'
import { openOperation } from './operation.ts'
import { responseRoutes } from './responses/routes.ts'
import { topupRoutes } from './topups/routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { videoRoutes } from './videos/routes.ts'

/** The OpenAPI 3.1 description. */
const OpenApi = Type.Object({ openapi: Type.String() }, { additionalProperties: true })

/** Every operation of the gateway, by the paths of document 2 without /v1. */
const routes = (ctx: AppContext, listener: Listener) =>
  new Elysia()
    .use(catalogueRoutes(ctx))
    .use(accountRoutes(ctx))
    .use(usageRoutes(ctx))
    .use(chatRoutes(ctx, listener))
    .use(responseRoutes(ctx, listener))
    .use(embeddingRoutes(ctx))
    .use(imageRoutes(ctx))
    .use(videoRoutes(ctx))
    .use(audioRoutes(ctx))
    .use(fileRoutes(ctx))
    .use(topupRoutes(ctx))

/** The gateway (document 2): every operation answers with and without /v1. */
export function gatewayApi(ctx: AppContext) {
  // One for all addresses: a sound that two requests need is heard once.
  const listener = listenerOf(ctx)
  const api = new Elysia({ prefix: '/v1' }).use(routes(ctx, listener))
  let description: Promise<Entity> | undefined
  return new Elysia()
    .use(
      api.get(
        '/openapi.json',
        async ({ request }) => answer(request, await (description ??= describeGateway(ctx, api))),
        openOperation(
          { id: 'get_openapi', tag: 'Models', summary: 'This description (OpenAPI 3.1).' },
          { 200: OpenApi },
        ),
      ),
    )
    .use(routes(ctx, listener))
}
