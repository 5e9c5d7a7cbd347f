import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, appErrors, writeErrors } from '../../operation.ts'
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
        const result = await icons.putIcon(ctx, caller, params.id, body, more)
        return status(result.status, result.body)
      },
      {
        body: PutIconSchema,
        ...agentOperation(
          {
            id: 'put_icon',
            tag: 'Apps',
            idempotent: true,
            mcp: 'shown',
            summary: 'Set the icon of your app: your own image, or a generated one.',
            description:
              'Send image, or make: true. The image is cropped to its middle square at 512 pixels ' +
              'and checked. A generated icon is paid from your credits; the first one of an app ' +
              'on Explore is free.',
          },
          { 200: IconSchema },
          [
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
          summary: "Remove the icon of your app. Its tile shows the shelf's glyph.",
        },
        { 200: DeletedIconSchema },
        [...writeErrors, ...appErrors],
      ),
    )
