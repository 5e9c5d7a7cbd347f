import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaErrors, operation } from '../operation.ts'
import * as moderations from './moderations.ts'
import * as schemas from './schemas.ts'

const createModeration = operation({
  id: 'create_moderation',
  route: 'POST /moderations',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Judge texts and images by the categories of a moderation model.',
  description: 'Charged by input tokens, where the model is not free.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.moderationRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(schemas.ModerationSchema) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    moderations.createModeration(ctx, spender, body, callOf(call)),
})

export const moderationOperations = [createModeration]
