import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { callOf } from '../call.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { paidRefusals } from '../paid/pay.ts'
import { embed } from './embeddings.ts'
import * as schemas from './schemas.ts'

/** Embeddings, as OpenAI's clients ask for them. */
export const embeddingRoutes = (ctx: AppContext) =>
  new Elysia().use(withKey(ctx)).post(
    '/embeddings',
    ({ spender, body, request }) => embed(ctx, spender, body, callOf(request)),
    operation(
      {
        id: 'create_embeddings',
        tag: 'Media',
        summary: 'Turn texts into vectors.',
        more: 'Paid by the input tokens: usage.cost and X-Service-Cost tell it, in USD.',
        takes: { 'application/json': { schema: schemas.embeddingWanted } },
      },
      { 200: Type.Unsafe<Response>(schemas.Embeddings) },
      paidRefusals,
    ),
  )
