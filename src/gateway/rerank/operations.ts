import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaErrors, operation } from '../operation.ts'
import * as reranking from './rerank.ts'
import * as schemas from './schemas.ts'

const rerank = operation({
  id: 'rerank',
  route: 'POST /rerank',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Sort documents by their relevance for a query.',
  description: 'Charged by search units or by input tokens, as the price of the model says.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.rerankRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(schemas.RerankSchema) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    reranking.rerank(ctx, spender, body, callOf(call)),
})

export const rerankOperations = [rerank]
