import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { callerAuth } from '../../authentication.ts'
import {
  agentOperation,
  appErrors,
  priceErrors,
  publishErrors,
  writeErrors,
} from '../../operation.ts'
import { remix } from './remix.ts'
import { RemixResponseSchema, RemixSchema } from './schemas.ts'

/** Remixes of listed apps (document 1, operation 12). */
export const remixRoutes = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/apps/:id/remix',
    async ({ caller, params, body, request, status }) => {
      const ref = idempotencyKeyOf(request, body?.ref)
      return status(201, await remix(ctx, caller, params.id, { ...body, ...(ref && { ref }) }))
    },
    {
      body: Type.Optional(RemixSchema),
      ...agentOperation(
        {
          id: 'remix_app',
          tag: 'Apps',
          idempotent: true,
          limits: ['publishes_limit'],
          mcp: 'shown',
          summary: 'Copy an app or game from Explore into your studio.',
          description:
            'You can change the copy, its html and its files; its maker is credited. A remix is ' +
            'free unless the maker set a price. A price is paid from your credits, 80 % of it to ' +
            'the maker. The same ref never buys twice.',
        },
        { 201: RemixResponseSchema },
        [
          ...writeErrors,
          'games_off',
          ...priceErrors,
          ...appErrors,
          ...publishErrors,
          'no_remix',
          'skill_name_taken',
        ],
      ),
    },
  )
