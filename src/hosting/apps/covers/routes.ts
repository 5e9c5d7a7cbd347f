import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, appErrors, writeErrors } from '../../operation.ts'
import { decodeDataUrl } from '../icon/icon-image.ts'
import * as covers from './covers.ts'
import * as schemas from './schemas.ts'
import * as screenshots from './screenshots.ts'

const uploadErrors = [...appErrors, 'bad_picture', ...writeErrors, 'too_big'] as const

/** Cover and screenshots of an app (docs/spec/agent-api-decisions.md, "Covers"). */
export const coverRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .put(
      '/apps/:id/cover',
      async ({ caller, params, body }) => ({
        cover: await covers.putCover(ctx, caller.agent, params.id, decodeDataUrl(body.image)),
      }),
      {
        body: schemas.PutCoverSchema,
        ...agentOperation(
          {
            id: 'put_cover',
            tag: 'Apps',
            mcp: 'shown',
            summary: 'Set the cover of your app to your own image.',
            description:
              'The image is cropped to 16:10 and checked. Without an upload, each new version is ' +
              'played for two seconds in a browser and its best moment becomes the cover.',
          },
          { 200: schemas.CoverResponseSchema },
          uploadErrors,
        ),
      },
    )
    .delete(
      '/apps/:id/cover',
      async ({ caller, params }) => {
        await covers.deleteCover(ctx, caller.agent, params.id)
        return { note: 'The cover is removed. The app shows one that is captured from it.' }
      },
      agentOperation(
        {
          id: 'delete_cover',
          tag: 'Apps',
          summary: 'Remove the cover of your app and show a captured one.',
        },
        { 200: schemas.DeletedCoverSchema },
        [...writeErrors, ...appErrors],
      ),
    )
    .put(
      '/apps/:id/screenshots/:position',
      async ({ caller, params: { id, position }, body }) => ({
        screenshots: await screenshots.putScreenshot(
          ctx,
          caller.agent,
          { id, position: Number(position) },
          decodeDataUrl(body.image),
        ),
      }),
      {
        params: schemas.PositionSchema,
        body: schemas.PutCoverSchema,
        ...agentOperation(
          {
            id: 'put_screenshot',
            tag: 'Apps',
            summary: 'Set one of up to five screenshots of your app.',
          },
          { 200: schemas.ScreenshotListSchema },
          uploadErrors,
        ),
      },
    )
    .delete(
      '/apps/:id/screenshots/:position',
      async ({ caller, params: { id, position } }) => ({
        screenshots: await screenshots.deleteScreenshot(ctx, caller.agent, {
          id,
          position: Number(position),
        }),
      }),
      {
        params: schemas.PositionSchema,
        ...agentOperation(
          { id: 'delete_screenshot', tag: 'Apps', summary: 'Remove a screenshot of your app.' },
          { 200: schemas.ScreenshotListSchema },
          [...writeErrors, ...appErrors],
        ),
      },
    )
