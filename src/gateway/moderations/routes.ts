import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaOperation } from '../operation.ts'
import { createModeration } from './moderations.ts'
import * as schemas from './schemas.ts'

export const moderationRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/moderations',
    ({ spender, body, request }) => createModeration(ctx, spender, body, callOf(request)),
    mediaOperation(
      {
        id: 'create_moderation',
        summary: 'Judge texts and images by the categories of a moderation model.',
        description: 'Charged by input tokens, where the model is not free.',
        requestBodies: { 'application/json': { schema: schemas.moderationRequestSchema } },
      },
      { 200: schemas.ModerationSchema },
    ),
  )
