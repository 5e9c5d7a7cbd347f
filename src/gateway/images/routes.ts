import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { mediaSchema, RangeNotSatisfiableSchema } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { mediaOperation, publicOperation } from '../operation.ts'
import { changeImages } from './edits.ts'
import { generateImages } from './images.ts'
import * as schemas from './schemas.ts'

const ImageSchema = mediaSchema('image/*')
const imagesOrEvents = Type.Union([
  schemas.ImagesSchema,
  mediaSchema('text/event-stream', { description: 'With `stream`: an event for each image.' }),
])

/** Routes of images (document 2, POST /v1/images/generations) and of their signed URLs. */
export const imageRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/images/generations',
      ({ spender, body, request }) => generateImages(ctx, spender, body, callOf(request)),
      mediaOperation(
        {
          id: 'create_images',
          summary: 'Generate images from a prompt.',
          description: 'Charged per returned image; cost is in USD. URLs are valid for 24 hours.',
          requestBodies: { 'application/json': { schema: schemas.imagesRequestSchema } },
        },
        { 200: imagesOrEvents },
      ),
    )
    .post(
      '/images/edits',
      ({ spender, request }) =>
        changeImages(ctx, spender, '/images/edits', request, callOf(request)),
      mediaOperation(
        {
          id: 'edit_images',
          input: 'handler',
          summary: 'Edit images by a prompt.',
          description: 'Charged like generated images. The images have at most 32 MB together.',
          requestBodies: { 'multipart/form-data': { schema: schemas.editRequestSchema } },
        },
        { 200: imagesOrEvents },
      ),
    )
    .post(
      '/images/variations',
      ({ spender, request }) =>
        changeImages(ctx, spender, '/images/variations', request, callOf(request)),
      mediaOperation(
        {
          id: 'vary_image',
          input: 'handler',
          summary: 'Create variations of an image.',
          description: 'Charged like generated images.',
          requestBodies: { 'multipart/form-data': { schema: schemas.variationRequestSchema } },
        },
        { 200: imagesOrEvents },
      ),
    )
    .get(
      '/images/:id',
      async ({ params, query }) => {
        const image = await mediaFiles.findSigned(ctx, params.id, query)
        if (image) return mediaFiles.toResponse(image)
        throw new ApiError('not_found', {
          what: 'image',
          see: 'Its URL is valid for 24 hours. Create the image again.',
        })
      },
      {
        query: schemas.SignedUrlQuerySchema,
        ...publicOperation(
          { id: 'get_image', tag: 'Media', summary: 'Get an image by its signed URL.' },
          { 200: ImageSchema, 206: ImageSchema, 416: RangeNotSatisfiableSchema },
          ['not_found'],
        ),
      },
    )
