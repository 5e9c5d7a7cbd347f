import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaOperation } from '../operation.ts'
import { rerank } from './rerank.ts'
import * as schemas from './schemas.ts'

export const rerankRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/rerank',
    ({ spender, body, request }) => rerank(ctx, spender, body, callOf(request)),
    mediaOperation(
      {
        id: 'rerank',
        summary: 'Sort documents by their relevance for a query.',
        description: 'Charged by search units or by input tokens, as the price of the model says.',
        requestBodies: { 'application/json': { schema: schemas.rerankRequestSchema } },
      },
      { 200: schemas.RerankSchema },
    ),
  )
