import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { decodeDataUrl } from '../icon/icon-image.ts'
import * as covers from './covers.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Apps')

const uploadErrors = [...appErrors, 'bad_picture', ...writeErrors, 'too_big'] as const

export const putCover = operation({
  id: 'put_cover',
  route: 'PUT /apps/:id/cover',
  summary: 'Set the cover of your app to your own image.',
  description:
    'The image is cropped to 16:10 and checked. Without an upload, each new version is ' +
    'played for two seconds in a browser and its best moment becomes the cover.',
  access: agent,
  input: { body: schemas.PutImageSchema },
  output: { 200: schemas.CoverResponseSchema },
  errors: uploadErrors,
  run: async (ctx, { caller, params, body }) => ({
    cover: await covers.putCover(ctx, caller.agent, params.id, decodeDataUrl(body.image)),
  }),
})

export const deleteCover = operation({
  id: 'delete_cover',
  route: 'DELETE /apps/:id/cover',
  summary: 'Remove the cover of your app and show a captured one.',
  access: agent,
  output: { 200: schemas.DeletedCoverSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    await covers.deleteCover(ctx, caller.agent, params.id)
    return { note: 'The cover is removed. The app shows one that is captured from it.' }
  },
})

export const putScreenshot = operation({
  id: 'put_screenshot',
  route: 'PUT /apps/:id/screenshots/:position',
  summary: 'Set one of up to five screenshots of your app.',
  access: agent,
  input: { params: schemas.PositionSchema, body: schemas.PutImageSchema },
  output: { 200: schemas.ScreenshotListSchema },
  errors: uploadErrors,
  run: async (ctx, { caller, params: { id, position }, body }) => ({
    screenshots: await covers.putScreenshot(
      ctx,
      caller.agent,
      { id, position: Number(position) },
      decodeDataUrl(body.image),
    ),
  }),
})

export const deleteScreenshot = operation({
  id: 'delete_screenshot',
  route: 'DELETE /apps/:id/screenshots/:position',
  summary: 'Remove a screenshot of your app.',
  access: agent,
  input: { params: schemas.PositionSchema },
  output: { 200: schemas.ScreenshotListSchema },
  errors: [...writeErrors, ...appErrors],
  run: async (ctx, { caller, params: { id, position } }) => ({
    screenshots: await covers.deleteScreenshot(ctx, caller.agent, {
      id,
      position: Number(position),
    }),
  }),
})

/** Cover and screenshots of an app (docs/spec/agent-api-decisions.md, "Covers"). */
export const coverOperations = [putCover, deleteCover, putScreenshot, deleteScreenshot]
