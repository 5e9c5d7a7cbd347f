import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { BehindEnd, Media } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import * as made from '../media-files/media-files.ts'
import { keyOperation, publicOperation } from '../operation.ts'
import { mediaErrors } from '../paid/media.ts'
import { generateImages } from './images.ts'
import * as schemas from './schemas.ts'

const Picture = Media('image/*')

/** Pictures (document 2, POST /v1/images/generations), and where they are seen. */
export const imageRoutes = (ctx: AppContext) =>
  new Elysia().use(newImages(ctx)).use(keptImages(ctx))

const newImages = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/images/generations',
    ({ spender, body, request }) => generateImages(ctx, spender, body, callOf(request)),
    keyOperation(
      {
        id: 'create_images',
        tag: 'Media',
        summary: 'Make pictures of a prompt.',
        more: 'Paid for each picture that comes: cost tells it, in USD. Links work for 24 hours.',
        takes: { 'application/json': { schema: schemas.imagesRequestSchema } },
      },
      { 200: Type.Unsafe<Response>(schemas.ImagesSchema) },
      mediaErrors,
    ),
  )

const keptImages = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).get(
    '/images/:id',
    async ({ params, query }) => {
      const picture = await made.findSigned(ctx, params.id, query)
      if (picture) return made.toResponse(picture)
      throw new ApiError('not_found', { what: 'picture: its address works for 24 hours' })
    },
    {
      query: schemas.SignedUrlQuerySchema,
      ...publicOperation(
        { id: 'get_image', tag: 'Media', summary: 'A picture, by its signed address.' },
        { 200: Picture, 206: Picture, 416: BehindEnd },
        ['not_found'],
      ),
    },
  )
