import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { taking } from '../../../core/taking.ts'
import { refOf } from '../../../idempotency/idempotency.ts'
import { withKey } from '../../key.ts'
import { ofApp, ofRef, ofWriting, operation } from '../../operation.ts'
import * as icons from './icon.ts'
import { Icon, NewIcon, NoIcon } from './schemas.ts'

/** An item's picture (document 1, operations 13 and 14). */
export const iconRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .put(
      '/apps/:id/icon',
      async ({ caller, params, body, request, status }) => {
        const more = { signal: request.signal, ref: refOf(request) }
        const answer = await icons.put(ctx, caller, params.id, body, more)
        return status(answer.status, answer.body)
      },
      {
        ...taking(NewIcon),
        ...operation(
          {
            id: 'put_icon',
            tag: 'Apps',
            summary: 'Give your app its picture: your own, or one that is made.',
            more:
              'Send image, or make: true. It is cropped to its middle square at 512 pixels and ' +
              'looked at before it shows. A made one is paid from your credits; the first of ' +
              'something on Explore is free.',
          },
          { 200: Icon },
          [
            ...ofRef,
            ...ofApp,
            'not_enough_credits',
            'daily_cap',
            'paused',
            'bad_picture',
            'no_picture',
            'no_icon_painter',
            ...ofWriting,
            'too_big',
          ],
        ),
      },
    )
    .delete(
      '/apps/:id/icon',
      async ({ caller, params }) => {
        await icons.remove(ctx, caller, params.id)
        return { icon: null }
      },
      operation(
        {
          id: 'delete_icon',
          tag: 'Apps',
          summary: "Take your app's picture off: it wears its shelf's glyph again.",
        },
        { 200: NoIcon },
        [...ofWriting, ...ofApp],
      ),
    )
