import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { keyOperation } from '../operation.ts'
import { mediaErrors } from '../paid/media.ts'
import { createModeration } from './moderations.ts'
import * as schemas from './schemas.ts'

export const moderationRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/moderations',
    ({ spender, body, request }) => createModeration(ctx, spender, body, callOf(request)),
    keyOperation(
      {
        id: 'create_moderation',
        tag: 'Media',
        idempotent: true,
        limits: ['holds_limit'],
        summary: 'Judge texts and images by the categories of a moderation model.',
        description: 'Charged by input tokens, where the model is not free.',
        requestBodies: { 'application/json': { schema: schemas.moderationRequestSchema } },
      },
      { 200: Type.Unsafe<Response>(schemas.ModerationSchema) },
      mediaErrors,
    ),
  )
