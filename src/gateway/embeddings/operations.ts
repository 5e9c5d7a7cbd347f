import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaErrors, operation } from '../operation.ts'
import * as embeddings from './embeddings.ts'
import * as schemas from './schemas.ts'

const createEmbeddings = operation({
  id: 'create_embeddings',
  route: 'POST /embeddings',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Create embeddings of texts.',
  description: 'Charged by input tokens. `usage.cost` and X-Service-Cost have the cost in USD.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.embeddingsRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(schemas.EmbeddingsSchema) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    embeddings.createEmbeddings(ctx, spender, body, callOf(call)),
})

export const embeddingOperations = [createEmbeddings]
