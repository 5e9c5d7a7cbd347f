import { Type } from '@sinclair/typebox'

import { ApiError } from '../../kernel/errors.ts'
import { mediaSchema, RangeNotSatisfiableSchema } from '../../kernel/schema.ts'
import { anyone, key } from '../authentication.ts'
import { callOf, requestOf, unread } from '../call.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { mediaErrors, operation } from '../operation.ts'
import { changeImages } from './edits.ts'
import { generateImages } from './images.ts'
import * as schemas from './schemas.ts'

const ImageSchema = mediaSchema('image/*')
const imagesOrEvents = Type.Union([
  schemas.ImagesSchema,
  mediaSchema('text/event-stream', { description: 'With `stream`: an event for each image.' }),
])

const createImages = operation({
  id: 'create_images',
  route: 'POST /images/generations',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Generate images from a prompt.',
  description: 'Charged per returned image; cost is in USD. URLs are valid for 24 hours.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.imagesRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(imagesOrEvents) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    generateImages(ctx, spender, body, callOf(call)),
})

const editImages = operation({
  id: 'edit_images',
  route: 'POST /images/edits',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Edit images by a prompt.',
  description: 'Charged like generated images. The images have at most 32 MB together.',
  access: key,
  input: {
    read: requestOf,
    bodies: { 'multipart/form-data': { schema: schemas.editRequestSchema } },
  },
  output: { 200: Type.Unsafe<Response>(imagesOrEvents) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    changeImages(ctx, spender, '/images/edits', unread(body), callOf(call)),
})

const varyImage = operation({
  id: 'vary_image',
  route: 'POST /images/variations',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Create variations of an image.',
  description: 'Charged like generated images.',
  access: key,
  input: {
    read: requestOf,
    bodies: { 'multipart/form-data': { schema: schemas.variationRequestSchema } },
  },
  output: { 200: Type.Unsafe<Response>(imagesOrEvents) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    changeImages(ctx, spender, '/images/variations', unread(body), callOf(call)),
})

const getImage = operation({
  id: 'get_image',
  route: 'GET /images/:id',
  tag: 'Media',
  summary: 'Get an image by its signed URL.',
  access: anyone,
  input: { query: schemas.SignedUrlQuerySchema },
  output: { 200: ImageSchema, 206: ImageSchema, 416: RangeNotSatisfiableSchema },
  errors: ['not_found'],
  async run(ctx, { params, query }) {
    const image = await mediaFiles.findSigned(ctx, params.id, query)
    if (image) return mediaFiles.toResponse(image)
    throw new ApiError('not_found', {
      what: 'image',
      see: 'Its URL is valid for 24 hours. Create the image again.',
    })
  },
})

/** Routes of images (document 2, POST /v1/images/generations) and of their signed URLs. */
export const imageOperations = [createImages, editImages, varyImage, getImage]
