import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaOperation } from '../operation.ts'
import { createEmbeddings } from './embeddings.ts'
import * as schemas from './schemas.ts'

export const embeddingRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/embeddings',
    ({ spender, body, request }) => createEmbeddings(ctx, spender, body, callOf(request)),
    mediaOperation(
      {
        id: 'create_embeddings',
        summary: 'Create embeddings of texts.',
        description:
          'Charged by input tokens. `usage.cost` and X-Service-Cost have the cost in USD.',
        requestBodies: { 'application/json': { schema: schemas.embeddingsRequestSchema } },
      },
      { 200: schemas.EmbeddingsSchema },
    ),
  )
