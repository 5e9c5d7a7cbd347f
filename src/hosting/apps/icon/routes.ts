import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, appErrors, idempotencyErrors, writeErrors } from '../../operation.ts'
import * as icons from './icon.ts'
import { DeletedIconSchema, IconSchema, PutIconSchema } from './schemas.ts'

/** Icon of an app (document 1, operations 13 and 14). */
export const iconRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .put(
      '/apps/:id/icon',
      async ({ caller, params, body, request, status }) => {
        const more = { signal: request.signal, ref: idempotencyKeyOf(request) }
        const answer = await icons.putIcon(ctx, caller, params.id, body, more)
        return status(answer.status, answer.body)
      },
      {
        body: PutIconSchema,
        ...agentOperation(
          {
            id: 'put_icon',
            tag: 'Apps',
            mcp: 'shown',
            summary: 'Give your app its picture: your own, or one that is made.',
            more:
              'Send image, or make: true. It is cropped to its middle square at 512 pixels and ' +
              'looked at before it shows. A made one is paid from your credits; the first of ' +
              'something on Explore is free.',
          },
          { 200: IconSchema },
          [
            ...idempotencyErrors,
            ...appErrors,
            'not_enough_credits',
            'daily_cap',
            'paused',
            'bad_picture',
            'no_picture',
            'no_icon_model',
            ...writeErrors,
            'too_big',
          ],
        ),
      },
    )
    .delete(
      '/apps/:id/icon',
      async ({ caller, params }) => {
        await icons.deleteIcon(ctx, caller, params.id)
        return { icon: null }
      },
      agentOperation(
        {
          id: 'delete_icon',
          tag: 'Apps',
          mcp: 'shown',
          summary: "Take your app's picture off: it wears its shelf's glyph again.",
        },
        { 200: DeletedIconSchema },
        [...writeErrors, ...appErrors],
      ),
    )
